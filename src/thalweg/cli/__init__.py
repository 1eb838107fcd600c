"""The command line: one module per command, which holds its options and its help.

The work of a command is imported when the command runs, not when its help is shown.
"""

from typing import TYPE_CHECKING

from thalweg.lazy import lazy_exports

if TYPE_CHECKING:
    from thalweg.cli.bench_tables import comparison_tables as comparison_tables
    from thalweg.cli.bench_tables import result_tables as result_tables
    from thalweg.cli.comparisons import compare_table as compare_table
    from thalweg.cli.demo_comparison import compare_demo_streams as compare_demo_streams
    from thalweg.cli.learner_option import parse_learner as parse_learner

_MODULE_OF = {
    "compare_demo_streams": "demo_comparison",
    "compare_table": "comparisons",
    "comparison_tables": "bench_tables",
    "parse_learner": "learner_option",
    "result_tables": "bench_tables",
}

__all__ = sorted(_MODULE_OF)

# A command's --help needs neither numba nor scipy.
__getattr__ = lazy_exports(__name__, _MODULE_OF)
