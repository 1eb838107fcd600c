"""What a run over a table is made of: its session, its checkpoint and its files."""

from typing import TYPE_CHECKING

from thalweg.lazy import lazy_exports

if TYPE_CHECKING:
    from thalweg.cli.runs.checkpoint import load_checkpoint as load_checkpoint
    from thalweg.cli.runs.file_locks import FileLocks as FileLocks
    from thalweg.cli.runs.finish import finish_run as finish_run
    from thalweg.cli.runs.keyed_checkpoint import is_database as is_database
    from thalweg.cli.runs.keyed_run import KeyedRunSettings as KeyedRunSettings
    from thalweg.cli.runs.keyed_run import run_by_key as run_by_key
    from thalweg.cli.runs.output_paths import OutputPaths as OutputPaths
    from thalweg.cli.runs.output_paths import open_session as open_session
    from thalweg.cli.runs.output_paths import order_oldest_first as order_oldest_first
    from thalweg.cli.runs.output_paths import set_earlier_rows as set_earlier_rows
    from thalweg.cli.runs.predictions import check_suffix as check_suffix
    from thalweg.cli.runs.run_loop import RunLoop as RunLoop
    from thalweg.cli.runs.storage import (
        require_standard_output as require_standard_output,
    )
    from thalweg.cli.runs.study_files import PAGE as PAGE
    from thalweg.cli.runs.study_files import available_outputs as available_outputs
    from thalweg.cli.runs.study_files import draw_studies as draw_studies
    from thalweg.cli.runs.study_files import load_studies as load_studies

_MODULE_OF = {
    "FileLocks": "file_locks",
    "KeyedRunSettings": "keyed_run",
    "OutputPaths": "output_paths",
    "PAGE": "study_files",
    "RunLoop": "run_loop",
    "available_outputs": "study_files",
    "check_suffix": "predictions",
    "draw_studies": "study_files",
    "finish_run": "finish",
    "is_database": "keyed_checkpoint",
    "load_checkpoint": "checkpoint",
    "load_studies": "study_files",
    "open_session": "output_paths",
    "order_oldest_first": "output_paths",
    "run_by_key": "keyed_run",
    "require_standard_output": "storage",
    "set_earlier_rows": "output_paths",
}

__all__ = sorted(_MODULE_OF)

# `thalweg run --help` needs no learners.
__getattr__ = lazy_exports(__name__, _MODULE_OF)
