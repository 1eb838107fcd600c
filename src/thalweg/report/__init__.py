"""Reports on studies: HTML pages, and figures as files."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from thalweg.report.figure_files import write_figures as write_figures
    from thalweg.report.page import write_page as write_page

_MODULE_OF = {"write_figures": "figure_files", "write_page": "page"}

__all__ = ["write_figures", "write_page"]


def __getattr__(name: str) -> Any:
    # Loaded on first use (PEP 562): a command that writes no page needs no altair.
    if name in _MODULE_OF:
        return getattr(import_module(f"thalweg.report.{_MODULE_OF[name]}"), name)
    raise AttributeError(f"module 'thalweg.report' has no attribute {name!r}")
