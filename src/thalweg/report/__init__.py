"""What a person sees: charts and pages."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from thalweg.report.figures import write_figures as write_figures
    from thalweg.report.page import write_page as write_page

_HOME = {"write_figures": "figures", "write_page": "page"}

__all__ = ["write_figures", "write_page"]


def __getattr__(name: str) -> Any:
    # Loaded on first use (PEP 562): a command that draws nothing needs no altair.
    if name in _HOME:
        return getattr(import_module(f"thalweg.report.{_HOME[name]}"), name)
    raise AttributeError(f"module 'thalweg.report' has no attribute {name!r}")
