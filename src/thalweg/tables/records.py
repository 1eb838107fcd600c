"""Bytes split into blocks of complete records, so that each block is read by itself.

A record is a line; in CSV a quoted cell may hold line ends, and the record goes on.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain

from thalweg.errors import StreamError
from thalweg.tables.chunk import Chunk
from thalweg.tables.sources import ByteSource

MAX_RECORD_BYTES = 4 << 20
"""A longer record has a quote that was left open, or is no text."""
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")

RecordEnd = Callable[[bytes], int]
"""Where the last complete record of some bytes ends; 0 if none does."""


@dataclass(frozen=True)
class RecordBlock:
    """Complete records, and their position in the source."""

    data: bytes
    line: int  # of the first byte, from 1
    offset: int  # of the first byte, from 0
    source: str

    def text(self) -> str:
        """The records decoded."""
        try:
            return self.data.decode()
        except UnicodeDecodeError as error:
            line = self.line + count_line_ends(self.data[: error.start])
            raise StreamError(
                f"Byte {self.offset + error.start + 1:,} of {self.source} (line "
                f"{line:,}) is 0x{self.data[error.start]:02x}, which is not UTF-8. "
                f"Re-encode it first, for example with iconv -f latin1 -t utf-8."
            ) from None


class PeekableSource:
    """A source whose first line can be read before the rest, without a mark or blanks.

    A byte order mark and blank lines at the start are skipped.
    """

    def __init__(self, source: ByteSource) -> None:
        self.source = source
        start = self._read_first_line()
        self._start = start.removeprefix(_BYTE_ORDER_MARK).lstrip(b"\r\n")
        skipped = len(start) - len(self._start)
        self.line, self.offset = 1 + count_line_ends(start[:skipped]), skipped

    def first_line(self) -> bytes:
        """The first line that is not blank; it is read again by ``read``."""
        return self._start.partition(b"\n")[0]

    def read(self) -> bytes:
        """The next bytes; empty at the end."""
        start, self._start = self._start, b""
        return start or self.source.read()

    def _read_first_line(self) -> bytes:
        start = b""
        while b"\n" not in start.lstrip(b"\r\n") and len(start) <= MAX_RECORD_BYTES:
            more = self.source.read()
            if not more:
                break
            start += more
        if start.startswith(_UTF_16) or b"\0" in start:
            raise StreamError(
                f"{self.source.name} is not UTF-8 text: it looks like UTF-16, or no "
                f"text at all. Re-encode it first, for example with iconv -f utf-16 "
                f"-t utf-8."
            )
        if not start.removeprefix(_BYTE_ORDER_MARK).strip():
            raise StreamError(f"{self.source.name} is empty.")
        return start


def split_blocks(
    source: PeekableSource, record_end: RecordEnd
) -> Iterator[RecordBlock]:
    """All bytes of a source, in blocks of complete records."""
    name, rest = source.source.name, b""
    line, offset = source.line, source.offset
    while more := source.read():
        rest += more
        del more  # It may be some MiB, which nobody needs while the block is read.
        end = record_end(rest)
        if end:
            block, rest = RecordBlock(rest[:end], line, offset, name), rest[end:]
            line, offset = line + count_line_ends(block.data), offset + end
            yield block
        elif len(rest) > MAX_RECORD_BYTES:
            raise StreamError(
                f"Line {line:,} of {name} begins a record of more than "
                f"{MAX_RECORD_BYTES >> 20} MiB: is a quote left open?"
            )
    if rest.strip():
        last = RecordBlock(rest + b"\n", line, offset, name)
        if record_end(last.data) < len(last.data):
            raise StreamError(f"Line {line:,} of {name} opens a quote that never ends.")
        yield last


def count_line_ends(data: bytes) -> int:
    r"""How many lines end in some bytes, with \n, \r\n or, as once on the Mac, \r."""
    ends = data.count(b"\n")
    if b"\r" in data:
        ends += data.count(b"\r") - data.count(b"\r\n")
    return ends


def last_line_end(data: bytes) -> int:
    """Where the last complete line ends."""
    return data.rfind(b"\n") + 1


def csv_record_pattern(delimiter: str) -> re.Pattern[bytes]:
    """One record of delimited text, to the end of its last line."""
    # The groups are possessive, so that no text makes it try a second way. A quote that
    # is not the first character of its cell is a character like any other.
    cell = rb'(?>"(?>[^"]++|"")*+"[^D\r\n]*+|[^"D\r\n][^D\r\n]*+|)'
    record = rb"(?:" + cell + rb"D)*+" + cell + rb"(?:\r?\n|\r(?=[^\n]))"
    return re.compile(record.replace(b"D", re.escape(delimiter.encode())))


def csv_record_end(delimiter: str) -> RecordEnd:
    """A function that finds where the last complete record of delimited text ends."""
    match = csv_record_pattern(delimiter).match

    def record_end(data: bytes) -> int:
        if b'"' not in data:
            return last_line_end(data)
        end = 0
        while record := match(data, end):
            end = record.end()
        return end

    return record_end


class TextReader(ABC):
    """Text that is read block by block, one chunk each. Its first record has names."""

    columns: tuple[str, ...]
    rows = None  # Their number is not known before the end.

    def __init__(self, source: PeekableSource, record_end: RecordEnd) -> None:
        self.fraction = source.source.fraction
        self.close = source.source.close
        self._is_live = source.source.is_live
        blocks = split_blocks(source, record_end)
        self._blocks = chain([self._read_columns(next(blocks))], blocks)

    @abstractmethod
    def _read_columns(self, first: RecordBlock) -> RecordBlock:
        """Set ``columns`` from the first block, and return the block of its rows."""

    @abstractmethod
    def _read_block(self, block: RecordBlock, first_row: int) -> Chunk | None:
        """The rows of a block; None if it has none."""

    def chunks(self) -> Iterator[Chunk]:
        """The rows in the order they arrive."""
        row = 0
        for block in self._blocks:
            chunk = self._read_block(block, row)
            if chunk is not None:
                yield chunk if row or self._is_live else chunk.with_sample()
                row += len(chunk)
