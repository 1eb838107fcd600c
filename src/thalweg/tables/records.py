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
from thalweg.tables.malformed_rows import LineErrors
from thalweg.tables.sources import ByteSource
from thalweg.tables.text_encoding import (
    PLAIN_TEXT,
    UTF_8_MARK,
    ByteReader,
    LineEncoding,
    TextSettings,
    Transcoder,
    has_utf16_mark,
)

MAX_RECORD_BYTES = 4 << 20
"""A longer record has a quote that was left open, or is no text."""

CARRIAGE_RETURN = re.compile(rb"\r[^\n]")
"""The end of a line, as once on the Mac, where no other end was seen before."""

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
                f"{line:,}) is 0x{self.data[error.start]:02x}, which is not UTF-8 as "
                f"the lines before are. Say how all are encoded, such as --encoding "
                f"latin-1."
            ) from None


class CarriageReturns:
    r"""Text whose lines all end in \r, with \n in its place."""

    def __init__(self, reader: ByteReader) -> None:
        self._reader, self.name = reader, reader.name

    def read(self) -> bytes:
        """The next bytes; empty at the end."""
        return self._reader.read().replace(b"\r", b"\n")


class PeekableSource:
    """A source in UTF-8 whose first lines can be read before the rest.

    A byte order mark, the lines above the one that ``settings`` name as the header,
    blank lines and, unless ``comment`` is empty, lines that begin with it are skipped
    at the start.
    """

    def __init__(
        self, source: ByteSource, settings: TextSettings = PLAIN_TEXT,
        comment: bytes = b"",
    ) -> None:  # fmt: skip
        self.source = source
        self._comment = comment
        self._lines_above = 0 if settings.header is None else settings.header - 1
        named = settings.encoding
        self.encoding = LineEncoding("utf-8" if named == "utf-8" else None)
        self._reader: ByteReader = source
        if named not in (None, "utf-8"):
            self._reader = Transcoder(source, named or "")
        start = self._read_start(named is None)
        self._start = start[self._count_skipped_bytes(start) :]
        skipped = len(start) - len(self._start)
        # The last comment, without what makes it one.
        above = start[:skipped].rstrip(b"\r\n").rpartition(b"\n")[2]
        self.last_comment = above.lstrip(comment + b" ") if comment else b""
        self.line, self.offset = 1 + count_line_ends(start[:skipped]), skipped

    def first_line(self) -> bytes:
        """The first line that is not skipped; it is read again by ``read``."""
        return self._start.partition(b"\n")[0]

    def complete_lines(self, count: int) -> list[bytes]:
        """Of the lines that have been read, the first ones that have ended."""
        return self._start.split(b"\n", count)[:-1]

    def skip_lines(self, count: int) -> range:
        """Skip some of the lines that have been read; returns their numbers."""
        first = self.line
        for _ in range(count):
            end = self._start.index(b"\n") + 1
            self._start, self.offset = self._start[end:], self.offset + end
        self.line += count
        return range(first, self.line)

    def read(self) -> bytes:
        """The next bytes; empty at the end."""
        start, self._start = self._start, b""
        return start or self._reader.read()

    def _read_start(self, may_be_utf16: bool) -> bytes:
        """Bytes to the end of the first line that is not skipped."""
        start = b""
        while b"\n" not in start[self._count_skipped_bytes(start) :]:
            if len(start) > MAX_RECORD_BYTES or not (more := self._reader.read()):
                break
            start += more
            if b"\n" not in start and CARRIAGE_RETURN.search(start):
                self._reader = CarriageReturns(self._reader)
                start = start.replace(b"\r", b"\n")
            if may_be_utf16 and has_utf16_mark(start):
                transcoder = Transcoder(self.source, "utf-16")
                self._reader, start = transcoder, transcoder.convert(start)
            may_be_utf16 = may_be_utf16 and len(start) < 2
        if b"\0" in start:
            raise StreamError(
                f"{self.source.name} is no text: it has a byte 0. If it is UTF-16 "
                f"without a mark, say --encoding utf-16-le or --encoding utf-16-be."
            )
        if not start[self._count_skipped_bytes(start) :].strip():
            raise StreamError(f"{self.source.name} is empty.")
        return start

    def _count_skipped_bytes(self, start: bytes) -> int:
        """How many of the first bytes are a mark, blank lines or comments."""
        position = len(UTF_8_MARK) if start.startswith(UTF_8_MARK) else 0
        for _ in range(self._lines_above):
            end = start.find(b"\n", position)
            position = len(start) if end < 0 else end + 1
        while position < len(start):
            if start[position : position + 1] in (b"\r", b"\n"):
                position += 1
            elif self._comment and start.startswith(self._comment, position):
                end = start.find(b"\n", position)
                position = len(start) if end < 0 else end + 1
            else:
                break
        return position


def split_blocks(
    source: PeekableSource, record_end: RecordEnd
) -> Iterator[RecordBlock]:
    """All bytes of a source, in blocks of complete records in UTF-8."""
    name, rest, to_utf8 = source.source.name, b"", source.encoding.to_utf8
    line, offset = source.line, source.offset
    while more := source.read():
        rest += more
        del more  # It may be some MiB, which nobody needs while the block is read.
        end = record_end(rest)
        if end:
            records, rest = rest[:end], rest[end:]
            yield RecordBlock(to_utf8(records), line, offset, name)
            line, offset = line + count_line_ends(records), offset + end
        elif len(rest) > MAX_RECORD_BYTES:
            raise StreamError(
                f"Line {line:,} of {name} begins a record of more than "
                f"{MAX_RECORD_BYTES >> 20} MiB: is a quote left open?"
            )
    if rest.strip():
        last = RecordBlock(to_utf8(rest + b"\n"), line, offset, name)
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

    def __init__(
        self, source: PeekableSource, record_end: RecordEnd, settings: TextSettings
    ) -> None:
        self.fraction = source.source.fraction
        self.close = source.source.close
        self._is_live = source.source.is_live
        self._name, self._encoding = source.source.name, source.encoding
        self._errors: LineErrors | None = settings.errors
        blocks = split_blocks(source, record_end)
        self._blocks = chain([self._read_columns(next(blocks))], blocks)

    @abstractmethod
    def _read_columns(self, first: RecordBlock) -> RecordBlock:
        """Set ``columns`` from the first block, and return the block of its rows."""

    @abstractmethod
    def _read_block(self, block: RecordBlock, first_row: int) -> Chunk | None:
        """The rows of a block; None if it has none."""

    def notes(self) -> tuple[str, ...]:
        """Sentences about how the text was read."""
        return self._encoding.notes(self._name)

    def chunks(self) -> Iterator[Chunk]:
        """The rows in the order they arrive."""
        row = 0
        for block in self._blocks:
            chunk = self._read_block(block, row)
            if chunk is not None:
                yield chunk if row or self._is_live else chunk.with_sample()
                row += len(chunk)
