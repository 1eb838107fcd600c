"""Models in files, written so that a crash leaves the old file or the new one."""

import os
import secrets
from contextlib import suppress
from pathlib import Path

from thalweg.errors import StorageError
from thalweg.persistence.file_kinds import READING_RULE, require_regular_file
from thalweg.persistence.format import (
    START,
    SavedModel,
    dumps,
    loads,
    require_length,
)


def save(path: str | os.PathLike[str], saved: SavedModel) -> None:
    """Write the model to ``path``. Where that fails, the old file is left as it was.

    A link stays, and what it leads to is written. A folder, a device, a named pipe or a
    socket is refused: only a regular file is replaced.
    """
    require_regular_file(Path(path), "was not saved")
    write(Path(path), dumps(saved))


def load(path: str | os.PathLike[str]) -> SavedModel:
    """The model in the file at ``path``; from there it continues bit by bit as before.

    A file that was cut, changed or made up is a ``PersistenceError``, and one that
    cannot be read, or is a folder, a device or a pipe, a ``StorageError``. Nothing in
    it is executed, and of a file that is no model only the start is read.
    """
    require_regular_file(Path(path), "cannot be loaded", READING_RULE)
    try:
        with Path(path).open("rb") as file:
            start = file.read(START.size)
            require_length(start, os.fstat(file.fileno()).st_size, str(path))
            data = start + file.read()
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error.strerror}.") from error
    return loads(data, str(path))


def write(path: Path, data: bytes) -> None:
    """Replace the file at ``path`` by ``data``, in one step that lasts."""
    require_regular_file(path, "was not saved")
    try:
        target = _resolve_links(path)
        _replace(target, data)
    except OSError as error:
        raise StorageError(
            f"{path} was not saved: {error.strerror}. It is as it was before."
        ) from error
    try:
        _sync_folder(target.parent)
    except OSError as error:
        raise StorageError(
            f"{path} was saved, but a loss of power may undo it: {error.strerror}."
        ) from error


def _resolve_links(path: Path) -> Path:
    """What ``path`` leads to: a link stays, and what it leads to is replaced."""
    try:
        # Strict: a link that cannot be read must not be taken for a file.
        return Path(os.path.realpath(path, strict=True))
    except FileNotFoundError:
        return Path(os.path.realpath(path))


def _replace(target: Path, data: bytes) -> None:
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}.tmp")
    file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        try:
            _fill(file, target, data)
        finally:
            os.close(file)
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _fill(file: int, target: Path, data: bytes) -> None:
    """Write ``data`` to an open file, on the disk, with the permissions of the old."""
    with suppress(FileNotFoundError):
        os.fchmod(file, os.stat(target).st_mode & 0o777)
    remaining = memoryview(data)
    while remaining:  # a disk that is nearly full takes a part
        remaining = remaining[os.write(file, remaining) :]
    os.fsync(file)


def _sync_folder(folder: Path) -> None:
    # The new name is an entry of the folder, which has to reach the disk as well.
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
