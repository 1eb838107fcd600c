"""Locks of the files that a run writes, from its first write until it ends."""

import os
import sys
from pathlib import Path
from typing import Self

from thalweg.errors import StorageError
from thalweg.runs.storage import make_folder

if sys.platform != "win32":
    from thalweg.persistence.lock import FileLock


class FileLocks:
    """Lock files next to the files that a run writes.

    The system releases the locks of a process that was killed. Unlike those of
    databases, lock files are removed at the end, so that a run leaves no files but
    those that it names. Whoever has just locked a file checks that it still exists.
    """

    def __init__(self) -> None:
        self._locks: dict[Path, FileLock] = {}

    def acquire(self, path: Path) -> None:
        """Lock a file for this run, or raise ``StorageError`` that names its holder."""
        if sys.platform == "win32":  # It has no flock, and so no locks.
            return
        absolute = path.absolute()
        if absolute not in self._locks:
            make_folder(path.parent)
            self._locks[absolute] = _acquire(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for path, lock in self._locks.items():
            _lock_file(path).unlink(missing_ok=True)
            lock.release()


def _acquire(path: Path) -> FileLock:
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
        lock.release()  # Its last holder removed it after we had opened it.


def _holder(path: Path) -> str:
    try:
        return _lock_file(path).read_text("ascii")
    except OSError:
        return ""


def _lock_file(path: Path) -> Path:
    """The file that ``FileLock`` makes for ``path``."""
    return path.with_name(f"{path.name}.lock")
