"""The overview of a run over many series, as a section of a page."""

from collections.abc import Sequence

import numpy as np

from thalweg.evaluation.keyed_scores import KeyedScores, KeyScore, change_words
from thalweg.report.error_comparison import gain_clause
from thalweg.report.number_text import format_count, format_number
from thalweg.report.section import FoldedPart, PageTable, Section, Tile

SHOWN_KEYS, LISTED_KEYS = 10, 100
"""Best and worst keys, each, in the table that is read first and in the folded one."""


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
        gain = gain_clause(ratio, "the best simple method of each series")
        headline += f"; by squared errors, in which large ones count more, {gain}"
    count = f"{better:,} of {len(scores.keys):,}"
    tiles = (
        Tile("Typical error", format_number(typical), "over all rows of all series."),
        Tile(
            "Better",
            count,
            "series with less squared error than their best simple method.",
        ),
        Tile("Rows", format_count(scores.rows), f"of {len(scores.keys):,} series."),
    )
    folded = [
        FoldedPart(
            "series", "All series", table=_key_table(scores, columns, LISTED_KEYS)
        ),
        FoldedPart("learners", "All learners", table=_learner_table(scores)),
    ]
    changed = [score for score in scores.keys if score.alarms]
    if changed:
        table = _change_table(changed, columns)
        folded.insert(0, FoldedPart("changes", "Changes that were seen", table=table))
    if notes:
        folded.append(FoldedPart("notes", "Notes", items=tuple(notes)))
    return Section(
        title=title,
        headline=f"{headline}.",
        tiles=tiles,
        folded=tuple(folded),
        tables=(_key_table(scores, columns, SHOWN_KEYS),),
        is_overview=True,
    )


def _key_table(scores: KeyedScores, columns: Sequence[str], each: int) -> PageTable:
    """So many of the best and of the worst keys."""
    shown = list(scores.keys)
    caption = "Squared error over that of the best simple method of each series."
    if len(shown) > 2 * each:
        shown = [*shown[:each], *shown[-each:]]
        caption += f" The best and the worst {each} of {len(scores.keys):,}."
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
