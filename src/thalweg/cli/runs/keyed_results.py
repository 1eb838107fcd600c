"""Results of a run by key: tables for the terminal, JSON, and the page."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from rich.console import Console

from thalweg.cli.console import new_table, print_sentence
from thalweg.cli.forecasts.row_keys import Key, key_text
from thalweg.cli.runs.keyed_session import KeyedSession
from thalweg.evaluation.keyed_scores import KeyedScores, change_words, pool_scores
from thalweg.evaluation.study import Study
from thalweg.report.number_text import format_number

MAX_KEY_WIDTH = 28
"""Letters of a key in a table."""
MAX_SHOWN_KEYS = 5
"""Best and worst keys in the table."""
MAX_SHOWN_CHANGES = 5
"""Series whose changes are told in a sentence."""


def keyed_scores(session: KeyedSession) -> list[KeyedScores]:
    """The errors of each target over all keys; none where nothing was scored."""
    results = []
    for k, target in enumerate(session.recipe.targets):
        studies: dict[Key, Study] = {}
        for key, one in session.sessions.items():
            if one.scored_rounds():
                study = one.studies(key_text(key))[k]
                assert isinstance(study, Study)
                studies[key] = study
        if studies:
            unscored = len(session.sessions) - len(studies)
            results.append(pool_scores(target, studies, unscored))
    return results


def print_scores(
    console: Console, title: str, columns: Sequence[str], scores: KeyedScores
) -> None:
    """Print the learners over all series, and the best and the worst series."""
    best = scores.best_baseline
    table = new_table(
        f"{title}: {scores.target}, {scores.scored:,} rows of {len(scores.keys):,} "
        f"series scored"
    )
    table.add_column("learner", no_wrap=True, overflow="ellipsis")
    for name in ("over the best\nbaseline", "mean\nsquared", "mean\nabsolute"):
        table.add_column(name, justify="right", no_wrap=True)
    for entry in scores.entries:
        ratio = _ratio(entry.squared, best.squared)
        numbers = (format_number(entry.squared, 5), format_number(entry.absolute, 5))
        style = "bold" if entry.role == "tracker" else None
        table.add_row(entry.name, f"{ratio:.3f}", *numbers, style=style)
    console.print(table)
    console.print(_key_table(columns, scores))
    for sentence in score_sentences(scores):
        print_sentence(console, sentence, "• ")
    console.print()


def score_sentences(scores: KeyedScores) -> list[str]:
    """The result in sentences."""
    ratio = _ratio(scores.tracker.squared, scores.best_baseline.squared)
    better = sum(score.ratio < 1 for score in scores.keys)
    name, sentences = scores.best_baseline.name, []
    if np.isfinite(ratio):
        sentences.append(
            f"The Tracker's mean squared error over all series was "
            f"{_ratio_text(ratio)} of that of the best simple baseline ({name})."
        )
    else:
        sentences.append(f"The best simple baseline ({name}) makes no error.")
    if np.isfinite(scores.mean_ratio):
        sentences.append(
            f"Series by series it was {_ratio_text(scores.mean_ratio)} of that of the "
            f"best baseline of each (geometric mean), and less in {better:,} of "
            f"{len(scores.keys):,}."
        )
    if scores.unscored:
        sentences.append(f"{scores.unscored:,} series have too few rows to be scored.")
    return [*sentences, *_change_sentences(scores)]


def _change_sentences(scores: KeyedScores) -> list[str]:
    """What changed in which series, those with the latest changes first."""
    changed = [score for score in scores.keys if score.alarms]
    if not changed:
        return ["No change was seen in any series."]
    changed.sort(key=lambda score: score.alarms[-1].time or "", reverse=True)
    sentences = [
        f"{key_text(score.key)}: {change_words(score)}."
        for score in changed[:MAX_SHOWN_CHANGES]
    ]
    others = len(changed) - len(sentences)
    if others:
        sentences.append(f"Changes were seen in {others:,} other series as well.")
    return sentences


def scores_as_json(scores: KeyedScores, title: str) -> dict[str, Any]:
    """The numbers of a target, with the names that those of a single stream have."""
    best, last = scores.best_baseline.squared, scores.persistence.squared
    return {
        "title": title,
        "target": scores.target,
        "rounds": scores.rows,
        "scored_rounds": scores.scored,
        "features": list(scores.features),
        "learners": [
            {
                "name": entry.name,
                "role": entry.role,
                "squared": _finite(entry.squared),
                "absolute": _finite(entry.absolute),
                "over_persistence": _finite(_ratio(entry.squared, last)),
                "over_best_baseline": _finite(_ratio(entry.squared, best)),
            }
            for entry in scores.entries
        ],
        "best_baseline": scores.best_baseline.name,
        "over_best_baseline_of_each_key": _finite(scores.mean_ratio),
        "keys": [
            {
                "key": list(score.key),
                "rounds": score.rows,
                "scored_rounds": score.scored,
                "squared": _finite(score.squared),
                "absolute": _finite(score.absolute),
                "best_baseline": score.best_baseline,
                "over_best_baseline": _finite(score.ratio),
                "alarms": [asdict(one) for one in score.alarms],
                "alarm_count": score.alarm_count,
            }
            for score in scores.keys
        ],
        "summary": score_sentences(scores),
    }


def _key_table(columns: Sequence[str], scores: KeyedScores) -> Any:
    shown = list(scores.keys)
    title = "Series"
    if len(shown) > 2 * MAX_SHOWN_KEYS:
        shown = [*shown[:MAX_SHOWN_KEYS], *shown[-MAX_SHOWN_KEYS:]]
        title = "The best and the worst series"
    table = new_table(title)
    table.add_column(
        ", ".join(columns), no_wrap=True, overflow="ellipsis", max_width=MAX_KEY_WIDTH
    )
    for name in ("rows", "over its best\nbaseline", "mean\nsquared", "changes"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("best baseline", no_wrap=True, overflow="ellipsis")
    for k, score in enumerate(shown):
        if len(shown) < len(scores.keys) and k == MAX_SHOWN_KEYS:
            table.add_row("…")
        cells = (f"{score.rows:,}", f"{score.ratio:.3f}", format_number(score.squared))
        changes = f"{score.alarm_count:,}"
        table.add_row(key_text(score.key), *cells, changes, score.best_baseline)
    return table


def _ratio_text(ratio: float) -> str:
    """A ratio with two digits that are not 0."""
    return f"{ratio:.2f}" if ratio >= 0.095 or ratio == 0 else f"{ratio:.2g}"


def _ratio(above: float, below: float) -> float:
    if below == 0:
        return 1.0 if above == 0 else float("inf")
    return above / below


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
