"""A lock on a file: one writer at a time, given up when the writer dies."""

import fcntl
import os
from pathlib import Path

from thalweg.errors import StorageError
from thalweg.persistence.file_kinds import special_file_kind


class FileLock:
    """Holds the lock on the file ``<path>.lock`` until it is released.

    ``flock`` belongs to the open file, so that a process killed in any way gives it
    up, and a second holder in the same process is refused too. The lock file stays:
    were it removed, two processes could each hold a lock on a file of that name.
    """

    def __init__(self, path: Path) -> None:
        lock_path = path.with_name(path.name + ".lock")
        _require_lock_file(lock_path)
        try:
            self._file = os.open(
                lock_path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666
            )
        except OSError as error:
            raise StorageError(f"{path} cannot be opened: {error.strerror}.") from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(self._file, 20).decode("ascii", "replace") or "unknown"
            os.close(self._file)
            raise StorageError(
                f"{path} is open for writing in process {holder}. A file has one "
                "writer at a time: close the other, or use another file."
            ) from None
        except OSError as error:
            os.close(self._file)
            raise StorageError(f"{path} cannot be locked: {error.strerror}.") from error
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, str(os.getpid()).encode(), 0)

    def release(self) -> None:
        """Give the lock up."""
        os.close(self._file)


def _require_lock_file(path: Path) -> None:
    """Raise if the path is taken by anything but a file: a lock is written into it."""
    kind = special_file_kind(path) or ("a link" if path.is_symlink() else None)
    if kind is not None:
        raise StorageError(
            f"{path} is {kind}, and a lock needs a regular file of this name. Remove "
            f"it, or use another path."
        )
