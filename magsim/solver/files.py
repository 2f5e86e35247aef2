"""Solutions on disk: which folders there are, what is in them, and whether it is whole.

A *part* is what one layer adds to a file. A folder's manifest lists its parts with the SHA-256 of
their bytes and is replaced, whole, after each of them; what it does not list is not there, and is
written anew. There are two kinds of folder, of classes from the most empty cells downwards, and of
values, which are made from the full board upwards and lie in the order of their classes::

    classes-1a2b3c4d/   manifest.json  keys.bin  starts.bin     (``classes.Classes``)
    values-5e6f7a8b/    manifest.json  values.bin               int32 [class, level]
                                       limits.bin               (``limits.Limits``)

Classes depend on few of the rules, so that difficulties share them.
"""

import contextlib
import fcntl
import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import UnionType
from typing import Any

import numpy as np
import platformdirs
from numpy.typing import NDArray

from magsim.board import CELLS
from magsim.errors import MagsimError

FORMAT = 1
_MANIFEST = "manifest.json"
_LOCK = "lock"
_BLOCK = 2**24
_KINDS: dict[str, dict[str, type | UnionType]] = {
    "classes": {"max_difference": int, "bonuses": list, "most_empty": int | None},
    "values": {"rules": dict, "levels": list, "most_empty": int, "classes": str},
}
"""What a manifest says, apart from format and kind."""


def root() -> Path:
    """Where solutions are kept: ``MAGSIM_SOLUTIONS``, or a folder of the user's cache."""
    chosen = os.environ.get("MAGSIM_SOLUTIONS")
    return Path(chosen) if chosen else platformdirs.user_cache_path("magsim") / "solutions"


def digest(description: dict[str, Any]) -> str:
    """Eight hex digits that stand for a description."""
    return hashlib.sha256(json.dumps(description, sort_keys=True).encode()).hexdigest()[:8]


@dataclass(frozen=True)
class Folder:
    """A folder of a solution, with what its manifest says."""

    path: Path
    description: dict[str, Any]
    """What it is of; a folder of that name with another description is refused."""
    parts: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By layer, in the order in which they were made: what was noted, and ``sha256`` by file."""

    def write(self, name: str, first: int, rows: NDArray[Any], notes: dict[str, Any]) -> None:
        """Write the part of a layer into a file, from row ``first`` on, and note its checksum.

        It counts once it is listed, with the notes.

        Raises:
            MagsimError: if it cannot be written.
        """
        path = self.path / name
        with _told(path, "written"), path.open("r+b" if path.exists() else "w+b") as file:
            file.seek(first * rows[:1].nbytes)
            rows.tofile(file)
            file.flush()
            os.fsync(file.fileno())
        notes.setdefault("sha256", {})[name] = checksum(rows)

    def list_part(self, layer: str, notes: dict[str, Any]) -> None:
        """From now on the part of a layer is there.

        Raises:
            MagsimError: if the manifest cannot be written.
        """
        self.parts[layer] = notes
        text = json.dumps({**self.description, "layers": self.parts}, separators=(",", ":"))
        temporary = self.path / f".{_MANIFEST}.tmp"
        with _told(self.path / _MANIFEST, "written"):
            with temporary.open("w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(self.path / _MANIFEST)

    def read(
        self, name: str, layer: str, first: int, shape: tuple[int, ...], dtype: type[Any]
    ) -> NDArray[Any]:
        """The part of a layer, from row ``first`` of a file on, checked.

        Raises:
            MagsimError: if its bytes are not those that were written.
        """
        row = int(np.prod(shape[1:])) * np.dtype(dtype).itemsize
        path = self.path / name
        with self._reading(path), path.open("rb") as file:
            if path.stat().st_size < (first + shape[0]) * row:
                raise self._damaged(name, layer)
            rows = np.empty(shape, dtype)
            file.seek(first * row)
            file.readinto(rows.data.cast("B"))
        if checksum(rows) != self.parts[layer]["sha256"].get(name):
            raise self._damaged(name, layer)
        return rows

    def check(self, name: str, layer: str, first: int, length: int) -> None:
        """See to it that so many bytes of a file, from ``first`` on, are those of a layer.

        Raises:
            MagsimError: if they are not.
        """
        digest = hashlib.sha256()
        path = self.path / name
        with self._reading(path), path.open("rb") as file:
            file.seek(first)
            for begin in range(0, length, _BLOCK):
                digest.update(file.read(min(_BLOCK, length - begin)))
        if digest.hexdigest() != self.parts[layer]["sha256"].get(name):
            raise self._damaged(name, layer)

    def check_size(self, name: str, wanted: int) -> None:
        """See to it that a file has so many bytes.

        Raises:
            MagsimError: if it has not.
        """
        path = self.path / name
        with self._reading(path):
            found = path.stat().st_size
        if found != wanted:
            raise MagsimError(
                f"{path} is damaged: it holds {found:,} bytes, not {wanted:,}; {self._way_out}"
            )

    @property
    def _way_out(self) -> str:
        return f"remove {self.path}, and 'magsim solve' makes it again"

    @contextlib.contextmanager
    def _reading(self, path: Path) -> Iterator[None]:
        """What the system has against reading a file in the body is told in a sentence."""
        try:
            yield
        except OSError as error:
            raise MagsimError(
                f"{path} cannot be read: {error.strerror or error}; {self._way_out}"
            ) from error

    def _damaged(self, name: str, layer: str) -> MagsimError:
        return MagsimError(
            f"{self.path / name} is damaged: its bytes for {layer} empty cells are not those that "
            f"were written; {self._way_out}"
        )

    def mapped(self, name: str, shape: tuple[int, ...], dtype: type[Any]) -> NDArray[Any]:
        """A whole file as memory that all processes share, and that cannot change the file.

        Raises:
            MagsimError: if it cannot be read or is of another size.
        """
        path = self.path / name
        self.check_size(name, int(np.prod(shape)) * np.dtype(dtype).itemsize)
        with self._reading(path):
            # Writable as far as kernels can tell, which were compiled for such arrays.
            return np.asarray(np.memmap(path, dtype, "c", shape=shape))

    @property
    def fingerprint(self) -> str:
        """Sixteen hex digits that stand for all its bytes."""
        sums = {layer: notes["sha256"] for layer, notes in self.parts.items()}
        return hashlib.sha256(json.dumps([self.description, sums]).encode()).hexdigest()[:16]


def checksum(rows: NDArray[Any]) -> str:
    """SHA-256 of the bytes of an array."""
    return hashlib.sha256(np.ascontiguousarray(rows).data).hexdigest()


@contextlib.contextmanager
def _told(path: Path, done: str) -> Iterator[None]:
    """What the system has against the body is told in a sentence; ``done`` as in "be read"."""
    try:
        yield
    except OSError as error:
        raise MagsimError(f"{path} cannot be {done}: {error.strerror or error}") from error


def _are_sizes(masks: object) -> bool:
    """Whether this says how many classes the masks of a layer have."""
    return isinstance(masks, list) and all(
        isinstance(entry, list)
        and len(entry) == 2
        and all(isinstance(number, int) for number in entry)
        and 0 <= entry[0] < 1 << CELLS
        and 0 < entry[1] < 2**32
        for entry in masks or [None]
    )


def _are_costs(level: object) -> bool:
    """Whether this says what Powers cost."""
    return isinstance(level, list) and all(isinstance(cost, int) for cost in level)


def _is_description(table: dict[str, Any]) -> bool:
    """Whether a manifest, its layers apart, is that of a solution."""
    wanted = next((keys for kind, keys in _KINDS.items() if kind == table.get("kind")), None)
    return (
        wanted is not None
        and table.keys() == {"format", "kind", *wanted}
        and all(isinstance(table[key], kind) for key, kind in wanted.items())
        and all(_are_costs(level) for level in table.get("levels", []))
        and 0 <= (table["most_empty"] or 0) <= CELLS
    )


def _are_parts(table: dict[str, Any], parts: dict[str, Any]) -> bool:
    """Whether the layers that a manifest lists can be those that were made first."""
    top = CELLS if table["most_empty"] is None else table["most_empty"]
    classes = table["kind"] == "classes"
    made = range(top, -1, -1) if classes else range(top + 1)
    return [*parts] == [str(layer) for layer in made][: len(parts)] and all(
        isinstance(notes, dict)
        and isinstance(notes.get("sha256"), dict)
        and (not classes or _are_sizes(notes.get("masks")))
        for notes in parts.values()
    )


def read_folder(path: Path) -> Folder | None:
    """The folder of a solution as its manifest has it, None where there is none.

    Raises:
        MagsimError: if the manifest cannot be read, or is of another format.
    """
    file = path / _MANIFEST
    strange = MagsimError(f"{file} is no manifest of a solution; remove {path}")
    try:
        with _told(file, "read"):
            if not file.exists():
                return None
            table = json.loads(file.read_text(encoding="utf-8"))
        parts = table.pop("layers")
        found = table["format"]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise strange from None
    if found != FORMAT:
        raise MagsimError(
            f"{file}: its format is {found!r}, this version reads {FORMAT}; remove {path}"
        )
    if not (isinstance(parts, dict) and _is_description(table) and _are_parts(table, parts)):
        raise strange
    return Folder(path, table, parts)


def open_folder(path: Path, description: dict[str, Any]) -> Folder:
    """The folder of a description, made if need be.

    Raises:
        MagsimError: if it cannot be made or read, or something else has its name.
    """
    description = {"format": FORMAT, **description}
    found = read_folder(path)
    if found is not None:
        if found.description != description:
            raise MagsimError(f"{path} is a solution of other rules; remove it")
        return found
    with _told(path, "made"):
        path.mkdir(parents=True, exist_ok=True)
    return Folder(path, description)


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep a folder, made if need be, for oneself while the body runs.

    Raises:
        MagsimError: if another process has it, or it cannot be written.
    """
    with contextlib.ExitStack() as stack:
        with _told(path, "written"):
            path.mkdir(parents=True, exist_ok=True)
            file = stack.enter_context((path / _LOCK).open("w"))
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise MagsimError(f"another 'magsim solve' is at work in {path}") from None
        except OSError as error:
            raise MagsimError(
                f"{path / _LOCK} cannot be locked ({error.strerror or error}); MAGSIM_SOLUTIONS "
                "names another folder"
            ) from error
        yield
