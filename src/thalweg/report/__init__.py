"""Reports on studies: HTML pages, and figures as files."""

from typing import TYPE_CHECKING

from thalweg.lazy import lazy_exports

if TYPE_CHECKING:
    from thalweg.report.figure_files import write_figures as write_figures
    from thalweg.report.page import write_page as write_page

_MODULE_OF = {"write_figures": "figure_files", "write_page": "page"}

__all__ = ["write_figures", "write_page"]

# A command that writes no page needs no altair.
__getattr__ = lazy_exports(__name__, _MODULE_OF)
