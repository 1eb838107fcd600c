"""Where compiled kernels are kept, if nowhere else is writable."""

import os
import tempfile
from pathlib import Path

from numba import config


def place_cache() -> None:
    """Give the compiler a folder of this process's own where it would find none.

    It looks beside the code, then in the user's cache. Where neither can be written, as
    in a hardened container, it would refuse to compile at all. NUMBA_CACHE_DIR names a
    better place: this one is gone with the process.
    """
    beside = Path(__file__).parent
    users = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    if not (config.CACHE_DIR or _writable(beside) or _writable(users)):
        config.CACHE_DIR = tempfile.mkdtemp(prefix="thalweg-")


def _writable(folder: Path) -> bool:
    while not folder.exists():  # it would be made
        folder = folder.parent
    return os.access(folder, os.W_OK)
