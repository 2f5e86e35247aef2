"""Small files in the user's data folder, written whole or not at all."""

import contextlib
import os
from pathlib import Path

import platformdirs

from magsim.errors import MagsimError


def data_folder() -> Path:
    """Where this user's games and scores are kept."""
    return platformdirs.user_data_path("magsim")


def write_whole(path: Path, text: str) -> None:
    """Put a file in its place with this content, on disk when this returns; one writer at a time.

    Raises:
        MagsimError: if it cannot be written; what was there before is still there.
    """
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with temporary.open("w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
            _sync_folder(path.parent)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise MagsimError(f"{path} cannot be written: {error.strerror or error}") from error


def _sync_folder(folder: Path) -> None:
    """See to it that a renamed file is still there after a power cut, where folders allow that."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # the file itself is in its place
            os.fsync(opened)
    finally:
        os.close(opened)


def listed(folder: Path) -> list[Path]:
    """The JSON files directly in a folder, by name; none if there is no such folder.

    Raises:
        MagsimError: if it cannot be read.
    """
    try:
        names = sorted(os.listdir(folder))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise MagsimError(f"{folder} cannot be read: {error.strerror or error}") from error
    return [folder / name for name in names if name.endswith(".json") and name[0] != "."]
