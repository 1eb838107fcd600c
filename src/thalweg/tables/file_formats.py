"""What a file holds: by its name, and by its first bytes where that does not say it."""

import zipfile
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from thalweg.errors import StreamError
from thalweg.tables.sources import DECOMPRESSORS, ByteSource, table_in_zip

Format = Literal["csv", "tsv", "jsonl", "json", "xlsx", "parquet", "arrow"]
FORMATS: tuple[Format, ...] = get_args(Format)
"""To add a format: its name above and its suffixes below, its reader in a file of its
own and in one of the two tables of readers in table.py."""
SUFFIXES: dict[str, Format] = {
    ".csv": "csv",
    ".txt": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".xlsx": "xlsx",
    ".parquet": "parquet",
    ".feather": "arrow",
    ".arrow": "arrow",
    ".ipc": "arrow",
}
"""The format of a file by the suffix of its name."""
WORKBOOK = "xl/workbook.xml"
"""A file in every archive that is a workbook."""
_FORMATS = {b"PAR1": "parquet", b"ARROW1": "arrow"}
_COMPRESSIONS = {
    b"\x1f\x8b": ".gz",
    b"BZh": ".bz2",
    b"\xfd7zXZ\0": ".xz",
    b"\x28\xb5\x2f\xfd": ".zst",
    b"PK\x03\x04": ".zip",
}


class ContentFormat(NamedTuple):
    """A format, and how it is compressed."""

    format: str | None  # None: it is no text, and no format that is known
    compression: str = ""  # a suffix of ``DECOMPRESSORS``


def file_format(path: Path, format: Format | None) -> tuple[Format, str]:
    """The format of a file, and the suffix of its compression."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    compression = suffixes.pop() if set(suffixes[-1:]) & set(DECOMPRESSORS) else ""
    if compression == ".zip" and path.is_file():
        suffixes = [suffix.lower() for suffix in name_in_zip(path).suffixes]
    found = format or SUFFIXES.get(suffixes[-1] if suffixes else "")
    if found is not None:
        return found, compression
    if path.is_file():
        content = sniff_content(path, compression)
        compression, sniffed = content.compression, content.format
        for known in FORMATS:
            if known == sniffed:
                return known, compression
    raise StreamError(
        f"The format of {path.name} is not clear from its name, nor from its content. "
        f"It may end in {', '.join(SUFFIXES)}; text also in {', '.join(DECOMPRESSORS)} "
        f"after that."
    )


def sniff_content(path: Path, compression: str = "") -> ContentFormat:
    """The format of a file that exists, by its content."""
    start = _first_bytes(path, compression)
    for mark, format in _FORMATS.items():
        if start.startswith(mark) and not compression:
            return ContentFormat(format)
    if compression:
        return ContentFormat(_text_format(start), compression)
    for mark, found in _COMPRESSIONS.items():
        if start.startswith(mark):
            if found == ".zip" and _is_workbook(path):
                return ContentFormat("xlsx")
            return sniff_content(path, found)
    return ContentFormat(_text_format(start))


def name_in_zip(path: Path) -> Path:
    """The name of the one file in an archive."""
    try:
        with zipfile.ZipFile(path) as archive:
            return Path(table_in_zip(archive, path.name).filename)
    except (zipfile.BadZipFile, OSError) as error:
        raise StreamError(f"{path.name} is damaged or cut short: {error}.") from None


def _is_workbook(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return WORKBOOK in archive.namelist()
    except (zipfile.BadZipFile, OSError):
        return False


def _first_bytes(path: Path, compression: str) -> bytes:
    source = ByteSource(path, path.name, compression)
    try:
        return source.read()
    finally:
        source.close()


def _text_format(start: bytes) -> str | None:
    """JSON or delimited text, of which UTF-16 has bytes of 0 and a mark before them."""
    if b"\0" in start and not start.startswith((b"\xff\xfe", b"\xfe\xff")):
        return None
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    return "json" if text[:1] in (b"{", b"[") else "csv"
