"""Every learner on one stream held in memory: errors, regret, hindsight, bounds."""

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from thalweg.errors import StreamError
from thalweg.evaluation import beside
from thalweg.evaluation.beside import PERSISTENCE, TRACKER, Advance, Beside
from thalweg.evaluation.books import RECENT
from thalweg.evaluation.contestants import LOSS
from thalweg.evaluation.digest import Curve, Digest
from thalweg.evaluation.hindsight import largest_error
from thalweg.evaluation.insight import RECORDS, Insight
from thalweg.evaluation.prequential import burn_in
from thalweg.evaluation.standardised import Standardised
from thalweg.evaluation.study import Recent, Study
from thalweg.learners.tracker import Tracker, TrackerState
from thalweg.types import Block, FloatArray, Trace

LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99)
"""Of intervals whose coverage is measured."""
NOTES = (
    "Every learner but the Tracker and persistence was given features and target "
    "standardised with the mean and deviation of all rounds, known beforehand, and a "
    "constant feature; the Tracker got the raw numbers.",
    "The paper's mixture and the rivals were also told the number of rounds, and "
    "constants of the loss on a ball that holds the comparators, as their theorems "
    "ask.",
    "Losses and regrets are sums of half squared errors over all rounds, in units of "
    "the target's variance. The moving comparator is the best path in hindsight that "
    "moves as far as the best fixed point lies from zero.",
)


def steps() -> int:
    """How many times ``compare`` will call ``advance``."""
    return 2 + len(beside.steps())


def compare(
    title: str, target: str, features: Sequence[str], x: FloatArray, y: FloatArray,
    advance: Advance = lambda _: None, delay: int = 0,
) -> Study:  # fmt: skip
    """Every learner on the stream of features (T, n) and labels (T,), none missing.

    With a ``delay`` of d rounds everyone learns the label of a round d rounds later.
    What theory allows is then not known, and hindsight is what it was. A Ctrl-C after
    the Tracker's run leaves a study of what was done by then, which says what was not.
    """
    burn_in = _burn_in(x, y, delay)
    stream = Standardised.of(x, y, delay)
    scored = np.append(np.full(burn_in, np.nan), y[burn_in:])
    advance("Tracker")
    insight = Insight(x.shape[1], delay)
    state, trace, seconds = _track(insight.tracker, x, y)
    insight.add(trace, scored)
    naive = np.append(np.zeros(delay + 1), y[: -delay - 1])
    said = {TRACKER: stream.inside(trace.prediction), PERSISTENCE: stream.inside(naive)}
    error = largest_error(state) / stream.deviation
    found = Beside(stream, scored, said, error, [], beside.steps())
    found.run(advance)
    inside, scores = insight.inside(state, features), found.scores()
    if not found.left:
        inside = replace(inside, coverage=_coverages(x, y, scored, delay))
    return Study(
        title=title,
        target=target,
        rounds=len(y),
        scored=scores.scored,
        first_scored=burn_in + 1,
        features=tuple(features),
        seconds=seconds,
        entries=scores.entries(),
        observed=_curve(y),
        forecast=_curve(trace.prediction),
        inside=inside,
        hindsight=found.hindsight,
        regrets=found.regrets,
        notes=(*NOTES, *_if_late(delay), *found.diverged, *_if_stopped(found.left)),
        recent=Recent(len(y), y[-RECENT:], trace.prediction[-RECENT:]),
        left=tuple(found.left),
    )


def _burn_in(x: FloatArray, y: FloatArray, delay: int) -> int:
    labels = burn_in(x.shape[1])
    rounds, needed = labels + delay, 2 * labels + delay
    if len(y) < needed:
        raise StreamError(
            f"A comparison needs at least {needed} rounds, {rounds} of which only "
            f"warm up. Got {len(y)} instead."
        )
    if y[rounds:].min() == y[rounds:].max():
        raise StreamError(
            f"The target is {y[-1]:g} in all rounds: there is nothing to foretell."
        )
    return rounds


def _track(
    tracker: Tracker, x: FloatArray, y: FloatArray
) -> tuple[TrackerState, Trace, float]:
    """The Tracker's last state, its trace, and the seconds it took."""
    start, block = tracker.init(np.zeros(x.shape[1])), Block(x, y)
    tracker.run(start, LOSS, block[:2], RECORDS)  # compiled by now
    began = time.perf_counter()
    state, trace = tracker.run(start, LOSS, block, RECORDS)
    return state, trace, time.perf_counter() - began


def _coverages(
    x: FloatArray, y: FloatArray, scored: FloatArray, delay: int
) -> tuple[tuple[float, float], ...]:
    """Pairs of what an interval promises and how often it held the label."""
    found, block, told = [], Block(x, y), ~np.isnan(scored)
    for level in LEVELS:
        tracker = Tracker(coverage=level, delay=delay)
        start = tracker.init(np.zeros(x.shape[1]))
        _, trace = tracker.run(start, LOSS, block, ("interval",))
        low, high = trace.extras["interval"][told].T
        found.append((level, float(((low <= y[told]) & (y[told] <= high)).mean())))
    return tuple(found)


def _if_late(delay: int) -> list[str]:
    if not delay:
        return []
    return [
        f"Labels come {delay:,} rounds late, for every learner. Theory's bounds are "
        f"for labels that come at once, so that none are shown."
    ]


def _if_stopped(left: Sequence[str]) -> list[str]:
    return [f"Stopped by Ctrl-C. Not done: {'; '.join(left)}."] if left else []


def _curve(values: FloatArray) -> Curve:
    digest = Digest()
    digest.add(values)
    return digest.curve()
