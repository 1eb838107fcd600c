"""The command line: one module per command, which holds its options and its help.

The work of a command is imported when the command runs, not when its help is shown.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from thalweg.cli.bench_tables import comparison_tables as comparison_tables
    from thalweg.cli.bench_tables import result_tables as result_tables
    from thalweg.cli.comparisons import compare_table as compare_table
    from thalweg.cli.demo_comparison import compare_demo_streams as compare_demo_streams

_MODULE_OF = {
    "compare_demo_streams": "demo_comparison",
    "compare_table": "comparisons",
    "comparison_tables": "bench_tables",
    "result_tables": "bench_tables",
}

__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> Any:
    # Loaded on first use (PEP 562): a command's --help needs neither numba nor scipy.
    if name in _MODULE_OF:
        return getattr(import_module(f"thalweg.cli.{_MODULE_OF[name]}"), name)
    raise AttributeError(f"module 'thalweg.cli' has no attribute {name!r}")
