"""Tables and sentences on many series, which are ranked by their errors."""

from collections.abc import Callable, Sequence
from typing import Any

from thalweg.report.number_text import count_of
from thalweg.report.section import Column, ResultTable, Tile, best_and_worst
from thalweg.tables.row_keys import key_text

SHORT_EACH, LISTED_EACH = 5, 100
"""Number of best and of worst series where space is short, and in the whole table."""


def ranking_table(
    title: str, keys: Sequence[str], columns: Sequence[Column], ranking: Sequence[Any],
    cells: Callable[[Any], tuple[Any, ...]], caption: str,
) -> ResultTable:  # fmt: skip
    """A row for each series, the best one first; of many the best and the worst.

    ``keys`` are the columns that tell series apart; ``cells`` gives all other cells.
    """
    shown = [*ranking]
    if len(ranking) > 2 * LISTED_EACH:
        shown = [*ranking[:LISTED_EACH], *ranking[-LISTED_EACH:]]
        caption += f" The best and the worst {LISTED_EACH} of {len(ranking):,} are "
        caption += "listed."
    return ResultTable(
        title=title,
        columns=(Column(", ".join(keys)), *columns),
        rows=tuple((key_text(one.key), *cells(one)) for one in shown),
        caption=caption,
        short=best_and_worst(len(shown), SHORT_EACH),
        short_note="the best and the worst",
    ).without_empty_columns()


def better_tile(ratios: Sequence[float], error: str, rival: str) -> Tile:
    """In how many series an error is less than that of the best simple method."""
    better = sum(ratio < 1 for ratio in ratios)
    text = f"Series with {error} than their best simple {rival}."
    return Tile("Better", f"{better:,} of {len(ratios):,}", text)


def rows_tile(rows: int, series: int) -> Tile:
    """How many rows there were."""
    return Tile("Rows", f"{rows:,}", f"In {series:,} series.")


def unscored_sentences(count: int, what: str = "to be scored") -> tuple[str, ...]:
    """How many series have too few rows, if any."""
    if not count:
        return ()
    return (f"{count_of(count, 'series has', 'series have')} too few rows {what}.",)
