"""What the disk may refuse, said in one sentence."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from thalweg.errors import StorageError


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Inside, an error of the system becomes a sentence that names ``path``."""
    try:
        yield
    except StorageError:
        raise
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror}.") from error


def make_folder(folder: Path) -> None:
    """Make the folder, and those it lies in, unless they are there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(
            f"The folder {folder} cannot be made: {error.strerror}."
        ) from error
