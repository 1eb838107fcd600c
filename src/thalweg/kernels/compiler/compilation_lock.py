"""Processes that start together compile a kernel once: one does, the others wait.

Numba's cache on disk has no lock. Two workers of joblib, Spark or pytest that begin on
a new machine would each compile the same kernels at the same time, which takes each of
them up to half a minute of a processor. Here a process locks one byte of a file beside
the cache while it compiles; the kernel's name determines which byte (POSIX record
locks, which end with their process). Where such locks are missing, as on Windows or in
a folder that cannot be written, every process compiles for itself.
"""

import os
import time
from contextlib import suppress
from pathlib import Path
from zlib import crc32

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

MAX_WAIT_S = 120.0
"""Seconds that a process waits for another one; then it compiles for itself."""
POLL_S = 0.05
FILE_NAME = "thalweg.lock"
_open_files: dict[tuple[int, str], int] = {}
"""The one open descriptor of each folder's lock file, by process and folder. Closing
another descriptor of the same file would end all of the process's locks."""


def lock_kernel(folder: str, name: str) -> None:
    """Wait until no other process compiles this kernel, then keep others waiting."""
    if fcntl is None:
        return
    try:
        file = _open_file(folder)
    except OSError:
        return
    deadline = time.monotonic() + MAX_WAIT_S
    while time.monotonic() < deadline:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _byte_of(name))
            return
        except (BlockingIOError, PermissionError):  # another process has it
            time.sleep(POLL_S)
        except OSError:  # a file system without locks
            return


def unlock_kernel(folder: str, name: str) -> None:
    """Let other processes go on, which find the kernel in the cache."""
    file = _open_files.get((os.getpid(), folder))
    if file is not None:
        with suppress(OSError):
            fcntl.lockf(file, fcntl.LOCK_UN, 1, _byte_of(name))


def _byte_of(name: str) -> int:
    return crc32(name.encode()) >> 1


def _open_file(folder: str) -> int:
    own = (os.getpid(), folder)  # a child of a fork has no locks of its parent's
    if own not in _open_files:
        path = Path(folder, FILE_NAME)
        path.parent.mkdir(parents=True, exist_ok=True)
        _open_files[own] = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    return _open_files[own]
