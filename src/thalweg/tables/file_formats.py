"""The formats of files that are read, one row each.

To add a format: its row, a reader of its own in ``module``, and what that needs in
pyproject.toml. The reader is a function ``open_<name>(source, chunk_rows, text)`` that
returns a ``TableReader`` (table.py) of a ``ByteSource``; if it is read from its end, of
a path. Options, help and refusals follow from the rows.
"""

from typing import NamedTuple


class FileFormat(NamedTuple):
    """How a format is recognised, and what reads it."""

    title: str  # what help and refusals call it
    suffixes: tuple[str, ...]  # of the names of files
    module: str  # of thalweg.tables, with its reader
    is_text: bool = False  # and may be compressed
    has_stream: bool = False  # whether it can be read from a pipe, row by row
    mark: bytes = b""  # the first bytes of a file
    member: str = ""  # a file in every archive (.zip) that has this format
    package: str = ""  # that the reader needs, by the name that imports it
    extra: str = ""  # of thalweg, which brings the package


FORMATS = {
    "csv": FileFormat("CSV", (".csv", ".txt"), "csv_files", True, True),
    "tsv": FileFormat("TSV", (".tsv",), "csv_files", True, True),
    "jsonl": FileFormat("JSON lines", (".jsonl", ".ndjson"), "json_files", True, True),
    "json": FileFormat("JSON", (".json",), "json_files", True, True),
    "xlsx": FileFormat(
        "Excel (.xlsx)", (".xlsx",), "xlsx_files", member="xl/workbook.xml",
        package="openpyxl", extra="xlsx",
    ),
    "parquet": FileFormat(
        "Parquet", (".parquet",), "arrow_files", mark=b"PAR1",
        package="pyarrow", extra="io",
    ),
    "arrow": FileFormat(
        "Feather or Arrow", (".feather", ".arrow", ".ipc"), "arrow_files",
        has_stream=True, mark=b"ARROW1", package="pyarrow", extra="io",
    ),
}  # fmt: skip
"""By the name that ``read_table`` and --format take."""
SUFFIXES = {
    suffix: name for name, format in FORMATS.items() for suffix in format.suffixes
}
"""The format of a file by the suffix of its name."""
