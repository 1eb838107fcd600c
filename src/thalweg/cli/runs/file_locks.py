"""Files that are one run's alone, from its first write until it ends."""

import os
import sys
from pathlib import Path
from typing import Self

from thalweg.cli.runs.storage import make_folder
from thalweg.errors import StorageError

if sys.platform != "win32":
    from thalweg.persistence.lock import FileLock


class Claims:
    """Locks beside the files that a run writes; the system drops those of the dead.

    Unlike those of databases, lock files are removed at the end: a run leaves no more
    than it says. Whoever has just locked a file looks whether it is still there.
    """

    def __init__(self) -> None:
        self._locks: dict[Path, FileLock] = {}

    def take(self, path: Path) -> None:
        """Have the file for this run alone, or say who has it."""
        if sys.platform == "win32":  # which has no flock: there no one is kept out
            return
        place = path.absolute()
        if place not in self._locks:
            make_folder(path.parent)
            self._locks[place] = _locked(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for place, lock in self._locks.items():
            _beside(place).unlink(missing_ok=True)
            lock.release()


def _locked(path: Path) -> FileLock:
    while True:
        try:
            lock = FileLock(path)
        except StorageError as error:
            if not isinstance(error.__context__, BlockingIOError):
                raise
            raise StorageError(
                f"Another run, process {_holder(path)}, writes {path.name} in the "
                f"folder {path.parent}. Wait until it ends, or write elsewhere: --out, "
                f"--predictions or --model."
            ) from None
        if _holder(path) == str(os.getpid()):
            return lock
        lock.release()  # its holder before removed it, after we had opened it


def _holder(path: Path) -> str:
    try:
        return _beside(path).read_text("ascii")
    except OSError:
        return ""


def _beside(path: Path) -> Path:
    """Where ``FileLock`` has its file."""
    return path.with_name(f"{path.name}.lock")
