"""A lock on a file: one writer at a time, given up when the writer dies."""

import fcntl
import os
import weakref
from contextlib import suppress
from pathlib import Path

from thalweg.errors import StorageError
from thalweg.persistence.file_kinds import special_file_kind


class FileLock:
    """Holds the lock on the file ``<path>.lock`` until it is released.

    ``flock`` belongs to the open file, so that a process killed in any way gives it
    up, and a second holder in the same process is refused too. So does a process that
    drops the object. A forked child closes its copy, which would hold the lock for as
    long as the child lives. The lock file stays: were it removed, two processes could
    each hold a lock on a file of that name. Who may not write the file may not lock it
    either.
    """

    def __init__(self, path: Path) -> None:
        lock_path = path.with_name(path.name + ".lock")
        try:
            _require_lock_file(lock_path)
            file = os.open(lock_path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
            _let_writers_lock(path, file)
        except StorageError:
            raise
        except OSError as error:
            raise StorageError(f"{path} cannot be opened: {error.strerror}.") from error
        self._close = weakref.finalize(self, _unlock, file)  # also when it is dropped
        self._close.atexit = False  # The end of the process releases it as well.
        _LOCKS.add(self)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(file, 0)
            os.pwrite(file, str(os.getpid()).encode(), 0)
        except BlockingIOError:
            holder = os.read(file, 20).decode("ascii", "replace") or "unknown"
            self.close_copy()
            raise StorageError(
                f"{path} is open for writing in process {holder}. A file has one "
                "writer at a time: close the other, or use another file."
            ) from None
        except OSError as error:
            self.release()
            raise StorageError(f"{path} cannot be locked: {error.strerror}.") from error

    def release(self) -> None:
        """Give the lock up, unless that was done."""
        self._close()

    def close_copy(self) -> None:
        """Close the file without releasing the lock, which another process has."""
        closing = self._close.detach()
        if closing is not None:
            os.close(closing[2][0])


_LOCKS: weakref.WeakSet[FileLock] = weakref.WeakSet()
"""All locks of this process."""


def _unlock(file: int) -> None:
    with suppress(OSError):
        fcntl.flock(file, fcntl.LOCK_UN)
    os.close(file)


def _close_copies_after_fork() -> None:
    for lock in list(_LOCKS):
        lock.close_copy()


os.register_at_fork(after_in_child=_close_copies_after_fork)


def _let_writers_lock(path: Path, file: int) -> None:
    """Open the lock to those who may write the file at ``path``, if it is there."""
    with suppress(OSError):  # of another owner's lock the rights stay
        mode = path.stat().st_mode & 0o777
        classes = [mode >> shift & 0o7 for shift in (6, 3, 0)]
        rights = [0o6 if bits & 0o2 else 0 for bits in classes]
        os.fchmod(file, rights[0] << 6 | rights[1] << 3 | rights[2] | 0o600)


def _require_lock_file(path: Path) -> None:
    """Raise if the path is taken by anything but a file: a lock is written into it."""
    kind = special_file_kind(path) or ("a link" if path.is_symlink() else None)
    if kind is not None:
        raise StorageError(
            f"{path} is {kind}, and a lock needs a regular file of this name. Remove "
            f"it, or use another path."
        )
