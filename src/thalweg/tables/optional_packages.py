"""Packages that are imported only when something is read that needs them."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from thalweg.errors import StreamError
from thalweg.tables.file_formats import FORMATS

EXTRAS = {
    "narwhals": "io", "altair": "report", "jinja2": "report", "vl_convert": "report",
    "fastapi": "serve", "uvicorn": "serve",
    **{one.package: one.extra for one in FORMATS.values() if one.package},
}  # fmt: skip
"""The extra of thalweg that brings a package."""
MIN_PYARROW_BYTES = 1 << 14
"""Bytes of text from which pyarrow's fixed cost, some 0.2 ms, no longer matters."""


def is_worth_pyarrow(text: bytes) -> bool:
    """Whether pyarrow is there, and faster at this than the standard library."""
    return len(text) >= MIN_PYARROW_BYTES and find_spec("pyarrow") is not None


def import_optional(module: str, content: str) -> Any:
    """Import a module of a package, or of ours that needs one, to read ``content``."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name not in EXTRAS:
            raise
        raise StreamError(
            f"Reading {content} needs {error.name}: pip install "
            f"'thalweg[{EXTRAS[error.name]}]'."
        ) from None
