"""Bytes cut into blocks of complete records, so that each block can be read by itself.

A record is a line; in CSV a quoted cell may hold line ends, and the record goes on.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from thalweg.errors import StreamError
from thalweg.tables.sources import Source

LONGEST = 4 << 20
"""Bytes of the longest record; beyond it a quote was left open, or it is no text."""
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")

Complete = Callable[[bytes], int]
"""Where the last complete record of some bytes ends; 0 if none does."""


@dataclass(frozen=True)
class Block:
    """Complete records, and where they stand in what they were read from."""

    data: bytes
    line: int  # of the first byte, from 1
    offset: int  # of the first byte, from 0
    source: str

    def text(self) -> str:
        """The records decoded."""
        try:
            return self.data.decode()
        except UnicodeDecodeError as error:
            line = self.line + line_ends(self.data[: error.start])
            raise StreamError(
                f"Byte {self.offset + error.start + 1:,} of {self.source} (line "
                f"{line:,}) is 0x{self.data[error.start]:02x}, which is not UTF-8. "
                f"Re-encode it first, for example with iconv -f latin1 -t utf-8."
            ) from None


class Pieces:
    """What a source gives, of which the start can be looked at before it is taken."""

    def __init__(self, source: Source) -> None:
        self.source = source
        head = self._through_first_line()
        self._head = head.removeprefix(_BYTE_ORDER_MARK).lstrip(b"\r\n")
        skipped = len(head) - len(self._head)
        self.line, self.offset = 1 + line_ends(head[:skipped]), skipped

    def first_line(self) -> bytes:
        """The first line that is not blank, which is not taken away."""
        return self._head.partition(b"\n")[0]

    def take(self) -> bytes:
        """The next piece; empty at the end."""
        head, self._head = self._head, b""
        return head or self.source.read()

    def _through_first_line(self) -> bytes:
        head = b""
        while b"\n" not in head.lstrip(b"\r\n") and len(head) <= LONGEST:
            piece = self.source.read()
            if not piece:
                break
            head += piece
        if head.startswith(_UTF_16) or b"\0" in head:
            raise StreamError(
                f"{self.source.name} is not UTF-8 text: it looks like UTF-16, or no "
                f"text at all. Re-encode it first, for example with iconv -f utf-16 "
                f"-t utf-8."
            )
        if not head.removeprefix(_BYTE_ORDER_MARK).strip():
            raise StreamError(f"{self.source.name} is empty.")
        return head


def blocks(pieces: Pieces, complete: Complete) -> Iterator[Block]:
    """All that the pieces hold, in blocks of complete records."""
    name, rest = pieces.source.name, b""
    line, offset = pieces.line, pieces.offset
    while piece := pieces.take():
        rest += piece
        del piece  # of some MiB, while others work on the block
        end = complete(rest)
        if end:
            block, rest = Block(rest[:end], line, offset, name), rest[end:]
            line, offset = line + line_ends(block.data), offset + end
            yield block
        elif len(rest) > LONGEST:
            raise StreamError(
                f"Line {line:,} of {name} begins a record of more than "
                f"{LONGEST >> 20} MiB: is a quote left open?"
            )
    if rest.strip():
        last = Block(rest + b"\n", line, offset, name)
        if complete(last.data) < len(last.data):
            raise StreamError(f"Line {line:,} of {name} opens a quote that never ends.")
        yield last


def line_ends(data: bytes) -> int:
    r"""How many lines end in some bytes, with \n, \r\n or, as once on the Mac, \r."""
    ends = data.count(b"\n")
    if b"\r" in data:
        ends += data.count(b"\r") - data.count(b"\r\n")
    return ends


def complete_lines(data: bytes) -> int:
    """Where the last complete line ends."""
    return data.rfind(b"\n") + 1


def record(delimiter: str) -> re.Pattern[bytes]:
    """One record of delimited text, to the end of its last line."""
    # Possessive, so that no text makes it try a second way. A quote that is not the
    # first character of its cell is a character like any other.
    cell = rb'(?>"(?>[^"]++|"")*+"[^D\r\n]*+|[^"D\r\n][^D\r\n]*+|)'
    whole = rb"(?:" + cell + rb"D)*+" + cell + rb"(?:\r?\n|\r(?=[^\n]))"
    return re.compile(whole.replace(b"D", re.escape(delimiter.encode())))


def complete_records(delimiter: str) -> Complete:
    """Where the last complete record of delimited text ends."""
    match = record(delimiter).match

    def complete(data: bytes) -> int:
        if b'"' not in data:
            return complete_lines(data)
        end = 0
        while found := match(data, end):
            end = found.end()
        return end

    return complete
