"""Naive forecasts, which need no model: benchmark methods that others have to beat.

The last value (also known as: persistence, random walk), the last value at the same
phase of the season and of the cycle (seasonal naive), the mean of all values at the
same phase (seasonal mean), and the last value with the mean step so far (drift):
Hyndman & Athanasopoulos (2021), *Forecasting: principles and practice*, section 5.2.
Horizon and delay are free: values are learnt at positions, and each forecast is of a
position, from the values that are known by then.
"""

from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from thalweg.calendar.season_finder import Seasons
from thalweg.persistence.snapshots import Component
from thalweg.rules import Array, Condition
from thalweg.types import FloatArray

IntArray = npt.NDArray[np.int64]
LAST, SEASON, CYCLE, MEAN, DRIFT = range(5)
"""The columns of the forecasts."""
MAX_SEASONS = 12
"""Limit of the number of seasons in a cycle, for means at its phases: in longer ones
each phase has too few values."""


NOT_SHORTER = Condition("1 <= len(season) <= len(cycle)", "no shorter than 'season'")
PERIOD = "mean_period(Seasons(len(season), len(cycle)))"
COUNTED = Condition(
    "((means[1] >= 0) & (means[1] == np.floor(means[1]))).all()", "means and counts"
)


class NaiveSnapshot(NamedTuple):
    """All that naive forecasts remember."""

    # (2,) position and value; NaN before there is one
    first: Annotated[FloatArray, Array((2,), may_be_nan=True)]
    # (2,) of the newest value
    last: Annotated[FloatArray, Array((2,), may_be_nan=True)]
    # (season,) the newest value at each phase
    season: Annotated[FloatArray, Array((None,), may_be_nan=True)]
    # (cycle,)
    cycle: Annotated[FloatArray, Array((None,), may_be_nan=True), NOT_SHORTER]
    # (2, p) means and counts at each phase
    means: Annotated[FloatArray, Array((2, PERIOD), may_be_nan=True), COUNTED]


def mean_period(seasons: Seasons) -> int:
    """The period of means, which no mean of the season completes: the cycle, if its
    phases are few enough to have values (the hour of the week), else the season."""
    cycle = seasons.nested_cycle
    return cycle if cycle <= MAX_SEASONS * seasons.season else seasons.season


class NaiveForecasts(Component):
    """The naive forecasts of one series with known seasons.

    Memory is that of one cycle. The result does not depend, to the last bit, on how
    values are cut into calls of ``play``.
    """

    Snapshot: ClassVar[Any] = NaiveSnapshot

    def __init__(self, seasons: Seasons) -> None:
        season, cycle = seasons
        self.first: FloatArray = np.full(2, np.nan)
        self.last: FloatArray = np.full(2, np.nan)
        self.season: FloatArray = np.full(season, np.nan)
        self.cycle: FloatArray = np.full(cycle, np.nan)
        self.means: FloatArray = np.zeros((2, mean_period(seasons)))
        self.means[0] = np.nan

    @property
    def seasons(self) -> Seasons:
        """The season and the cycle, in positions."""
        return Seasons(len(self.season), len(self.cycle))

    def play(
        self, at: IntArray, values: FloatArray, asked: IntArray, known: IntArray
    ) -> FloatArray:
        """Learn values (m,) at positions ``at``; the forecasts (Q, 5) of others.

        The forecast of the position ``asked[q]`` is made once the first ``known[q]``
        of the values are learnt. It is NaN where a method has no value of its own: none
        at that phase, or, of seasonal ones, while there is no season or no longer one.
        """
        season, cycle = self.seasons
        learnt = np.append(self.last[0], at), np.append(self.last[1], values)
        if np.isnan(self.first[1]) and len(values):
            self.first = np.array([at[0], values[0]])
        self.last = np.array([learnt[0][-1], learnt[1][-1]])
        last_at, last = learnt[0][known], learnt[1][known]
        forecasts: FloatArray = np.full((len(asked), 5), np.nan)
        forecasts[:, LAST] = last
        steps = _mean_steps(self.first, last_at, last)
        forecasts[:, DRIFT] = last + (asked - last_at) * steps
        places = at, values, asked, known
        if season > 1:
            self.season, forecasts[:, SEASON] = _newest(self.season, *places)
            running = self._running_means(at, values)
            self.means[0], forecasts[:, MEAN] = _newest(
                self.means[0], at, running, asked, known
            )
        if cycle > season:
            self.cycle, forecasts[:, CYCLE] = _newest(self.cycle, *places)
        return forecasts

    def snapshot(self) -> NaiveSnapshot:
        """All that changes; means are copied, as they are changed in place."""
        snapshot: NaiveSnapshot = super().snapshot()
        return snapshot._replace(means=snapshot.means.copy())

    def restore(self, snapshot: NaiveSnapshot, name: str = "") -> None:
        """Continue from a snapshot, which stays as it is."""
        super().restore(snapshot, name)
        self.means = self.means.copy()

    def _running_means(self, at: IntArray, values: FloatArray) -> FloatArray:
        """The mean at the phase of each value, with it; only counts are changed."""
        means, counts = self.means
        found, now = list[float](), dict[int, float]()
        for k, y in zip((at % len(means)).tolist(), values.tolist(), strict=True):
            mean = now.get(k, float(means[k])) if counts[k] else 0.0
            counts[k] += 1
            now[k] = mean + (y - mean) / float(counts[k])
            found.append(now[k])
        return np.array(found)


def complete(forecasts: FloatArray) -> FloatArray:
    """The forecasts (…, n), where a method without a value of its own repeats another:
    the season the last value, the cycle the season, and the mean the cycle."""
    forecasts = forecasts.copy()
    for column, other in ((SEASON, LAST), (CYCLE, SEASON), (MEAN, CYCLE)):
        own = forecasts[..., column]
        forecasts[..., column] = np.where(np.isnan(own), forecasts[..., other], own)
    return forecasts


def _mean_steps(first: FloatArray, at: FloatArray, values: FloatArray) -> FloatArray:
    """The mean step from the first value to each of these; 0 for the first."""
    rows = at - first[0]
    steps: FloatArray = np.zeros(len(values))
    np.divide(values - first[1], rows, out=steps, where=rows > 0)
    return steps


def _newest(
    table: FloatArray, at: IntArray, values: FloatArray, asked: IntArray,
    known: IntArray,
) -> tuple[FloatArray, FloatArray]:  # fmt: skip
    """The table of newest values after these, and those (Q,) at the phases asked.

    They are of the first ``known`` (Q,) values, or the earlier ones of the table.
    """
    period, count = len(table), len(values) + 1
    earlier = table[asked % period]
    if not len(values):
        return table, earlier
    # In order of phase, then of time: the newest value is the last one before
    # (phase, number of values known).
    keys = at % period * count + np.arange(len(values))
    order = np.argsort(keys)
    place = np.searchsorted(keys[order], asked % period * count + known) - 1
    found = order[place]
    is_newer = (place >= 0) & (at[found] % period == asked % period)
    after = table.copy()
    after[at % period] = values  # of equal phases the last stays
    return after, np.where(is_newer, values[found], earlier)
