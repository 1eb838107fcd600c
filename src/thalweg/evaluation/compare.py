"""Every learner on one stream held in memory: errors, regret, hindsight, bounds."""

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

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
from thalweg.evaluation.study import Inside, Recent, Study
from thalweg.learners.tracker import TrackerState
from thalweg.types import Block, FloatArray, Trace

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


class Tracked(NamedTuple):
    """The Tracker's run."""

    insight: Insight
    state: TrackerState
    trace: Trace
    seconds: float  # that it took


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
    burn_in, block = _burn_in(x, y, delay), Block(x, y)
    scored = np.append(np.full(burn_in, np.nan), y[burn_in:])
    advance("Tracker")
    tracked = _tracked(block, scored, delay)
    found = _beside(block, scored, delay, tracked)
    found.run(advance)
    scores, forecast = found.scores(), tracked.trace.prediction
    return Study(
        title=title,
        target=target,
        rounds=len(y),
        scored=scores.scored,
        first_scored=burn_in + 1,
        features=tuple(features),
        seconds=tracked.seconds,
        entries=scores.entries(),
        observed=_curve(y),
        forecast=_curve(forecast),
        inside=_inside(tracked, found, features),
        hindsight=found.hindsight,
        regrets=found.regrets,
        notes=(*NOTES, *_if_late(delay), *found.diverged),
        recent=Recent(len(y), y[-RECENT:], forecast[-RECENT:]),
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


def _tracked(block: Block, scored: FloatArray, delay: int) -> Tracked:
    """The Tracker's run, of which only the rounds are timed: it is compiled by then."""
    features = np.shape(block.x)[1]
    insight = Insight(features, delay)
    tracker, start = insight.tracker, insight.tracker.init(np.zeros(features))
    tracker.run(start, LOSS, block[:2], RECORDS)
    began = time.perf_counter()
    state, trace = tracker.run(start, LOSS, block, RECORDS)
    seconds = time.perf_counter() - began
    insight.add(trace, scored)
    return Tracked(insight, state, trace, seconds)


def _beside(block: Block, scored: FloatArray, delay: int, tracked: Tracked) -> Beside:
    """All that is to be run beside the Tracker."""
    stream = Standardised.of(block.x, block.y, delay)
    naive = np.append(np.zeros(delay + 1), block.y[: -delay - 1])
    said = {
        TRACKER: stream.inside(tracked.trace.prediction),
        PERSISTENCE: stream.inside(naive),
    }
    error = largest_error(tracked.state) / stream.deviation
    return Beside(block, stream, scored, said, error, [], beside.steps())


def _inside(tracked: Tracked, found: Beside, features: Sequence[str]) -> Inside:
    inside = tracked.insight.inside(tracked.state, features)
    return replace(inside, coverage=found.coverage) if found.coverage else inside


def _if_late(delay: int) -> list[str]:
    if not delay:
        return []
    return [
        f"Labels come {delay:,} rounds late, for every learner. Theory's bounds are "
        f"for labels that come at once, so that none are shown."
    ]


def _curve(values: FloatArray) -> Curve:
    digest = Digest()
    digest.add(values)
    return digest.curve()
