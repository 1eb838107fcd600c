"""Study of a stream in memory: the Tracker, all baselines, regret, hindsight, bounds.

This is what ``thalweg compare`` shows.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from thalweg.calendar.row_clock import as_seconds
from thalweg.calendar.time_grid import Times
from thalweg.errors import StreamError
from thalweg.evaluation.baselines import (
    LOSS,
    StandardisedStream,
    baseline_names,
    baselines,
)
from thalweg.evaluation.downsampling import downsample
from thalweg.evaluation.forecast_record import ForecastRecord
from thalweg.evaluation.hindsight import (
    Comparators,
    frontier,
    largest_error,
    regret_to_last_value,
    regrets,
)
from thalweg.evaluation.scoring import ErrorScores, LearnerInfo, interval_coverage
from thalweg.evaluation.simple_baselines import PERSISTENCE, SimpleBaselines
from thalweg.evaluation.statistics import LAST_ROUNDS, TRACKER
from thalweg.evaluation.study import Hindsight, LastRounds, RegretEntry, Study
from thalweg.evaluation.tracker_run import burn_in
from thalweg.evaluation.tracker_trace import RECORDS, TrackerTrace
from thalweg.learners.tracker import Tracker, TrackerState
from thalweg.types import Block, FloatArray, Trace

NOTES = (
    "Every learner but the Tracker and the simple baselines was given features and "
    "target standardised with the mean and deviation of all rounds, known beforehand, "
    "and a constant feature; the Tracker got the raw numbers.",
    "The paper's mixture and the rivals were also told the number of rounds, and "
    "constants of the loss on a ball that holds the comparators, as their theorems "
    "ask.",
    "Losses and regrets are sums of half squared errors over all rounds, in units of "
    "the target's variance. The moving comparator is the best path in hindsight that "
    "moves as far as the best fixed point lies from zero.",
)
REGRET, FRONTIER = "regret", "the frontier"
MAX_DEVIATIONS = 1e4
"""A learner with a forecast so many deviations off has diverged and is left out."""
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
        times=record.times.curve() if record.times.count() else None,
        bands=record.bands(Tracker().coverage),
        residuals=record.residuals.histogram(),
        effects=record.effects.effects(features),
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
    return [*baseline_names(), REGRET, FRONTIER]


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
        for info, forecast in baselines(block, comparators.domain):
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
