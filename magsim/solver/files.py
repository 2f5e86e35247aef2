"""Solutions on disk: which folders there are, what is in them, and whether it is whole.

A *part* is what one layer adds to a file. A folder's manifest lists its parts with the SHA-256 of
their bytes and is replaced, whole, after each of them; what it does not list is not there, and is
written anew. There are two kinds of folder::

    classes-1a2b3c4d/   manifest.json  keys.bin  starts.bin     (``classes.Classes``)
    values-5e6f7a8b/    manifest.json  values.bin               int32 [class, level]

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
from typing import Any

import numpy as np
import platformdirs
from numpy.typing import NDArray

from magsim.errors import MagsimError

FORMAT = 1
_MANIFEST = "manifest.json"
_LOCK = "lock"


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
    """By layer, in the order of the files: what was noted of it, and ``sha256`` by file."""

    def write(self, name: str, first: int, rows: NDArray[Any], notes: dict[str, Any]) -> None:
        """Write the part of a layer into a file from element row ``first`` on.

        It counts once it is ``listed``.

        Raises:
            MagsimError: if it cannot be written.
        """
        try:
            with (self.path / name).open("r+b" if (self.path / name).exists() else "w+b") as file:
                file.seek(first * rows[:1].nbytes)
                rows.tofile(file)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise MagsimError(
                f"{self.path / name} cannot be written: {error.strerror or error}"
            ) from error
        notes.setdefault("sha256", {})[name] = checksum(rows)

    def list_part(self, layer: str, notes: dict[str, Any]) -> None:
        """From now on the part of a layer is there.

        Raises:
            MagsimError: if the manifest cannot be written.
        """
        self.parts[layer] = notes
        text = json.dumps({**self.description, "layers": self.parts}, separators=(",", ":"))
        temporary = self.path / f".{_MANIFEST}.tmp"
        try:
            with temporary.open("w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(self.path / _MANIFEST)
        except OSError as error:
            raise MagsimError(
                f"{self.path / _MANIFEST} cannot be written: {error.strerror or error}"
            ) from error

    def read(
        self, name: str, layer: str, first: int, shape: tuple[int, ...], dtype: type[Any]
    ) -> NDArray[Any]:
        """The part of a layer, checked.

        Raises:
            MagsimError: if its bytes are not those that were written.
        """
        count = int(np.prod(shape))
        offset = first * (count // shape[0] if shape[0] else 0) * np.dtype(dtype).itemsize
        try:
            rows = np.fromfile(self.path / name, dtype, count, offset=offset)
        except OSError as error:
            raise MagsimError(
                f"{self.path / name} cannot be read: {error.strerror or error}"
            ) from error
        if len(rows) != count or checksum(rows) != self.parts[layer]["sha256"][name]:
            raise MagsimError(
                f"{self.path / name} is damaged: its bytes for {layer} empty cells are not those "
                f"that were written; remove {self.path}, and 'magsim solve' makes it again"
            )
        return rows.reshape(shape)

    def mapped(self, name: str, shape: tuple[int, ...], dtype: type[Any]) -> NDArray[Any]:
        """A whole file as memory that all processes share, and that cannot change the file.

        Raises:
            MagsimError: if it cannot be read or is of another size.
        """
        path = self.path / name
        wanted = int(np.prod(shape)) * np.dtype(dtype).itemsize
        try:
            if path.stat().st_size != wanted:
                raise MagsimError(
                    f"{path} is damaged: it holds {path.stat().st_size:,} bytes, not {wanted:,}; "
                    f"remove {self.path}, and 'magsim solve' makes it again"
                )
            # Writable as far as kernels can tell, which were compiled for such arrays.
            return np.asarray(np.memmap(path, dtype, "c", shape=shape))
        except OSError as error:
            raise MagsimError(f"{path} cannot be read: {error.strerror or error}") from error

    @property
    def fingerprint(self) -> str:
        """Sixteen hex digits that stand for all its bytes."""
        sums = {layer: notes["sha256"] for layer, notes in self.parts.items()}
        return hashlib.sha256(json.dumps([self.description, sums]).encode()).hexdigest()[:16]


def checksum(rows: NDArray[Any]) -> str:
    """SHA-256 of the bytes of an array."""
    return hashlib.sha256(np.ascontiguousarray(rows).data).hexdigest()


def read_folder(path: Path) -> Folder | None:
    """The folder of a solution as its manifest has it, None where there is none.

    Raises:
        MagsimError: if the manifest cannot be read, or is of another format.
    """
    file = path / _MANIFEST
    try:
        table = json.loads(file.read_text(encoding="utf-8"))
        parts = dict(table.pop("layers"))
        found = table["format"]
    except FileNotFoundError:
        return None
    except OSError as error:
        raise MagsimError(f"{file} cannot be read: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise MagsimError(f"{file} is no manifest of a solution; remove {path}") from error
    if found != FORMAT:
        raise MagsimError(
            f"{file}: its format is {found!r}, this version reads {FORMAT}; remove {path}"
        )
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
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MagsimError(
            f"folder {path} cannot be made: {error.strerror or error}"
        ) from error
    return Folder(path, description)


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep a folder for oneself while the body runs.

    Raises:
        MagsimError: if another process has it.
    """
    path.mkdir(parents=True, exist_ok=True)
    with (path / _LOCK).open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise MagsimError(f"another 'magsim solve' is at work in {path}") from None
        yield
