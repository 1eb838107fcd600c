"""Every learner on one stream held in memory: errors, regret, hindsight, bounds."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from thalweg.errors import StreamError
from thalweg.evaluation.contestants import LOSS, contestants, how_many
from thalweg.evaluation.digest import Curve, Digest
from thalweg.evaluation.hindsight import (
    Comparators,
    frontier,
    largest_error,
    regrets,
    to_its_expert,
)
from thalweg.evaluation.insight import RECORDS, Insight
from thalweg.evaluation.prequential import RECENT, burn_in
from thalweg.evaluation.scores import Player, Scores
from thalweg.evaluation.study import Recent, Study
from thalweg.learners.tracker import Tracker, TrackerState
from thalweg.types import Block, FloatArray, Trace

TRACKER = Player("Tracker", "tracker")
PERSISTENCE = Player("persistence", "persistence")
DIVERGED = 1e4
"""A forecast so many deviations off: a learner that makes one is left out."""
LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99)
"""Of intervals whose coverage is measured."""
MEASURED = ("tracker", "fixed", "paper", "persistence")
"""Roles whose regret is measured: of the best player of each."""
Advance = Callable[[str], None]
"""Called before every piece of work with a word on what is to be done."""
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


@dataclass(frozen=True, eq=False)
class Standardised:
    """A stream in units of its own mean and deviation, with a constant feature."""

    block: Block
    mean: float
    deviation: float

    @classmethod
    def of(cls, x: FloatArray, y: FloatArray) -> "Standardised":
        """The stream (x, y)."""
        spread, mean, deviation = x.std(axis=0), float(y.mean()), float(y.std())
        scaled = (x - x.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        rows = np.column_stack([scaled, np.ones(len(y))])
        return cls(Block(rows, (y - mean) / deviation), mean, deviation)

    def inside(self, raw: FloatArray) -> FloatArray:
        """Forecasts (T,) in its units; in the first round all say the mean."""
        return np.append(0.0, (raw[1:] - self.mean) / self.deviation)

    def outside(self, said: FloatArray) -> FloatArray:
        """Forecasts in the target's own units."""
        return self.mean + self.deviation * said


def steps() -> int:
    """How many times ``compare`` will call ``advance``."""
    return how_many() + 4


def compare(
    title: str, target: str, features: Sequence[str], x: FloatArray, y: FloatArray,
    advance: Advance = lambda _: None,
) -> Study:  # fmt: skip
    """Every learner on the stream of features (T, n) and labels (T,), none missing."""
    burn_in = _burn_in(x, y)
    stream = Standardised.of(x, y)
    scored = np.append(np.full(burn_in, np.nan), y[burn_in:])
    advance("Tracker")
    insight = Insight(x.shape[1])
    state, trace, seconds = _track(insight.tracker, x, y)
    insight.add(trace, scored)
    naive = np.append(0.0, y[:-1])
    said = {TRACKER: stream.inside(trace.prediction), PERSISTENCE: stream.inside(naive)}
    advance("the best in hindsight")
    comparators = Comparators.of(stream.block)
    others, diverged = _others(stream.block, comparators, advance)
    said |= others
    scores = Scores(tuple(said))
    scores.add(stream.outside(np.column_stack(list(said.values()))), scored)
    advance("regret")
    named = {player.name: forecast for player, forecast in said.items()}
    measured = {name: named[name] for name in _best_of_each(scores)}
    pair, error = (said[TRACKER], said[PERSISTENCE]), largest_error(state)
    own = to_its_expert(*pair, stream.block.y, error / stream.deviation)
    lost = (*regrets(stream.block, measured, comparators), own)
    advance("the frontier")
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
        inside=replace(
            insight.inside(state, features), coverage=_coverages(x, y, scored)
        ),
        hindsight=frontier(stream.block, named),
        regrets=lost,
        notes=(*NOTES, *diverged),
        recent=Recent(len(y), y[-RECENT:], trace.prediction[-RECENT:]),
    )


def _burn_in(x: FloatArray, y: FloatArray) -> int:
    rounds = burn_in(x.shape[1])
    if len(y) < 2 * rounds:
        raise StreamError(
            f"A comparison needs at least {2 * rounds} rounds, {rounds} of which only "
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
    x: FloatArray, y: FloatArray, scored: FloatArray
) -> tuple[tuple[float, float], ...]:
    """Pairs of what an interval promises and how often it held the label."""
    found, block, told = [], Block(x, y), ~np.isnan(scored)
    for level in LEVELS:
        tracker = Tracker(coverage=level)
        start = tracker.init(np.zeros(x.shape[1]))
        _, trace = tracker.run(start, LOSS, block, ("interval",))
        low, high = trace.extras["interval"][told].T
        found.append((level, float(((low <= y[told]) & (y[told] <= high)).mean())))
    return tuple(found)


def _others(
    block: Block, comparators: Comparators, advance: Advance
) -> tuple[dict[Player, FloatArray], list[str]]:
    """The forecasts of all contestants, and a word on those that have none to show."""
    said, diverged = {}, []
    for player, forecast in contestants(block, comparators.domain):
        advance(player.name)
        found = forecast(block)
        if np.abs(found).max() <= DIVERGED:  # nor where it is NaN
            said[player] = found
        else:
            diverged.append(f"{player.name} diverged and is left out.")
    return said, diverged


def _best_of_each(scores: Scores) -> list[str]:
    entries = sorted(scores.entries(), key=lambda entry: entry.squared)
    best = {entry.role: entry.name for entry in reversed(entries)}
    return [best[role] for role in MEASURED if role in best]


def _curve(values: FloatArray) -> Curve:
    digest = Digest()
    digest.add(values)
    return digest.curve()
