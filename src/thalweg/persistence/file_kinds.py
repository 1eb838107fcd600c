"""What a path leads to: only a regular file is ever replaced, or read as a model.

A file that is saved is renamed over the old one, which would replace a device (as root
``/dev/null``), a named pipe or a socket as well. To read a device may have no end.
"""

import errno
import os
import stat
from pathlib import Path

from thalweg.errors import StorageError

FILE_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a character device",
    stat.S_IFBLK: "a block device",
}
"""What a file may be other than a regular one."""
REPLACEMENT_RULE = "and only a regular file is replaced"
READING_RULE = "and only a regular file is read"


def special_file_kind(path: Path) -> str | None:
    """What ``path`` leads to, if that exists and is no regular file; otherwise None.

    Raises OSError where that cannot be known.
    """
    try:
        kind = stat.S_IFMT(os.stat(path).st_mode)
    except (FileNotFoundError, NotADirectoryError):  # there is nothing to replace
        return None
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        return "a link to itself"
    return None if kind == stat.S_IFREG else FILE_KINDS.get(kind, "no regular file")


def require_regular_file(
    path: Path, failure: str, rule: str = REPLACEMENT_RULE
) -> None:
    """Raise unless ``path`` is a regular file, leads to one, or is not there yet.

    ``failure`` is what the message says of the path: ``"was not saved"``.
    """
    try:
        kind = special_file_kind(path)
    except OSError as error:
        raise StorageError(f"{path} {failure}: {error.strerror}.") from error
    if kind is not None:
        raise StorageError(
            f"{path} {failure}: it is {kind}, {rule}. Give another path."
        )
