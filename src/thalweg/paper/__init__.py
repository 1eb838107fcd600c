"""The theorems of Yuan & Lamperski (2020) as experiments: claims, streams, rivals.

``reproduce`` measures all of them; ``sweep`` evaluates any learners on any streams.
"""

from typing import TYPE_CHECKING

from thalweg.lazy import lazy_exports

if TYPE_CHECKING:
    from thalweg.paper.claim_result import ClaimResult as ClaimResult
    from thalweg.paper.claims_table import coverage_sentence as coverage_sentence
    from thalweg.paper.claims_table import csv_table as csv_table
    from thalweg.paper.claims_table import markdown_table as markdown_table
    from thalweg.paper.paper_figures import save_figures as save_figures
    from thalweg.paper.reproduction import Reproduction as Reproduction
    from thalweg.paper.reproduction import count_steps as count_steps
    from thalweg.paper.reproduction import reproduce as reproduce
    from thalweg.paper.sweeps import SweepResult as SweepResult
    from thalweg.paper.sweeps import sweep as sweep
    from thalweg.paper.terminal_tables import print_reproduction as print_reproduction

# `thalweg reproduce --help` needs no scipy.
__getattr__, __all__ = lazy_exports(__name__)
