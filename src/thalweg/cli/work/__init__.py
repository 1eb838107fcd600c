"""What the commands do, imported when one is called and not when help is asked for."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from thalweg.cli.work.accuracy import measure_accuracy as measure_accuracy
    from thalweg.cli.work.compare import compare_learners as compare_learners
    from thalweg.cli.work.demo import show_demo as show_demo
    from thalweg.cli.work.report import make_report as make_report
    from thalweg.cli.work.reproduce import reproduce_paper as reproduce_paper
    from thalweg.cli.work.run import run_stream as run_stream

_HOME = {
    "compare_learners": "compare",
    "make_report": "report",
    "measure_accuracy": "accuracy",
    "reproduce_paper": "reproduce",
    "run_stream": "run",
    "show_demo": "demo",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"thalweg.cli.work.{_HOME[name]}"), name)
    raise AttributeError(f"module 'thalweg.cli.work' has no attribute {name!r}")
