"""Simple baselines: forecasts of one line that a learner has to beat.

Also known as: benchmark methods, naive methods. Beside persistence these are seasonal
naive (the value a season ago), drift (the last value and the mean step so far) and the
seasonal mean (of all values at the same position of the season): Hyndman &
Athanasopoulos (2021), *Forecasting: principles and practice*, section 5.2.
"""

from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from thalweg.evaluation.period_words import ago_words, position_words
from thalweg.evaluation.scoring import LearnerInfo
from thalweg.evaluation.stream_seasons import (
    GRID_ROWS,
    StreamSeasons,
    StreamSeasonsSnapshot,
    as_seconds,
)
from thalweg.persistence.snapshots import Array, Component, Condition, Number
from thalweg.preprocessing.delayed_labels import DelayedLabels, DelayedLabelsState
from thalweg.preprocessing.time_grid import Times
from thalweg.types import FloatArray

IntArray = npt.NDArray[np.int64]
PERSISTENCE_WORDS = "repeating the last value"
"""What persistence does, after "what … gives"."""
SEASON, CYCLE, DRIFT, PROFILE = range(4)
"""The columns of the forecasts."""
INFOS = (
    LearnerInfo("seasonal naive", "baseline"),
    LearnerInfo("seasonal naive (cycle)", "baseline"),
    LearnerInfo("drift", "baseline"),
    LearnerInfo("seasonal mean", "baseline"),
)
"""The baselines in order of columns; those shown get the lengths of their periods."""


class SimpleBaselinesSnapshot(NamedTuple):
    """All that changes in the simple baselines."""

    seasons: StreamSeasonsSnapshot
    delayed_rows: DelayedLabelsState  # number and time of rows whose labels are to come
    clock: float  # rows that have passed
    first_label: FloatArray  # (2,) position and value; NaN before there is one
    last_label: FloatArray  # (2,) of the newest label known
    last_season: FloatArray  # (season,) the newest value at each position
    last_cycle: FloatArray  # (cycle,)
    profile: FloatArray  # (2, profile_period) means and counts


class SimpleBaselines(Component):
    """Seasonal naive, of the season and of the cycle, drift and the seasonal mean.

    All forecast each row from the labels known by then, with a ``delay`` as well:
    seasonal naive says the newest value known at the same position of the season.
    Before it knows one, and while no season is known, it says what persistence says;
    so does the seasonal mean. Memory is that of one cycle, at most 20,160 rows. The
    result does not depend on how rows are cut into calls of ``play``.
    """

    Snapshot: ClassVar[Any] = SimpleBaselinesSnapshot

    def __init__(self, delay: int = 0) -> None:
        self.delay = delay
        self.seasons = StreamSeasons()
        self.delayed_rows = DelayedLabels(delay, 2)
        self.clock = 0.0
        self._forget()

    def play(
        self, y: FloatArray, elapsed: FloatArray | None = None,
        times: Times | None = None,
    ) -> FloatArray:  # fmt: skip
        """The forecasts (T, 4) of the next rows; labels y (T,) are NaN where unknown.

        ``elapsed`` (T,) is 0 for a row that only asks, 1 if not given; ``times`` (T,)
        are local times. Forecasts are NaN before the first label is known.
        """
        elapsed = np.ones(len(y)) if elapsed is None else elapsed
        early = max(GRID_ROWS - self.seasons.rounds, 0) or len(y)
        parts = [
            self._play_part(
                y[rows], elapsed[rows], None if times is None else times[rows]
            )
            for rows in (slice(early), slice(early, None))
        ]
        return np.vstack(parts)

    def _play_part(
        self, y: FloatArray, elapsed: FloatArray, times: Times | None
    ) -> FloatArray:
        """``play``, of rows that all come before the grid of times is looked for, or
        all after it."""
        stops = self.seasons.stops(len(y), self.delay)
        if 0 in stops:
            self._search_seasons()
        after = self.clock + np.cumsum(elapsed)
        numbers = np.append(self.clock, after[:-1])[: len(y)]
        seconds = self.seasons.fill_times(as_seconds(times, len(y)))
        rows = np.column_stack([numbers, seconds])
        due = self.delayed_rows.push(rows, y)
        early = len(y) - _due_rows(self.seasons.rounds, len(y), self.delay)
        forecasts: FloatArray = np.empty((len(y), len(INFOS)))
        inner = [stop for stop in stops if stop]
        for start, end in zip([0, *inner], [*inner, len(y)], strict=True):
            if start:
                self._search_seasons()
            forecasts[start:end] = self._forecast(
                rows[start:end], due.x[start:end], due.y[start:end]
            )
            first = max(start, early)  # before it no row is due
            labels = np.column_stack([due.x[first:end], due.y[first:end]])
            self.seasons.add_labels(labels)
            self.seasons.add_rows(rows[start:end, 1])
        self.clock = float(after[-1]) if len(y) else self.clock
        return forecasts

    def display_infos(self) -> tuple[LearnerInfo | None, ...]:
        """The baselines by column as tables call them; None where there is no season.

        Seasonal ones are shown once labels of more than a period are known.
        """
        seasons, drift = self.seasons, INFOS[DRIFT]
        season, cycle, profile = seasons.season, seasons.cycle, seasons.profile_period
        grid, span = seasons.grid(), self.last_label[0] - self.first_label[0]
        shown: list[LearnerInfo | None] = [None] * len(INFOS)
        shown[DRIFT] = drift._replace(
            description="going on from the last value by the mean step so far"
        )
        for column, period in ((SEASON, season), (CYCLE, cycle)):
            if 1 < period <= span and (column == SEASON or cycle != season):
                rows = seasons.rows_of(period)
                shown[column] = LearnerInfo(
                    f"seasonal naive ({rows:,} rows)", "baseline",
                    description=f"repeating {ago_words(grid, rows)}",
                )  # fmt: skip
        if 1 < profile <= span:
            rows = seasons.rows_of(profile)
            shown[PROFILE] = LearnerInfo(
                f"seasonal mean ({rows:,} rows)", "baseline",
                description=f"the mean so far of {position_words(grid, rows)}",
            )  # fmt: skip
        return tuple(shown)

    def snapshot(self) -> SimpleBaselinesSnapshot:
        """All that changes; tables are copied, as they are changed in place."""
        snapshot: SimpleBaselinesSnapshot = super().snapshot()
        names = ("first_label", "last_label", "last_season", "last_cycle", "profile")
        copies = {name: getattr(snapshot, name).copy() for name in names}
        return snapshot._replace(**copies)

    def restore(self, snapshot: SimpleBaselinesSnapshot, name: str = "") -> None:
        """Continue from a snapshot, which stays as it is."""
        super().restore(snapshot, name)
        for field in ("first_label", "last_label", "last_season", "last_cycle",
                      "profile"):  # fmt: skip
            setattr(self, field, getattr(self, field).copy())

    def rules(self, snapshot: SimpleBaselinesSnapshot) -> Iterator[tuple[str, Any]]:
        """Tables are as long as the periods of the seasons."""
        seasons = snapshot.seasons
        probe = StreamSeasons()
        probe.restore(seasons, "seasons")
        pending = min(seasons.rounds, self.delay)
        numbers = Array((pending,), may_be_nan=True)
        yield (
            "delayed_rows",
            {
                "x": Array((pending, 2), may_be_nan=True),
                "y": numbers,
                "weight": numbers,
                "elapsed": Array((pending,)),
            },
        )
        yield "clock", Number(0.0)
        for field in ("first_label", "last_label"):
            yield field, Array((2,), may_be_nan=True)
        yield "last_season", Array((seasons.season,), may_be_nan=True)
        yield "last_cycle", Array((seasons.cycle,), may_be_nan=True)
        yield "profile", Array((2, probe.profile_period), may_be_nan=True)
        counts = snapshot.profile[1]
        is_count = ((counts >= 0) & (counts == np.floor(counts))).all()
        yield "profile", Condition(is_count, "means and whole counts")

    def _forget(self) -> None:
        seasons = self.seasons
        self.first_label: FloatArray = np.full(2, np.nan)
        self.last_label: FloatArray = np.full(2, np.nan)
        self.last_season: FloatArray = np.full(seasons.season, np.nan)
        self.last_cycle: FloatArray = np.full(seasons.cycle, np.nan)
        self.profile: FloatArray = np.zeros((2, seasons.profile_period))
        self.profile[0] = np.nan

    def _search_seasons(self) -> None:
        if self.seasons.search():
            self._replay()
        self.seasons.drop_history()

    def _replay(self) -> None:
        """Start anew with other seasons, from all labels known so far."""
        self._forget()
        history = self.seasons.history
        self._forecast(history[:, :2], history[:, :2], history[:, 2])

    def _forecast(
        self, rows: FloatArray, due_rows: FloatArray, due_labels: FloatArray
    ) -> FloatArray:
        """Forecasts of rows, (T, 2), after each of which a label is learnt."""
        has_label = np.flatnonzero(~np.isnan(due_labels))
        at = self.seasons.positions(rows).astype(np.int64)
        learnt_at = self.seasons.positions(due_rows[has_label]).astype(np.int64)
        labels = due_labels[has_label]
        last_at, last = self._last_labels(learnt_at, labels)
        learnt = np.searchsorted(has_label, np.arange(len(at)))  # labels before each
        last_at, last = last_at[learnt], last[learnt]
        forecasts = np.repeat(last[:, None], len(INFOS), axis=1)
        forecasts[:, DRIFT] += (at - last_at) * self._mean_steps(last_at, last)
        if self.seasons.season == 1:
            return forecasts
        means = self._add_to_profile(learnt_at, labels)
        for column, table, values in (
            (SEASON, self.last_season, labels),
            (CYCLE, self.last_cycle, labels),
            (PROFILE, self.profile[0], means),
        ):
            newest = _newest_values(table, at, learnt_at, learnt, values)
            forecasts[:, column] = np.where(np.isnan(newest), last, newest)
            table[learnt_at % len(table)] = values  # of equal positions the last stays
        return forecasts

    def _last_labels(
        self, at: IntArray, labels: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Position and value of the newest label, before and after each of these."""
        known = np.append(self.last_label[0], at), np.append(self.last_label[1], labels)
        if np.isnan(self.first_label[1]) and len(labels):
            self.first_label = np.array([at[0], labels[0]])
        self.last_label = np.array([known[0][-1], known[1][-1]])
        return known

    def _mean_steps(self, last_at: FloatArray, last: FloatArray) -> FloatArray:
        """The mean step from the first label to each of these; 0 where it is none."""
        first_at, first = self.first_label
        rows = last_at - first_at
        steps: FloatArray = np.zeros(len(last))
        np.divide(last - first, rows, out=steps, where=rows > 0)
        return steps

    def _add_to_profile(self, at: IntArray, labels: FloatArray) -> FloatArray:
        """The mean at the position of each label, with it; only counts are changed."""
        means, counts = self.profile
        found, now = list[float](), dict[int, float]()
        for k, label in zip((at % len(means)).tolist(), labels.tolist(), strict=True):
            mean = now.get(k, float(means[k])) if counts[k] else 0.0
            counts[k] += 1
            now[k] = mean + (label - mean) / float(counts[k])
            found.append(now[k])
        return np.array(found)


def _newest_values(
    table: FloatArray, at: IntArray, learnt_at: IntArray, learnt: IntArray,
    values: FloatArray,
) -> FloatArray:  # fmt: skip
    """The newest value at the position of each row, (T,); NaN where there is none.

    It is one of ``values``, (m,), at the positions ``learnt_at``, of which the first
    ``learnt``, (T,), are known; or that of the table, from before them.
    """
    period, count = len(table), len(values) + 1
    # The order of positions, and of time among equal ones: the value looked for is the
    # last one that comes before (position, number of values known).
    keys = learnt_at % period * count + np.arange(len(values))
    order = np.argsort(keys)
    place = np.searchsorted(keys[order], at % period * count + learnt) - 1
    found = np.append(order, 0)[place]
    if not len(values):
        return np.asarray(table[at % period])
    is_newer = (place >= 0) & (learnt_at[found] % period == at % period)
    return np.where(is_newer, values[found], table[at % period])


def _due_rows(rounds: int, rows: int, delay: int) -> int:
    """How many of the next rows become due, after so many rounds before them."""
    return max(rounds + rows - delay, 0) - max(rounds - delay, 0)
