"""Writing files safely: errors of the disk as sentences, and nothing replaced unasked.

No file that is written may be one that is read, nor be written twice.
"""

import os
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import combinations
from pathlib import Path
from typing import Self

from thalweg.errors import InvalidParameterError, StorageError
from thalweg.persistence.file_kinds import REPLACEMENT_RULE, special_file_kind

if sys.platform != "win32":
    from thalweg.persistence.lock import FileLock

STANDARD_OUTPUT = 1
"""The file descriptor."""
ADVICE = "Write elsewhere: --out, --predictions or --model."


@contextmanager
def storage_errors(path: Path) -> Iterator[None]:
    """Turns an error of the system inside into a sentence that names ``path``."""
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


def refuse_overwriting(
    inputs: Mapping[str, str | Path], outputs: Mapping[str, Path], advice: str = ADVICE
) -> None:
    """Raise if an output is an input, the same file as another output, or no file.

    The keys say what each file holds. A link is the file it leads to; "-" is standard
    input. What exists and is no regular file (a device, a named pipe) is not replaced.
    """
    refuse_special_files(outputs, advice)
    pairs = [(a, b) for a in inputs.items() for b in outputs.items()]
    for (one, a), (other, b) in [*pairs, *combinations(outputs.items(), 2)]:
        if _is_same_file(a, b):
            raise InvalidParameterError(
                f"The {other} ({b}) would replace the {one} ({a}): they are one file. "
                f"{advice}"
            )


def require_standard_output() -> None:
    """Raise if standard output is closed."""
    if sys.stdout is None:
        raise StorageError(
            "Standard output is closed, and the predictions go there. If nobody needs "
            "them, send them to /dev/null."
        )


def refuse_special_files(outputs: Mapping[str, Path], advice: str) -> None:
    """Raise if an output exists and is no regular file, or is standard output."""
    for content, path in outputs.items():
        with storage_errors(path):
            kind = special_file_kind(path)
        if kind is not None:
            raise StorageError(
                f"The {content} ({path}) cannot be written: it is {kind}, "
                f"{REPLACEMENT_RULE}. {advice}"
            )
        if _is_standard_output(path):
            raise InvalidParameterError(
                f"The {content} ({path}) would replace what standard output goes to. "
                f"{advice}"
            )


def _is_standard_output(path: Path) -> bool:
    with suppress(OSError):  # it is not there yet, or standard output is closed
        return os.path.samestat(os.fstat(STANDARD_OUTPUT), os.stat(path))
    return False


def _is_same_file(a: str | Path, b: Path) -> bool:
    if str(a) != "-" and os.path.realpath(a) == os.path.realpath(b):
        return True
    with suppress(OSError, ValueError):  # it is not there yet, or is no real file
        status = os.fstat(sys.stdin.fileno()) if str(a) == "-" else os.stat(a)
        return stat.S_ISREG(status.st_mode) and os.path.samestat(status, os.stat(b))
    return False


class FileLocks:
    """Lock files next to the files that a run writes.

    The system releases the locks of a process that was killed. Unlike those of
    databases, lock files are removed at the end, so that a run leaves no files but
    those that it names. Whoever has just locked a file checks that it still exists.
    """

    def __init__(self) -> None:
        self._locks: dict[Path, FileLock] = {}

    def acquire(self, path: Path) -> None:
        """Lock a file for this run, or raise ``StorageError`` that names its holder."""
        if sys.platform == "win32":  # It has no flock, and so no locks.
            return
        absolute = path.absolute()
        if absolute not in self._locks:
            make_folder(path.parent)
            self._locks[absolute] = _acquire(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for path, lock in self._locks.items():
            _lock_file(path).unlink(missing_ok=True)
            lock.release()


def _acquire(path: Path) -> FileLock:
    while True:
        try:
            lock = FileLock(path)
        except StorageError as error:
            if not isinstance(error.__context__, BlockingIOError):
                raise
            raise StorageError(
                f"Another run, process {_holder(path)}, writes {path.name} in the "
                f"folder {path.parent}. Wait until it ends, or write elsewhere: --out, "
                f"--predictions or --model."
            ) from None
        if _holder(path) == str(os.getpid()):
            return lock
        lock.release()  # Its last holder removed it after we had opened it.


def _holder(path: Path) -> str:
    try:
        return _lock_file(path).read_text("ascii")
    except OSError:
        return ""


def _lock_file(path: Path) -> Path:
    """The file that ``FileLock`` makes for ``path``."""
    return path.with_name(f"{path.name}.lock")
