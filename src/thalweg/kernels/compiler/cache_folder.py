"""The folders of compiled kernels: one to write to, and those to read.

Written is the first that this user can write to, and others cannot: the one named by
NUMBA_CACHE_DIR or, where none is named, that beside the code; the user's cache; the
temporary folder. Where all of these are read-only or open to others, every process
compiles for itself: kernels are loaded from the folder, so anybody who can write to it
can run code here. The first is read even where this user cannot write to it, as in an
image that an administrator made.
"""

import contextlib
import functools
import os
import stat
import tempfile
from pathlib import Path

from numba import config
from numba.misc.appdirs import AppDirs

FOLDER_NAME = "thalweg"


@functools.cache
def writable_folder() -> Path | None:
    """The folder to which this process writes; None if there is none that is safe."""
    folder = _first_folder()
    if _is_writable(folder, mode=0o777):
        return folder
    folder = Path(AppDirs(FOLDER_NAME, appauthor=False).user_cache_dir)
    # A relative one would be another in each working directory.
    is_usable = folder.is_absolute() and _is_writable(folder, mode=0o700)
    if is_usable and _belongs_to_us(folder, shared_bits=0o022):
        return folder
    return _temporary_folder()


def readable_folders() -> list[Path]:
    """The folders from which this process loads kernels, in the order of search."""
    folders = dict.fromkeys((writable_folder(), _first_folder()))
    return [folder for folder in folders if folder is not None]


def _first_folder() -> Path:
    """The folder that is as safe as the code: the user named it, or it is beside it."""
    beside = Path(__file__).parents[1] / "__pycache__"
    return Path(config.CACHE_DIR or beside, FOLDER_NAME)


def _is_writable(folder: Path, mode: int) -> bool:
    """Whether files can be written there; the folder is created."""
    try:
        folder.mkdir(mode, parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


def _temporary_folder() -> Path | None:
    """A temporary folder that only this user can write to; None if there is none."""
    own = os.geteuid() if hasattr(os, "geteuid") else 0
    try:
        folder = Path(tempfile.gettempdir()) / f"{FOLDER_NAME}-{own}"
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
    except OSError:
        return None
    is_safe = _belongs_to_us(folder, shared_bits=0o077) and _is_writable(folder, 0o700)
    return folder if is_safe else None


def _belongs_to_us(folder: Path, shared_bits: int) -> bool:
    """Whether a folder is this user's, and gives others none of these rights."""
    try:
        status = folder.lstat()
    except OSError:
        return False
    own = os.geteuid() if hasattr(os, "geteuid") else 0
    is_own = stat.S_ISDIR(status.st_mode) and status.st_uid == own
    return is_own and (os.name == "nt" or not status.st_mode & shared_bits)
