"""What is behind commands that read a table: a session, its models, its files."""

from typing import TYPE_CHECKING

from thalweg.lazy import lazy_exports

if TYPE_CHECKING:
    from thalweg.runs.checkpoint import load_checkpoint as load_checkpoint
    from thalweg.runs.compare_command import compare_table as compare_table
    from thalweg.runs.demonstration import show_demo as show_demo
    from thalweg.runs.forecast_command import forecast_table as forecast_table
    from thalweg.runs.forecast_plan import ForecastOptions as ForecastOptions
    from thalweg.runs.run_command import run_table as run_table
    from thalweg.runs.settings import PathOptions as PathOptions
    from thalweg.runs.settings import RunSettings as RunSettings
    from thalweg.runs.source import Source as Source
    from thalweg.runs.study_files import PAGE as PAGE
    from thalweg.runs.study_files import draw_studies as draw_studies
    from thalweg.runs.study_files import load_studies as load_studies

# `thalweg run --help` needs no learners.
__getattr__, __all__ = lazy_exports(__name__)
