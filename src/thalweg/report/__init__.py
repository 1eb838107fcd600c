"""Reports on studies: HTML pages of sections, and figures as files."""

from typing import TYPE_CHECKING

from thalweg.lazy import lazy_exports

if TYPE_CHECKING:
    from thalweg.report.chart_elements import Figure as Figure
    from thalweg.report.figure_files import write_figures as write_figures
    from thalweg.report.page import write_page as write_page
    from thalweg.report.section import FoldedPart as FoldedPart
    from thalweg.report.section import PageTable as PageTable
    from thalweg.report.section import Section as Section
    from thalweg.report.section import Tile as Tile
    from thalweg.report.study_sections import study_section as study_section

_MODULE_OF = {
    "Figure": "chart_elements",
    "FoldedPart": "section",
    "PageTable": "section",
    "Section": "section",
    "Tile": "section",
    "study_section": "study_sections",
    "write_figures": "figure_files",
    "write_page": "page",
}

__all__ = sorted(_MODULE_OF)

# A command that writes no page needs no altair.
__getattr__ = lazy_exports(__name__, _MODULE_OF)
