"""Encodings of text: everything becomes UTF-8 before it is split into records.

A byte order mark says UTF-8 or UTF-16. Without one, text is UTF-8 if the first line
that is not ASCII is; else it is Windows-1252, which has Latin-1 in it. So the decision
does not depend on how many bytes have arrived.
"""

import codecs
from typing import Any, NamedTuple, Protocol

from thalweg.errors import InvalidParameterError, StreamError

UTF_8_MARK = codecs.BOM_UTF8
_UTF_16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
WINDOWS_1252 = "Windows-1252"
# The five bytes that Windows-1252 leaves open are what they are in Latin-1.
_FROM_LATIN_1 = {
    byte: bytes([byte]).decode("cp1252", errors="ignore") or chr(byte)
    for byte in range(0x80, 0xA0)
}


class ByteReader(Protocol):
    """Where bytes come from."""

    name: str

    def read(self) -> bytes:
        """The next bytes; empty at the end."""


class TextSettings(NamedTuple):
    """How a user wants text to be read."""

    encoding: str | None = None  # None: as its first lines say
    errors: Any = None  # LineErrors; None: a malformed line is refused
    header: int | None = None  # the line that names columns; None: found out


PLAIN_TEXT = TextSettings()
"""Text of which nothing is said."""


class LineEncoding:
    """The encoding of lines that come block by block."""

    def __init__(self, name: str | None = None) -> None:
        self.name = name  # None while all is ASCII

    def to_utf8(self, lines: bytes) -> bytes:
        """Complete lines in UTF-8, unless they are refused when they are decoded."""
        if lines.isascii():
            return lines
        if self.name is None:
            first = next(line for line in lines.splitlines() if not line.isascii())
            self.name = "utf-8" if _is_utf8(first) else WINDOWS_1252
        if self.name != WINDOWS_1252:
            return lines
        return lines.decode("latin-1").translate(_FROM_LATIN_1).encode()

    def notes(self, source: str) -> tuple[str, ...]:
        """A sentence if the encoding was guessed."""
        if self.name != WINDOWS_1252:
            return ()
        return (
            f"{source} is not UTF-8 and is read as {WINDOWS_1252} (Latin-1); "
            f"--encoding NAME says otherwise.",
        )


class Transcoder:
    """Bytes of any encoding as those of UTF-8, a part at a time."""

    def __init__(self, source: ByteReader, encoding: str) -> None:
        self.name = source.name
        self._source = source
        self._encoding = encoding
        self._decoder = codecs.getincrementaldecoder(encoding)()

    def read(self) -> bytes:
        """The next bytes in UTF-8; empty at the end."""
        while data := self._source.read():
            if text := self.convert(data):
                return text
        return self.convert(b"", is_last=True)

    def convert(self, data: bytes, is_last: bool = False) -> bytes:
        """Some bytes of the source in UTF-8; the rest of a character waits."""
        try:
            return self._decoder.decode(data, is_last).encode()
        except UnicodeError as error:
            reason = getattr(error, "reason", str(error))
            raise StreamError(
                f"{self.name} is not {self._encoding} text: {reason}. Another encoding "
                f"is chosen by --encoding."
            ) from None


def check_encoding(name: str) -> str:
    """The name of an encoding that exists, as Python writes it."""
    try:
        found = codecs.lookup(name)
        "".encode(name)  # base64, say, is none of text
    except (LookupError, ValueError, TypeError):
        raise InvalidParameterError(
            f"The encoding {name!r} is not known. Known are utf-8, utf-16, latin-1, "
            f"cp1252, shift_jis and the others of Python."
        ) from None
    return found.name


def has_utf16_mark(start: bytes) -> bool:
    """Whether text begins with a byte order mark of UTF-16."""
    return start.startswith(_UTF_16_MARKS)


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True
