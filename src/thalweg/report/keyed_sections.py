"""The overview of a run over many series, as a section of a page."""

from collections.abc import Sequence

import numpy as np

from thalweg.evaluation.keyed_scores import KeyedScores, KeyScore, change_words
from thalweg.report.number_text import format_count, format_number, format_percent
from thalweg.report.section import FoldedPart, PageTable, Section, Tile

SHOWN_KEYS = 100
"""Best and worst keys in the table, each."""


def keyed_section(
    scores: KeyedScores, columns: Sequence[str], title: str, notes: Sequence[str] = ()
) -> Section:
    """How well the values of many series were predicted."""
    typical = scores.tracker.absolute
    better = sum(score.ratio < 1 for score in scores.keys)
    ratio = float(np.sqrt(scores.mean_ratio))
    headline = (
        f"{scores.target} of {len(scores.keys):,} series, one row ahead: off by "
        f"{format_number(typical)} on average"
    )
    if np.isfinite(ratio):
        change = f"{format_percent(abs(1 - ratio))} {'below' if ratio < 1 else 'above'}"
        headline += (
            f"; the root mean squared error was {change} that of the best simple "
            f"baseline of each series"
        )
    count = f"{better:,} of {len(scores.keys):,}"
    tiles = (
        Tile("Typical error", format_number(typical), "over all rows of all series."),
        Tile("Better", count, "series with less error than their best baseline."),
        Tile("Rows", format_count(scores.rows), f"of {len(scores.keys):,} series."),
    )
    folded = [FoldedPart("learners", "All learners", table=_learner_table(scores))]
    changed = [score for score in scores.keys if score.alarms]
    if changed:
        table = _change_table(changed, columns)
        folded.insert(0, FoldedPart("changes", "Changes that were seen", table=table))
    if notes:
        folded.append(FoldedPart("notes", "Notes", items=tuple(notes)))
    table = _key_table(scores, columns)
    return Section(title, f"{headline}.", tiles, folded=tuple(folded), tables=(table,))


def _key_table(scores: KeyedScores, columns: Sequence[str]) -> PageTable:
    shown = list(scores.keys)
    caption = "Squared error over that of the best simple baseline of each series."
    if len(shown) > 2 * SHOWN_KEYS:
        shown = [*shown[:SHOWN_KEYS], *shown[-SHOWN_KEYS:]]
        caption += f" The best and the worst {SHOWN_KEYS} of {len(scores.keys):,}."
    rows = tuple(
        (
            _key_words(score),
            format_count(score.rows),
            f"{score.ratio:.3f}",
            format_number(score.absolute),
            format_count(score.alarm_count),
            score.best_baseline,
        )
        for score in shown
    )
    names = (
        ", ".join(columns), "rows", "over baseline", "typical error", "changes",
        "baseline",
    )  # fmt: skip
    return PageTable(caption, names, rows, (1, 2, 3, 4), (1, 5))


def _change_table(changed: Sequence[KeyScore], columns: Sequence[str]) -> PageTable:
    """The last and the largest change of each series, the latest first."""
    latest = sorted(changed, key=lambda one: one.alarms[-1].time or "", reverse=True)
    caption = "Rows are those of each series alone."
    if len(latest) > SHOWN_KEYS:
        caption += f" The latest {SHOWN_KEYS} of {len(latest):,} series."
    rows = tuple((_key_words(one), change_words(one)) for one in latest[:SHOWN_KEYS])
    return PageTable(caption, (", ".join(columns), "changes"), rows)


def _key_words(score: KeyScore) -> str:
    return " / ".join(cell or "(blank)" for cell in score.key)


def _learner_table(scores: KeyedScores) -> PageTable:
    best = scores.best_baseline.squared
    rows = tuple(
        (
            entry.name,
            format_number(entry.squared, 4),
            format_number(entry.absolute, 4),
            f"{entry.squared / best:.3f}" if best > 0 else "",
        )
        for entry in scores.entries
    )
    names = ("learner", "mean squared", "mean absolute", "over the best baseline")
    return PageTable("Errors over all rows of all series.", names, rows, (1, 2, 3))
