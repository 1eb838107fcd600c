"""Reports on studies: HTML pages of sections, and figures as files."""

from typing import TYPE_CHECKING

from thalweg.lazy import lazy_exports

if TYPE_CHECKING:
    from thalweg.report.charts.figure_files import write_figures as write_figures
    from thalweg.report.classification_section import section_of as section_of
    from thalweg.report.page import write_page as write_page
    from thalweg.report.study_sections import study_section as study_section

# A command that writes no page needs no altair.
__getattr__, __all__ = lazy_exports(__name__)
