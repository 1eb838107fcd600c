"""Bytes from a file, a compressed file or standard input, with errors as sentences."""

import bz2
import difflib
import gzip
import lzma
import select
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from thalweg.errors import StreamError
from thalweg.tables.optional import arrow

PIECE = 4 << 20
"""Bytes read from a file at a time; larger pieces were no faster."""
ARRIVED = 1 << 16
"""Most bytes taken from a pipe at a time, which on Linux holds no more than this."""
_DAMAGE = (OSError, EOFError, zlib.error, lzma.LZMAError)


def _zstandard(raw: Any) -> Any:
    return arrow("pyarrow", "a .zst file").CompressedInputStream(raw, "zstd")


COMPRESSIONS: dict[str, Callable[[Any], Any]] = {
    ".gz": lambda raw: gzip.GzipFile(fileobj=raw),
    ".bz2": bz2.BZ2File,
    ".xz": lzma.LZMAFile,
    ".zst": _zstandard,
}


class Source:
    """Bytes in pieces, decompressed on the way.

    A file on disk gives large pieces. Standard input, a named pipe or a file object is
    live: a piece is what has arrived, and is waited for only when nothing has. What
    was opened here is closed here.
    """

    def __init__(self, given: Any, name: str, compression: str = "") -> None:
        self.name = name
        self._opened = isinstance(given, Path)
        self.live = not (self._opened and given.is_file())
        self._size = 0 if self.live else given.stat().st_size
        self._raw: Any = opened(given) if self._opened else given
        self._file = self._raw
        self.idle: Callable[[], float | None] | None = None  # see Table.while_waiting
        if compression:
            self._file = self._decompressed(compression)

    def _decompressed(self, compression: str) -> Any:
        try:
            return COMPRESSIONS[compression](self._raw)
        except StreamError:
            self._raw.close()
            raise

    def read(self) -> bytes:
        """The next piece; empty at the end."""
        if self.idle is not None and self._file is self._raw:
            while (seconds := self.idle()) is not None and not self._arrived(seconds):
                pass
        try:
            if not self.live:
                return bytes(self._file.read(PIECE))
            return bytes(getattr(self._file, "read1", self._file.read)(ARRIVED))
        except _DAMAGE as error:
            raise StreamError(
                f"{self.name} is damaged or cut short: {str(error).rstrip('.')}."
            ) from None

    def _arrived(self, seconds: float) -> bool:
        """Whether something comes within that time; True if that cannot be told."""
        try:
            return bool(select.select([self._raw], [], [], seconds)[0])
        except (OSError, ValueError, TypeError):
            return True

    def fraction(self) -> float | None:
        """How much of the file has been read, by its bytes on disk; None if live."""
        if self.live:
            return None
        closed = self._raw.closed or not self._size
        return 1.0 if closed else float(self._raw.tell() / self._size)

    def close(self) -> None:
        """Close what was opened here."""
        if self._opened:
            self._file.close()
            self._raw.close()


def existing(given: str) -> Path:
    """The path of a file that is there, or a sentence."""
    path = Path(given)
    try:
        if path.is_dir():
            raise StreamError(f"{given} is a folder. A file is needed.")
        if not path.exists():
            raise StreamError(f"There is no file {given}.{_nearest_file(path)}")
    except PermissionError as error:  # of a folder on the way
        raise _closed(path, error) from None
    return path


def opened(path: Path) -> BinaryIO:
    """The file without a buffer of its own."""
    try:
        return path.open("rb", buffering=0)
    except OSError as error:
        raise _closed(path, error) from None


def _closed(path: Path, error: OSError) -> StreamError:
    return StreamError(f"{path} cannot be opened: {error.strerror}.")


def _nearest_file(path: Path) -> str:
    if not path.parent.is_dir():
        return f" Nor is there a folder {path.parent}."
    beside = [other.name for other in path.parent.iterdir() if other.is_file()]
    near = difflib.get_close_matches(path.name, beside, n=1)
    return f" Did you mean {path.with_name(near[0])}?" if near else ""
