"""Paths that exist and are no regular files, each made in a folder of a test."""

import os
import socket
import stat

import pytest

KINDS = {
    "fifo": "a named pipe",
    "socket": "a socket",
    "device": "a character device",
    "folder": "a folder",
    "link to a fifo": "a named pipe",
    "link to itself": "a link to itself",
}
"""What is made, and what messages call it."""


def make_special_file(folder, kind, name="special"):
    """The path of a file of this kind, which is in the folder now."""
    path = folder / name
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(path))
    elif kind == "device":
        try:
            os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))  # as /dev/null
        except PermissionError:
            pytest.skip("only root can make a device file")
    elif kind == "folder":
        path.mkdir()
    elif kind == "link to a fifo":
        os.mkfifo(folder / "target")
        path.symlink_to("target")
    else:
        path.symlink_to(name)
    return path


def identity(path):
    """What stays the same of a path for as long as nothing replaces it."""
    status = os.lstat(path)
    return status.st_ino, status.st_mode, status.st_rdev
