"""Models in files, written so that a crash leaves the old file or the new one."""

import os
import secrets
from contextlib import suppress
from pathlib import Path

from thalweg.errors import StorageError
from thalweg.persistence.file_kinds import require_regular_file
from thalweg.persistence.format import SavedModel, dumps, loads


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
    cannot be read a ``StorageError``. Nothing in it is executed.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error.strerror}.") from error
    return loads(data, str(path))


def write(path: Path, data: bytes) -> None:
    """Replace the file at ``path`` by ``data``, in one step that lasts."""
    require_regular_file(path, "was not saved")
    target = path.resolve()  # a link stays, and what it leads to is replaced
    try:
        temporary = _write_temporary(target, data)
    except OSError as error:
        raise StorageError(
            f"{path} was not saved: {error.strerror}. It is as it was before."
        ) from error
    try:
        os.replace(temporary, target)
    except OSError as error:
        _remove(temporary)
        raise StorageError(
            f"{path} was not saved: {error.strerror}. It is as it was before."
        ) from error
    try:
        _sync_folder(target.parent)
    except OSError as error:
        raise StorageError(
            f"{path} was saved, but a loss of power may undo it: {error.strerror}."
        ) from error


def _write_temporary(target: Path, data: bytes) -> Path:
    """Write ``data`` to a new file next to ``target``, on the disk; its path."""
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}.tmp")
    file = open(temporary, "xb")
    try:
        with file:
            with suppress(FileNotFoundError):
                os.fchmod(file.fileno(), target.stat().st_mode & 0o777)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        _remove(temporary)
        raise
    return temporary


def _sync_folder(folder: Path) -> None:
    # The new name is an entry of the folder, which has to reach the disk as well.
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def _remove(temporary: Path) -> None:
    with suppress(OSError):
        os.unlink(temporary)
