"""What a run over a table is made of: its session, its checkpoint and its files."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from thalweg.cli.runs.file_locks import Claims as Claims
    from thalweg.cli.runs.finish import Ending as Ending
    from thalweg.cli.runs.output_paths import Places as Places
    from thalweg.cli.runs.output_paths import begun as begun
    from thalweg.cli.runs.output_paths import continued as continued
    from thalweg.cli.runs.predictions import check_suffix as check_suffix
    from thalweg.cli.runs.run_loop import Running as Running
    from thalweg.cli.runs.study_files import possible as possible

_MODULE_OF = {
    "Claims": "file_locks",
    "Ending": "finish",
    "Places": "output_paths",
    "Running": "run_loop",
    "begun": "output_paths",
    "check_suffix": "predictions",
    "continued": "output_paths",
    "possible": "study_files",
}

__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> Any:
    # Loaded on first use (PEP 562): `thalweg run --help` needs no learners.
    if name in _MODULE_OF:
        return getattr(import_module(f"thalweg.cli.runs.{_MODULE_OF[name]}"), name)
    raise AttributeError(f"module 'thalweg.cli.runs' has no attribute {name!r}")
