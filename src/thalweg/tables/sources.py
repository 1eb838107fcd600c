"""Bytes from a file, a compressed file or standard input; errors name the file."""

import atexit
import bz2
import difflib
import gzip
import lzma
import select
import shutil
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from thalweg.errors import StreamError
from thalweg.tables.optional_packages import import_optional

FILE_READ_BYTES = 4 << 20
"""Bytes read from a file at a time; larger reads were no faster."""
PIPE_READ_BYTES = 1 << 16
"""Most bytes read from a pipe at a time, which on Linux holds no more than this."""
_DECOMPRESSION_ERRORS = (
    OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile,
)  # fmt: skip


_MAX_FILES_IN_MESSAGE = 5
_ENCRYPTED = 1
"""The bit of a file's flags in an archive."""


def _open_zstandard(raw: Any) -> Any:
    return import_optional("pyarrow", "a .zst file").CompressedInputStream(raw, "zstd")


def _open_zip(raw: Any) -> Any:
    archive = zipfile.ZipFile(raw)
    return archive.open(table_in_zip(archive, str(raw.name)))


def table_in_zip(archive: zipfile.ZipFile, name: str) -> zipfile.ZipInfo:
    """The one file in an archive; several are refused by name."""
    files = [
        info
        for info in archive.infolist()
        if not info.is_dir() and not _is_hidden(info.filename)
    ]
    if len(files) != 1:
        names = ", ".join(info.filename for info in files[:_MAX_FILES_IN_MESSAGE])
        more = ", ..." if len(files) > _MAX_FILES_IN_MESSAGE else ""
        holds = f"{len(files)} files: {names}{more}" if files else "no file"
        raise StreamError(
            f"{Path(name).name} holds {holds}. It must hold one table; extract the one "
            f"that you mean."
        )
    if files[0].flag_bits & _ENCRYPTED:
        raise StreamError(f"{Path(name).name} is encrypted. Extract it first.")
    return files[0]


def name_in_zip(path: Path) -> Path:
    """The name of the one file in an archive."""
    try:
        with zipfile.ZipFile(path) as archive:
            return Path(table_in_zip(archive, path.name).filename)
    except (zipfile.BadZipFile, OSError) as error:
        raise StreamError(f"{path.name} is damaged or cut short: {error}.") from None


def members_of_zip(path: Path) -> list[str]:
    """The names of the files in an archive; none if it is no archive."""
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.namelist()
    except (zipfile.BadZipFile, OSError):
        return []


def _is_hidden(name: str) -> bool:
    """Whether a file in an archive is one of a file system's own, such as .DS_Store."""
    return name.startswith("__MACOSX/") or Path(name).name.startswith(".")


DECOMPRESSORS: dict[str, Callable[[Any], Any]] = {
    ".gz": lambda raw: gzip.GzipFile(fileobj=raw),
    ".bz2": bz2.BZ2File,
    ".xz": lzma.LZMAFile,
    ".zst": _open_zstandard,
    ".zip": _open_zip,
}
"""By the suffix of a file's name."""
COMPRESSION_MARKS = {
    b"\x1f\x8b": ".gz",
    b"BZh": ".bz2",
    b"\xfd7zXZ\0": ".xz",
    b"\x28\xb5\x2f\xfd": ".zst",
    b"PK\x03\x04": ".zip",
}
"""The suffix that a file should have, by its first bytes."""


class ByteSource:
    """Bytes of a file, read and decompressed a part at a time.

    A file on disk gives large parts. Standard input, a named pipe or a file object is
    live: a read gives what has arrived, and waits only when nothing has. The source
    closes a file only if it opened it.
    """

    def __init__(self, file: Any, name: str, compression: str = "") -> None:
        self.name = name
        self._owns_file = isinstance(file, Path)
        self.is_live = not (self._owns_file and file.is_file())
        self._size = 0 if self.is_live else file.stat().st_size
        self.raw: Any = _open(file) if self._owns_file else file
        self._file = self.raw
        self.on_idle: Callable[[], float | None] | None = None  # see Table.on_idle
        self._peeked = b""
        if compression:
            self._file = self._decompressor(compression)

    def _decompressor(self, compression: str) -> Any:
        try:
            return DECOMPRESSORS[compression](self.raw)
        except StreamError:
            self.raw.close()
            raise
        except _DECOMPRESSION_ERRORS as error:
            self.raw.close()
            raise self._damage(error) from None

    def peek(self) -> bytes:
        """The next bytes, which are read again by ``read``; empty at the end."""
        self._peeked = self._peeked or self.read()
        return self._peeked

    def read(self) -> bytes:
        """The next bytes; empty at the end."""
        if self._peeked:
            peeked, self._peeked = self._peeked, b""
            return peeked
        if self.on_idle is not None and self._file is self.raw:
            while (seconds := self.on_idle()) is not None and not self._poll(seconds):
                pass
        try:
            if not self.is_live:
                return bytes(self._file.read(FILE_READ_BYTES))
            return bytes(getattr(self._file, "read1", self._file.read)(PIPE_READ_BYTES))
        except _DECOMPRESSION_ERRORS as error:
            raise self._damage(error) from None

    def _damage(self, error: BaseException) -> StreamError:
        return StreamError(
            f"{self.name} is damaged or cut short: {str(error).rstrip('.')}."
        )

    def _poll(self, seconds: float) -> bool:
        """Whether bytes arrive within that time; True where no one can tell."""
        try:
            return bool(select.select([self.raw], [], [], seconds)[0])
        except (OSError, ValueError, TypeError):
            return True

    def fraction(self) -> float | None:
        """How much of the file has been read, by its bytes on disk; None if live."""
        if self.is_live:
            return None
        at_end = self.raw.closed or not self._size
        return 1.0 if at_end else float(self.raw.tell() / self._size)

    def close(self) -> None:
        """Close the file, unless someone else opened it."""
        if self._owns_file:
            self._file.close()
            self.raw.close()


def existing_path(name: str) -> Path:
    """The path of a file that exists; otherwise raise and name the nearest file."""
    path = Path(name)
    try:
        if path.is_dir():
            raise StreamError(f"{name} is a folder. A file is needed.")
        if not path.exists():
            raise StreamError(f"There is no file {name}.{_nearest_file(path)}")
    except PermissionError as error:  # of a folder on the way
        raise _open_error(path, error) from None
    return path


def _open(path: Path) -> BinaryIO:
    try:
        return path.open("rb", buffering=0)
    except OSError as error:
        raise _open_error(path, error) from None


def _open_error(path: Path, error: OSError) -> StreamError:
    return StreamError(f"{path} cannot be opened: {error.strerror}.")


def _nearest_file(path: Path) -> str:
    if not path.parent.is_dir():
        return f" Nor is there a folder {path.parent}."
    names = [other.name for other in path.parent.iterdir() if other.is_file()]
    near = difflib.get_close_matches(path.name, names, n=1)
    return f" Did you mean {path.with_name(near[0])}?" if near else ""


def spool_standard_input(suffix: str) -> str:
    """The path of a file with all of standard input, which goes at the end."""
    if sys.stdin is None:
        raise StreamError("Standard input is closed: there is nothing to read.")
    folder = tempfile.mkdtemp(prefix="thalweg-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = Path(folder, f"stdin.{suffix}")
    with path.open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    return str(path)
