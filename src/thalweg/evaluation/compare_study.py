"""Study of a stream in memory: the Tracker, all baselines, regret, hindsight, bounds.

This is what ``thalweg compare`` shows.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from thalweg import bounds, regret
from thalweg.calendar.row_clock import as_seconds
from thalweg.calendar.time_grid import Times
from thalweg.domains import Ball
from thalweg.errors import StreamError
from thalweg.evaluation.compared_learners import (
    LOSS,
    PAPER,
    StandardisedStream,
    compared_learners,
    compared_names,
)
from thalweg.evaluation.downsampling import downsample
from thalweg.evaluation.run_record import ForecastRecord
from thalweg.evaluation.run_statistics import (
    LAST_ROUNDS,
    RECORDS,
    TRACKER,
    TrackerTrace,
)
from thalweg.evaluation.scoring import ErrorScores, LearnerInfo, interval_coverage
from thalweg.evaluation.simple_baselines import PERSISTENCE, SimpleBaselines
from thalweg.evaluation.study import Hindsight, LastRounds, Mark, RegretEntry, Study
from thalweg.evaluation.tracker_run import burn_in
from thalweg.kernels.tracker import tracker_layout as layout
from thalweg.learners.tracker import Tracker, TrackerState, interval_regret
from thalweg.types import Block, FloatArray, Trace

FRONTIER_POINTS, MIN_FRONTIER_POINTS = 24, 8
"""Path lengths for which the frontier is solved, and how many of them at least."""
FRONTIER_NUMBERS = 300_000
"""Numbers of a block, rounds times features, up to which all points are solved: each
takes a fifth of a second then. Of a larger one there are fewer."""
MAX_SEARCHED_ROUNDS = 2000
"""Rounds up to which all intervals are searched; beyond, the worst is bracketed."""


@dataclass(frozen=True, eq=False)
class Comparators:
    """What regret is measured to: a fixed point, a path, and a ball around both."""

    fixed: FloatArray  # (n,)
    path: FloatArray  # (T, n)
    domain: Ball

    @classmethod
    def from_block(cls, block: Block) -> "Comparators":
        """The path is the best that moves as far as the fixed point is from zero."""
        zero = Trace.from_predictions(np.zeros(len(block)), block, LOSS)
        fixed = regret.static(zero, block, LOSS).comparator
        path = regret.best_path(block, LOSS, float(np.linalg.norm(fixed))).theta
        farthest = np.linalg.norm(np.vstack([path, fixed]), axis=1).max()
        return cls(fixed, path, Ball(max(1.0, float(farthest))))


def regrets(
    block: Block, forecasts: Mapping[str, FloatArray], comparators: Comparators,
    with_bounds: bool = True,
) -> tuple[RegretEntry, ...]:  # fmt: skip
    """Static, dynamic and worst-interval regret of the forecasts of each learner.

    The paper's mixture has bounds, unless its labels come late.
    """
    problem = bounds.Problem.from_loss(LOSS, comparators.domain, block)
    length, rows = regret.path_length(comparators.path), []
    for name, forecast in forecasts.items():
        has_bound = with_bounds and name == PAPER.name
        trace = Trace.from_predictions(forecast, block, LOSS)
        static = regret.static(trace, block, LOSS).total
        dynamic = regret.dynamic(trace, block, LOSS, comparators.path).total
        worst = regret.adaptive(trace, block, LOSS, MAX_SEARCHED_ROUNDS).low
        rows += [
            RegretEntry(
                name, "static", static, _bound(problem, 0.0) if has_bound else None
            ),
            RegretEntry(
                name, "dynamic", dynamic, _bound(problem, length) if has_bound else None
            ),
            RegretEntry(name, "interval", worst, None),
        ]
    return tuple(rows)


def _bound(problem: bounds.Problem, path_length: float) -> float:
    return bounds.experts_newton(problem, path_length, case=3, static=True, sharp=True)


def regret_to_last_value(
    forecast: FloatArray, persistence: FloatArray, y: FloatArray, error: float | None
) -> RegretEntry:
    """The Tracker's regret to its expert "last value", on the interval that is worst.

    ``error`` is the largest of any of its experts; None where forecasts were pooled
    with a given one, for which no bound is proven. From the second round on: in the
    first no expert predicts.
    """
    own, other = (y - forecast)[1:] ** 2, (y - persistence)[1:] ** 2
    excess_loss = np.append(0.0, np.cumsum(own - other) / 2)
    last = int((excess_loss - np.minimum.accumulate(excess_loss)).argmax())
    first = int(excess_loss[: last + 1].argmin())
    bound = None
    if error is not None:
        bound = interval_regret(error, first + 1, max(last, first + 1))
    worst = float(excess_loss[last] - excess_loss[first])
    return RegretEntry("Tracker, against last value", "interval", worst, bound)


def largest_error(state: TrackerState) -> float | None:
    """The largest error that any expert of the Tracker made while it had a weight.

    None of one whose forecasts are pooled with a given one.
    """
    if state.packed[layout.EXTERNAL_FORECAST]:
        return None
    return float(np.sqrt(state.packed[layout.MAX_LOSS]))


def frontier_points(rounds: int, features: int) -> int:
    """How many points of the frontier are solved for a block of this size."""
    fitting = FRONTIER_POINTS * FRONTIER_NUMBERS // max(rounds * features, 1)
    return min(max(fitting, MIN_FRONTIER_POINTS), FRONTIER_POINTS)


def frontier(block: Block, forecasts: Mapping[str, FloatArray]) -> Hindsight:
    """The least loss for every path length; each forecast where its loss lies on it."""
    points = frontier_points(*np.shape(block.x))
    curve = regret.frontier(block, LOSS, points=points)
    marks = []
    for name, forecast in forecasts.items():
        total = float(Trace.from_predictions(forecast, block, LOSS).loss.sum())
        _, V = curve.matching_path_length(total)
        if np.isfinite(V):
            marks.append(Mark(name, V, total))
    return Hindsight(
        curve.path_length, curve.upper, curve.lower, tuple(marks), len(block)
    )


NOTES = (
    "Every learner but the Tracker and the simple baselines was given features and "
    "target standardised with the mean and deviation of all rounds, known beforehand, "
    "and a constant feature; the Tracker got the raw numbers.",
    "The paper's mixture and the rivals also knew the number of rounds, and constants "
    "of the loss on a ball that holds the comparators, as their theorems ask.",
    "Losses and regrets are sums of half squared errors over all rounds, in units of "
    "the target's variance. The moving comparator is the best path in hindsight that "
    "moves as far as the best fixed point lies from zero.",
)
REGRET, FRONTIER = "regret", "the frontier"
MAX_DEVIATIONS = 1e4
"""Limit of a forecast's error, in deviations: beyond it a learner has diverged, and is
left out."""
MEASURED_ROLES = ("tracker", "fixed", "paper", "persistence")
"""Regret is measured of the best learner of each of these roles."""
Announce = Callable[[str], None]
"""Called before every piece of work with the name of what is to be done."""


def study_with_baselines(
    title: str, target: str, features: Sequence[str], x: FloatArray, y: FloatArray,
    announce: Announce = lambda _: None, delay: int = 0, times: Times | None = None,
    external_forecast: int | None = None,
) -> Study:  # fmt: skip
    """Run every learner on the features (T, n) and labels (T,), none missing.

    With a ``delay`` of d rounds everyone learns the label of a round d rounds later.
    There are no bounds then, and the comparators in hindsight stay the same. A Ctrl-C
    after the Tracker's run leaves a study of what was done by then, which names what
    was not. ``announce`` is called ``announcement_count()`` times. Seasonal baselines
    use the local ``times`` (T,), if given. ``external_forecast`` is the index of a
    feature that is itself a forecast of the label: the Tracker pools its forecast with
    it.
    """
    burn_in, block = _burn_in(x, y, delay), Block(x, y)
    scored_labels = np.append(np.full(burn_in, np.nan), y[burn_in:])
    announce("Tracker")
    start = _tracker_start(block, delay, external_forecast)
    result = _run_tracker(block, scored_labels, delay, start)
    comparison = _start_comparison(block, scored_labels, delay, result, times)
    comparison.run(announce)
    scores, forecast = comparison.scores(), result.trace.prediction
    coverage = interval_coverage(result.trace, scored_labels)
    history = result.tracker_trace.history(result.state, features)
    record = _forecast_record(block, result.trace, scored_labels, times)
    return Study(
        title=title,
        target=target,
        rounds=len(y),
        scored_rounds=scores.scored_rounds(),
        first_scored_round=burn_in + 1,
        features=tuple(features),
        seconds=result.seconds,
        entries=scores.entries(),
        observed=downsample(y),
        forecast=downsample(forecast),
        history=replace(history, coverage=coverage),
        hindsight=comparison.hindsight,
        regrets=comparison.regrets,
        notes=(*NOTES, *_delay_notes(delay), *comparison.divergence_notes),
        last_rounds=_last_rounds(y, result.trace, times),
        unfinished=tuple(comparison.unfinished),
        **record.study_fields(Tracker().coverage, features),
    )


def _forecast_record(
    block: Block, trace: Trace, scored_labels: FloatArray, times: Times | None
) -> ForecastRecord:
    """Times, bands, residuals and effects of the Tracker's forecasts."""
    x, y = np.asarray(block.x), np.asarray(block.y)
    record = ForecastRecord(x.shape[1])
    record.add(x, y, trace, scored_labels, as_seconds(times, len(y)))
    return record


def _last_rounds(y: FloatArray, trace: Trace, times: Times | None) -> LastRounds:
    """The last rounds one by one."""
    last = slice(-LAST_ROUNDS, None)
    band = np.asarray(trace.extras["interval"])[last]
    low, high = np.where(np.isfinite(band).all(axis=1), band.T, np.nan)
    seconds = None if times is None else as_seconds(times, len(y))[last]
    return LastRounds(len(y), y[last], trace.prediction[last], low, high, seconds)


def announcement_count() -> int:
    """How many times ``study_with_baselines`` will call ``announce``."""
    return 2 + len(comparison_steps())


def comparison_steps() -> list[str]:
    """The pieces of work in ``Comparison.run``, in order, after the comparators."""
    return [*compared_names(), REGRET, FRONTIER]


class TrackerResult(NamedTuple):
    """The Tracker's run over a whole stream."""

    tracker_trace: TrackerTrace
    state: TrackerState
    trace: Trace
    seconds: float  # that it took


@dataclass
class Comparison:
    """Forecasts of all learners, their regret, and the frontier of hindsight."""

    stream: StandardisedStream  # the rounds in units of their deviation
    scored_labels: FloatArray  # (T,) NaN where they are not scored
    forecasts: dict[LearnerInfo, FloatArray]  # Tracker and simple ones from the start
    largest_error: float | None  # of any expert of the Tracker, in deviations
    divergence_notes: list[str]
    unfinished: list[str]  # what is still to be done
    regrets: tuple[RegretEntry, ...] = ()
    hindsight: Hindsight | None = None

    def run(self, announce: Announce) -> None:
        """Do all of it, or as much as there is time for until a Ctrl-C."""
        try:
            announce("the best in hindsight")
            comparators = Comparators.from_block(self.stream.block)
            self._forecast(comparators, announce)
            announce(REGRET)
            self.regrets = self._regrets(comparators)
            self.unfinished.remove(REGRET)
            announce(FRONTIER)
            self.hindsight = frontier(self.stream.block, self._forecasts_by_name())
            self.unfinished.remove(FRONTIER)
        except KeyboardInterrupt:
            return

    def scores(self) -> ErrorScores:
        """The errors of all that have forecasts."""
        scores = ErrorScores(tuple(self.forecasts))
        forecasts = np.column_stack(list(self.forecasts.values()))
        scores.add(self.stream.restore_units(forecasts), self.scored_labels)
        return scores

    def _forecast(self, comparators: Comparators, announce: Announce) -> None:
        """Run all baselines; those that diverge get a note instead."""
        block, delay = self.stream.block, self.stream.delay
        for info, forecast in compared_learners(block, comparators.domain):
            announce(info.name)
            prediction = forecast(block, delay)
            if np.abs(prediction).max() <= MAX_DEVIATIONS:  # false for NaN as well
                self.forecasts[info] = prediction
            else:
                note = f"{info.name} diverged and is left out."
                self.divergence_notes.append(note)
            self.unfinished.remove(info.name)

    def _regrets(self, comparators: Comparators) -> tuple[RegretEntry, ...]:
        """The regret of the best of each role; bounds where labels come at once."""
        block, is_delayed = self.stream.block, self.stream.delay > 0
        by_name = self._forecasts_by_name()
        forecasts = {name: by_name[name] for name in _best_of_roles(self.scores())}
        rows = regrets(block, forecasts, comparators, with_bounds=not is_delayed)
        if is_delayed:
            return rows
        pair = self.forecasts[TRACKER], self.forecasts[PERSISTENCE]
        return (*rows, regret_to_last_value(*pair, block.y, self.largest_error))

    def _forecasts_by_name(self) -> dict[str, FloatArray]:
        return {info.name: forecast for info, forecast in self.forecasts.items()}


def _best_of_roles(scores: ErrorScores) -> list[str]:
    entries = sorted(scores.entries(), key=lambda entry: entry.squared)
    best = {entry.role: entry.name for entry in reversed(entries)}
    return [best[role] for role in MEASURED_ROLES if role in best]


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
            f"The target is {y[-1]:g} in all rounds: there is nothing to predict."
        )
    return rounds


def _tracker_start(block: Block, delay: int, given: int | None) -> TrackerState:
    """The Tracker's state before the first row."""
    tracker = Tracker(delay=delay)
    start = tracker.init(np.zeros(np.shape(block.x)[1]))
    return start if given is None else tracker.with_external_forecast(start, (given,))


def _run_tracker(
    block: Block, scored_labels: FloatArray, delay: int, start: TrackerState
) -> TrackerResult:
    """The Tracker's run, timed after two rounds that compile it."""
    tracker = Tracker(delay=delay)
    tracker_trace, records = (
        TrackerTrace(tracker, len(start.theta)),
        (*RECORDS, "intervals"),
    )
    tracker.run(start, LOSS, block[:2], records)
    began = time.perf_counter()
    state, trace = tracker.run(start, LOSS, block, records)
    seconds = time.perf_counter() - began
    tracker_trace.add(trace, scored_labels)
    return TrackerResult(tracker_trace, state, trace, seconds)


def _start_comparison(
    block: Block, scored_labels: FloatArray, delay: int, result: TrackerResult,
    times: Times | None,
) -> Comparison:  # fmt: skip
    """All that is to be run beside the Tracker."""
    stream = StandardisedStream.from_rounds(block.x, block.y, delay)
    y = np.asarray(block.y)
    simple = SimpleBaselines(delay)
    simple_forecasts = simple.play(y, times=times).T
    raw = {TRACKER: result.trace.prediction}
    for info, forecast in zip(simple.display_infos(), simple_forecasts, strict=True):
        if info is not None:
            raw[info] = forecast
    forecasts = {
        info: stream.standardise(np.nan_to_num(forecast))
        for info, forecast in raw.items()
    }
    error = largest_error(result.state)
    if error is not None:
        error /= stream.deviation
    return Comparison(stream, scored_labels, forecasts, error, [], comparison_steps())


def _delay_notes(delay: int) -> list[str]:
    if not delay:
        return []
    return [
        f"Labels come {delay:,} rounds late, for every learner. Theory's bounds are "
        f"for labels that come at once, so that none are shown."
    ]
