"""Change alarms beside ADWIN, Page-Hinkley and KSWIN of River: docs/change-alarms.md.

    python -m benchmarks.change_alarms [--seeds 100] [--without-peers]

Four tables: annotated series that come with River (Turing change point dataset),
generated streams with known changes, and stable streams and months, whose alarms are
all false.
River's detectors have their defaults. They read the target; where a relation changes,
the errors of River's LinearRegression on standardised columns.

The detector's constants were set on streams of seeds 0 to 15, 100 to 102 (stable) and
1000 to 1399, 2000, 3000 (changing); here seeds begin at 5000.
"""

import argparse
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import chain
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import numpy as np
from river import drift, linear_model, preprocessing
from river.drift import datasets
from scipy.signal import lfilter

from benchmarks.monthly_streams import shifted_months, stable_months
from thalweg.changes.change_detector import ChangeDetector
from thalweg.types import FloatArray

FIRST_SEED = 5000
ROWS, CHANGES, JITTER = 1500, (500, 1000), 50
WINDOW = 200
"""Number of rows from a change on in which the first alarm counts as finding it."""
MONTHS_WINDOW = 24
"""The same, of months and quarters."""
MONTHS_SERIES = 100
"""Stable series of months a seed, of each kind."""
MARGIN = 5
"""Rows that a change point may be off in the Turing benchmark."""
DAY_IN_YEARS = 1 / 365.25
WEEK_IN_YEARS = 7 * DAY_IN_YEARS
YEAR_SECONDS = 365.2425 * 24 * 3600
REGIONS = {
    "Europe": ("Europe/Berlin", "Europe/London", "Europe/Athens"),
    "North America": ("America/New_York", "America/Chicago", "America/Los_Angeles"),
    "Australia": ("Australia/Sydney", "Australia/Adelaide"),
}
ZONES = tuple(chain.from_iterable(REGIONS.values()))
WEEK_PROFILE = np.array([1, 0.95, 0.97, 1.02, 1.2, 1.5, 0.7])
OURS, OURS_AT_ALARM = "thalweg", "thalweg, row of the alarm"
PEERS: dict[str, Callable[[], Any]] = {
    "ADWIN": drift.ADWIN,
    "Page-Hinkley": drift.PageHinkley,
    "KSWIN": lambda: drift.KSWIN(seed=1),
}


class Stream(NamedTuple):
    """Rows, and where they change."""

    y: FloatArray
    columns: FloatArray
    changes: Sequence[int] = ()
    years: FloatArray | None = None  # (T,) times of rows, where they are known
    window: int = WINDOW


class Alarms(NamedTuple):
    """Rows in which alarms are raised, and onsets as far as they are estimated."""

    rows: list[int]
    onsets: list[int]


class Counts(NamedTuple):
    """What became of changes and alarms."""

    found: int
    false: int
    missed: int
    delays: list[int]

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return 2 * self.found / max(2 * self.found + self.false + self.missed, 1)


# Detectors.


def own_alarms(stream: Stream) -> Alarms:
    """The alarms of thalweg's detector."""
    detector = ChangeDetector(stream.columns.shape[1])
    detector.add(stream.y, stream.columns, years=stream.years)
    names = [str(j) for j in range(stream.columns.shape[1])]
    alarms = detector.alarms(names)
    return Alarms([one.row - 1 for one in alarms], [one.onset - 1 for one in alarms])


def river_alarms(make: Callable[[], Any], values: Iterable[float]) -> Alarms:
    """The alarms of a detector of River. ADWIN's window begins at its onset."""
    detector, found = make(), Alarms([], [])
    for t, value in enumerate(values):
        detector.update(float(value))
        if detector.drift_detected:
            found.rows.append(t)
            width = getattr(detector, "width", 0)
            found.onsets.append(t + 1 - int(width) if width else t)
    return found


def inputs_of_peers(stream: Stream) -> FloatArray:
    """The target; with columns, the errors of River's linear regression."""
    if not stream.columns.shape[1]:
        return stream.y
    model = preprocessing.StandardScaler() | linear_model.LinearRegression()
    errors = np.empty(len(stream.y))
    for t, (row, label) in enumerate(zip(stream.columns, stream.y, strict=True)):
        x = dict(enumerate(row.tolist()))
        errors[t] = float(label) - model.predict_one(x)
        model.learn_one(x, float(label))
    return errors


# Generated streams.


def _segments(g: np.random.Generator) -> tuple[FloatArray, list[int]]:
    """1 between two changes, else 0; and the changes."""
    changes = [at + int(g.integers(-JITTER, JITTER + 1)) for at in CHANGES]
    rows = np.arange(ROWS)
    return ((changes[0] <= rows) & (rows < changes[1])).astype(float), changes


def mean_stream(size: float, g: np.random.Generator) -> Stream:
    """White noise whose mean shifts by ``size`` standard deviations, and back."""
    inside, changes = _segments(g)
    shift = g.choice([-1, 1]) * size * inside
    return Stream(10 + g.normal(size=ROWS) + shift, np.empty((ROWS, 0)), changes)


def heavy_mean_stream(size: float, g: np.random.Generator) -> Stream:
    """The same with errors of Student's t, 4 degrees of freedom."""
    inside, changes = _segments(g)
    noise = g.standard_t(4, size=ROWS) / np.sqrt(2)
    shift = g.choice([-1, 1]) * size * inside
    return Stream(10 + noise + shift, np.empty((ROWS, 0)), changes)


def autoregressive_mean_stream(size: float, g: np.random.Generator) -> Stream:
    """An autoregression with coefficient 0.7 and variance 1 that shifts, and back."""
    inside, changes = _segments(g)
    noise = lfilter([1], [1, -0.7], g.normal(size=ROWS + 100))[100:] * np.sqrt(0.51)
    shift = g.choice([-1, 1]) * size * inside
    return Stream(10 + noise + shift, np.empty((ROWS, 0)), changes)


def seasonal_mean_stream(size: float, g: np.random.Generator) -> Stream:
    """A season of 24 rows, amplitude 5, whose level shifts, and back."""
    stream = mean_stream(size, g)
    return stream._replace(y=stream.y + 5 * np.sin(np.arange(ROWS) * 2 * np.pi / 24))


def slope_stream(size: float, g: np.random.Generator) -> Stream:
    """White noise around a line that bends to ``size`` deviations a row, and back."""
    _, changes = _segments(g)
    line = np.clip(np.arange(ROWS), *changes) - changes[0]
    y = 10 + g.normal(size=ROWS) + g.choice([-1, 1]) * size * line
    return Stream(y, np.empty((ROWS, 0)), changes)


def variance_stream(ratio: float, g: np.random.Generator) -> Stream:
    """White noise whose variance is ``ratio`` times as high for a while."""
    inside, changes = _segments(g)
    scale = np.where(inside == 1, np.sqrt(ratio), 1.0)
    return Stream(10 + scale * g.normal(size=ROWS), np.empty((ROWS, 0)), changes)


def coefficient_stream(size: float, g: np.random.Generator) -> Stream:
    """A regression on two columns, with one coefficient that shifts by ``size``."""
    inside, changes = _segments(g)
    columns = g.normal(size=(ROWS, 2))
    first = 1 + g.choice([-1, 1]) * size * inside
    y = first * columns[:, 0] - columns[:, 1] + g.normal(size=ROWS)
    return Stream(y, columns, changes)


def weekly_stream(size: float, g: np.random.Generator) -> Stream:
    """Six years of weekly sales with a year's cycle that rise by ``size`` for good."""
    t = np.arange(6 * 52)
    angle, swing = 2 * np.pi * t * WEEK_IN_YEARS, g.uniform(0.05, 0.25)
    year = np.sin(angle + g.uniform(0, 2 * np.pi))
    year += 0.3 * np.sin(2 * angle + g.uniform(0, 2 * np.pi))
    noise = g.uniform(0.03, 0.08) * lfilter([1], [1, -0.3], g.normal(size=len(t)))
    change = int(g.integers(110, len(t) - 60))
    y = 1000 * (1 + swing * year) * (1 + noise) * np.where(t < change, 1, 1 + size)
    return Stream(y, np.empty((len(t), 0)), (change,), t * WEEK_IN_YEARS)


def summer_time(zone: str, times: Any) -> FloatArray:
    """1 where clocks of a zone have summer time, at UTC times of hourly rows."""
    local = ZoneInfo(zone)
    moments = (datetime.fromtimestamp(one, local) for one in times.tolist())
    return np.array([one.dst() != timedelta(0) for one in moments], float)


def hourly_times(g: np.random.Generator, rows: int) -> FloatArray:
    """Times in UTC of hourly rows from an hour of 2008 to 2021, in seconds."""
    first = int(g.integers(38 * 8766, 51 * 8766))
    return 3600.0 * (first + np.arange(rows))


def dated_mean_stream(
    size: float, g: np.random.Generator, follows_clock: bool = False
) -> Stream:
    """The same in hourly rows with times, the first shift near one of the clock.

    It is within a week of the beginning or end of summer time, which the season follows
    or not. That is the shift of the level: an alarm of the clock's is false.
    """
    zone = ZONES[int(g.integers(len(ZONES)))]
    times = hourly_times(g, 9000)
    shifts = np.flatnonzero(np.diff(summer_time(zone, times))) + 1
    is_inside = (shifts > 1000) & (shifts < len(times) - ROWS)
    shift = int(g.choice(shifts[is_inside]))
    stream = mean_stream(size, g)
    first = shift - stream.changes[0] + int(g.integers(-168, 169))
    times = times[first : first + ROWS]
    hours = times / 3600 + follows_clock * summer_time(zone, times)
    y = stream.y + 5 * np.sin(hours * 2 * np.pi / 24)
    return stream._replace(y=y, years=times / YEAR_SECONDS)


def clock_mean_stream(size: float, g: np.random.Generator) -> Stream:
    """The same with a season that follows the clock."""
    return dated_mean_stream(size, g, follows_clock=True)


def months_stream(size: float, g: np.random.Generator, *kind: Any) -> Stream:
    """Months with a year's season whose level shifts for good."""
    y, change, years = shifted_months(size, g, *kind)
    return Stream(y, np.empty((len(y), 0)), (change,), years, MONTHS_WINDOW)


def plain_months_stream(size: float, g: np.random.Generator) -> Stream:
    """The same without a season."""
    return months_stream(size, g, "no season")


def autoregressive_months_stream(size: float, g: np.random.Generator) -> Stream:
    """The same with noise that is an autoregression with coefficient 0.6."""
    return months_stream(size, g, "autoregression")


def quarters_stream(size: float, g: np.random.Generator) -> Stream:
    """The same in quarters."""
    return months_stream(size, g, "season", 4)


CASES = (
    ("mean, 1 deviation", mean_stream, 1.0),
    ("mean, 2", mean_stream, 2.0),
    ("mean, 3", mean_stream, 3.0),
    ("mean, 2, heavy tails", heavy_mean_stream, 2.0),
    ("mean, 2, autoregressive", autoregressive_mean_stream, 2.0),
    ("mean, 3, autoregressive", autoregressive_mean_stream, 3.0),
    ("mean, 2, seasonal", seasonal_mean_stream, 2.0),
    ("mean, 1, hourly, near a clock shift", dated_mean_stream, 1.0),
    ("mean, 2, hourly, near a clock shift", dated_mean_stream, 2.0),
    ("mean, 3, hourly, near a clock shift", dated_mean_stream, 3.0),
    ("mean, 1, hourly, with a clock shift", clock_mean_stream, 1.0),
    ("mean, 2, hourly, with a clock shift", clock_mean_stream, 2.0),
    ("mean, 3, hourly, with a clock shift", clock_mean_stream, 3.0),
    ("slope, 0.02 a row", slope_stream, 0.02),
    ("slope, 0.05", slope_stream, 0.05),
    ("slope, 0.1", slope_stream, 0.1),
    ("variance, 4 times", variance_stream, 4.0),
    ("variance, 9 times", variance_stream, 9.0),
    ("coefficient, 1", coefficient_stream, 1.0),
    ("coefficient, 2", coefficient_stream, 2.0),
    ("coefficient, 3", coefficient_stream, 3.0),
    ("weekly rows, rise of 27 %", weekly_stream, 0.27),
    ("weekly rows, fall of 25 %", weekly_stream, -0.25),
    ("months, 3 deviations", months_stream, 3.0),
    ("months, 4", months_stream, 4.0),
    ("months, 6", months_stream, 6.0),
    ("months, 10", months_stream, 10.0),
    ("months, 6, no season", plain_months_stream, 6.0),
    ("months, 6, autoregressive", autoregressive_months_stream, 6.0),
    ("quarters, 6", quarters_stream, 6.0),
)


def stable_streams(rows: int, g: np.random.Generator) -> Iterator[tuple[str, Stream]]:
    """Streams of one regime; no alarm of theirs is right."""
    t, none = np.arange(rows), np.empty((rows, 0))
    noise = g.normal(size=rows)
    yield "white noise", Stream(noise, none)
    yield "Student's t, 3 degrees", Stream(g.standard_t(3, size=rows), none)
    yield "Student's t, 4 degrees", Stream(g.standard_t(4, size=rows), none)
    for coefficient in (0.5, 0.9):
        y = lfilter([1], [1, -coefficient], g.normal(size=rows))
        yield f"autoregression, {coefficient}", Stream(y, none)
    y = lfilter([1], [1, -1.2, 0.5], g.normal(size=rows))
    yield "autoregression, 1.2 and -0.5", Stream(y, none)
    y = lfilter([1], [1, -0.9], g.standard_t(4, size=rows))
    yield "autoregression, 0.9, t with 4", Stream(y, none)
    yield "random walk", Stream(np.cumsum(g.normal(size=rows)), none)
    sine = 10 * np.sin(t * 2 * np.pi / 24)
    yield "sine of 24 rows", Stream(sine + g.normal(size=rows), none)
    profile = 3 * g.normal(size=24)
    heavy = g.standard_t(4, size=rows)
    yield "season of 24 rows, t with 4", Stream(profile[t % 24] + heavy, none)
    days = np.tile(10 * np.exp(-(((np.arange(24) - 14) / 4) ** 2)), 7)
    days[120:] /= 2
    yield "week of 168 rows", Stream(days[t % 168] + g.normal(size=rows), none)
    y = g.normal(size=rows)
    places = g.choice(rows, rows // 2000, replace=False)
    y[places] += g.choice([-1, 1], len(places)) * g.uniform(8, 100, len(places))
    yield "single outliers", Stream(y, none)
    yield "line", Stream(0.01 * t + g.normal(size=rows), none)
    yield "exponential", Stream(g.exponential(size=rows), none)
    yield "counts, mean 3", Stream(g.poisson(3, rows).astype(float), none)
    columns = g.normal(size=(rows, 3))
    y = columns @ [1, -2, 0.5] + g.normal(size=rows)
    yield "regression on 3 columns", Stream(y, columns)


def daily_series(g: np.random.Generator) -> Iterator[tuple[str, Stream]]:
    """Daily revenue of three years, with a trend and a week, that never changes.

    The noise is 2 to 8 per cent of the level, growth -20 to 50 per cent a year, the
    year's season 15 per cent.
    """
    t, none = np.arange(3 * 365), np.empty((3 * 365, 0))
    week = WEEK_PROFILE * np.exp(0.1 * g.normal(size=7))
    noise = g.uniform(0.02, 0.08) * g.normal(size=len(t))
    growth, profile = g.uniform(-0.2, 0.5) * t / 365, week[(t + g.integers(7)) % 7]
    year = 0.15 * np.sin(2 * np.pi * t * DAY_IN_YEARS + g.uniform(0, 2 * np.pi))
    line = 1 + abs(growth)
    kinds = {
        "trend and week, sum": growth + profile + noise,
        "trend and week, product": line * profile * (1 + noise),
        "growth and week, product": np.exp(growth + noise) * profile,
        "trend, week, year, sum": growth + profile + year + noise,
        "trend, week, year, product": line * profile * (1 + year) * (1 + noise),
    }
    for name, y in kinds.items():
        yield name, Stream(1000 * y, none, (), t * DAY_IN_YEARS)


def long_daily_series(g: np.random.Generator) -> Iterator[tuple[str, Stream]]:
    """Daily rows of eight years with a year's season that never change."""
    t, none = np.arange(8 * 365), np.empty((8 * 365, 0))
    week = WEEK_PROFILE * np.exp(0.1 * g.normal(size=7))
    noise = g.uniform(0.02, 0.08) * g.normal(size=len(t))
    growth, profile = g.uniform(-0.2, 0.5) * t / 365, week[(t + g.integers(7)) % 7]
    wave = np.sin(2 * np.pi * t * DAY_IN_YEARS + g.uniform(0, 2 * np.pi))
    weather = lfilter([1], [1, -0.7], g.normal(size=len(t)))
    year = 1000 * (1 + 0.15 * wave) * np.exp(noise)
    kinds = {
        "eight years": year,
        "eight years, week": year * profile,
        "eight years, week, growth": year * profile * np.exp(growth),
        "eight years of temperatures": 10 + 10 * wave + 2 * weather,
    }
    for name, y in kinds.items():
        yield name, Stream(y, none, (), t * DAY_IN_YEARS)


def hourly_series(g: np.random.Generator) -> Iterator[tuple[str, Stream]]:
    """Two years of hourly rows with a day and a week, in products.

    The clock shifts by an hour every 26 weeks, at dates on which none does; or the
    level rises by 1 per cent, which the day's swing of 35 makes unimportant.
    """
    t, none = np.arange(104 * 168), np.empty((104 * 168, 0))
    profile, noise = hourly_profile(g, len(t))
    clock, rise = t // (26 * 168) % 2, np.where(t < 60 * 168, 1, 1.01)
    kinds = {
        "hourly": profile(t) * (1 + noise),
        "hourly, shifts at any date": profile(t + clock) * (1 + noise),
        "hourly, rise of 1 %": profile(t) * rise * (1 + noise),
    }
    for name, y in kinds.items():
        yield name, Stream(y, none, (), t / 24 * DAY_IN_YEARS)


def hourly_profile(
    g: np.random.Generator, rows: int
) -> tuple[Callable[[Any], FloatArray], FloatArray]:
    """The level of an hour, counted from a Monday's midnight, and relative noise."""
    hours = np.arange(24)
    day = 1 + 0.35 * np.sin((hours - 8) * 2 * np.pi / 24) + 0.05 * g.normal(size=24)
    day += 0.12 * np.sin((hours - 5) * 4 * np.pi / 24)
    noise = g.uniform(0.01, 0.04) * lfilter([1], [1, -0.6], g.normal(size=rows))

    def profile(hour: Any) -> FloatArray:
        return 1000 * np.where(hour // 24 % 7 < 5, 1, 0.8) * day[hour % 24]

    return profile, noise


def dated_hourly_series(g: np.random.Generator) -> Iterator[tuple[str, Stream]]:
    """The same with times in UTC, of habits on clocks with summer time or without."""
    rows = 104 * 168
    none = np.empty((rows, 0))
    profile, noise = hourly_profile(g, rows)
    times = hourly_times(g, rows)
    hours = (times / 3600).astype(int) + int(g.integers(-12, 13))  # of local time
    kinds: dict[str, FloatArray] = {"hourly, dated, no summer time": np.zeros(rows)}
    for region, zones in REGIONS.items():
        zone = zones[int(g.integers(len(zones)))]
        kinds[f"hourly, summer time of {region}"] = summer_time(zone, times)
    for name, summer in kinds.items():
        y = profile(hours + summer.astype(int)) * (1 + noise)
        yield name, Stream(y, none, (), times / YEAR_SECONDS)


def short_streams(seed: int) -> Iterator[tuple[str, Stream]]:
    """Series of several years that make up about 100,000 rows of each kind."""
    for part in range(91):
        yield from daily_series(np.random.default_rng([seed, part]))
    for part in range(34):
        yield from long_daily_series(np.random.default_rng([seed, 1, part]))
    for part in range(6):
        yield from hourly_series(np.random.default_rng([seed, 2, part]))
        yield from dated_hourly_series(np.random.default_rng([seed, 3, part]))


# Scores.


def count_found(
    rows: Sequence[int], changes: Sequence[int], window: int = WINDOW
) -> Counts:
    """The first alarm within a window finds a change; all others are false."""
    delays, used = [], set()
    for change in changes:
        hits = [row for row in rows if change <= row < change + window]
        if hits:
            delays.append(hits[0] - change)
            used.add(hits[0])
    found = len(delays)
    return Counts(found, len(rows) - len(used), len(changes) - found, delays)


def add_counts(counts: Sequence[Counts]) -> Counts:
    """Counts of several streams."""
    totals = (sum(part) for part in zip(*(one[:3] for one in counts), strict=True))
    return Counts(*totals, [delay for one in counts for delay in one.delays])


def matches(true: set[int], found: set[int], margin: int) -> int:
    """True change points with a found one near, each counted once."""
    rest, count = set(found), 0
    for point in sorted(true):
        near = [(abs(point - one), one) for one in rest if abs(point - one) <= margin]
        if near:
            rest.remove(min(near)[1])
            count += 1
    return count


def annotation_f1(
    annotations: dict[str, list[int]], found: Sequence[int], margin: int
) -> float:
    """F1 as in the Turing change point benchmark (van den Burg & Williams 2020).

    Row 0 counts as a change point. Precision is against all annotators' points
    together, recall the mean over annotators.
    """
    points = {0, *found}
    each = [{0, *marks} for marks in annotations.values()]
    precision = matches(set().union(*each), points, margin) / len(points)
    recall = float(np.mean([matches(one, points, margin) / len(one) for one in each]))
    return 2 * precision * recall / (precision + recall)


# Annotated series.


def annotated_series() -> Iterator[tuple[str, FloatArray, dict[str, list[int]]]]:
    """Name, values (T, d) and annotations of River's series.

    Annotations are indices into the series of the Turing dataset. River has two of them
    unsampled: Apple takes every third row, Brent from 2000 on every tenth.
    """
    for name in datasets.__all__:
        data = getattr(datasets, name)()
        rows = list(data)
        targets = [label for _, label in rows]
        if isinstance(targets[0], dict):
            names = ("Close", "Volume") if name == "Apple" else tuple(targets[0])
            values = np.array([[float(one[key]) for key in names] for one in targets])
        else:
            values = np.array(targets, float)[:, None]
        if name == "Apple":
            values = values[::3]
        if name == "BrentSpotPrice":
            years = [next(iter(x.values())).year for x, _ in rows]
            values = values[years.index(2000) :: 10]
        yield name, values, data.annotations


def merge_points(points: Sequence[Sequence[int]]) -> list[int]:
    """Those of all dimensions; points no more than the margin apart are one."""
    merged: list[int] = []
    for point in sorted(point for part in points for point in part):
        if not merged or point - merged[-1] > MARGIN:
            merged.append(point)
    return merged


def print_annotated(peers: dict[str, Callable[[], Any]]) -> None:
    """F1 on River's series, margin 5 and max(5, 1 % of the rows)."""
    scores: dict[str, list[tuple[float, float, int]]] = {}
    names = []
    for name, values, annotations in annotated_series():
        names.append(name)
        found: dict[str, list[Sequence[int]]] = {"no alarms": [()]}
        for column in values.T:
            own = own_alarms(Stream(column, np.empty((len(column), 0))))
            found.setdefault(OURS, []).append(own.onsets)
            found.setdefault(OURS_AT_ALARM, []).append(own.rows)
            for peer, make in peers.items():
                alarms = river_alarms(make, column)
                found.setdefault(peer, []).append(alarms.rows)
                if alarms.onsets != alarms.rows:
                    found.setdefault(f"{peer}, its window", []).append(alarms.onsets)
        wide = max(MARGIN, len(values) // 100)
        for detector, points in found.items():
            merged = merge_points(points)
            both = [annotation_f1(annotations, merged, m) for m in (MARGIN, wide)]
            scores.setdefault(detector, []).append((both[0], both[1], len(merged)))
    print("\n## Annotated series: F1 (alarms)\n")
    print(f"| | {' | '.join(names)} | mean | mean, margin 1 % |")
    print(f"|---{'|---' * (len(names) + 2)}|")
    for detector, row in scores.items():
        cells = " | ".join(f"{f1:.2f} ({count})" for f1, _, count in row)
        means = np.mean([part[:2] for part in row], axis=0)
        print(f"| {detector} | {cells} | {means[0]:.3f} | {means[1]:.3f} |")


def print_generated(peers: dict[str, Callable[[], Any]], seeds: int) -> None:
    """F1, precision, recall and median delay on generated streams."""
    detectors = [OURS, *peers]
    totals: dict[str, list[Counts]] = {name: [] for name in detectors}
    print(f"\n## Generated streams, {seeds} seeds\n")
    print("F1 (precision, recall; median delay)\n")
    print(f"| change | {' | '.join(detectors)} |")
    print(f"|---{'|---' * len(detectors)}|")
    for case, make_stream, size in CASES:
        counts: dict[str, list[Counts]] = {name: [] for name in detectors}
        for seed in range(FIRST_SEED, FIRST_SEED + seeds):
            stream = make_stream(size, np.random.default_rng(seed))
            found = {OURS: own_alarms(stream).rows}
            values = inputs_of_peers(stream) if peers else np.empty(0)
            for name, make in peers.items():
                found[name] = river_alarms(make, values).rows
            for name, rows in found.items():
                counts[name].append(count_found(rows, stream.changes, stream.window))
        sums = {name: add_counts(part) for name, part in counts.items()}
        for name, one in sums.items():
            totals[name].append(one)
        print(
            f"| {case} | {' | '.join(map(_counts_text, sums.values()))} |", flush=True
        )
    overall = {name: add_counts(part) for name, part in totals.items()}
    print(f"| all | {' | '.join(map(_counts_text, overall.values()))} |")


def _counts_text(counts: Counts) -> str:
    found, false, missed, delays = counts
    precision = found / max(found + false, 1)
    recall = found / (found + missed)
    delay = f"{np.median(delays):.0f}" if delays else "none"
    return f"{counts.f1:.3f} ({precision:.2f}, {recall:.2f}; {delay})"


def print_stable(peers: dict[str, Callable[[], Any]], seeds: int) -> None:
    """False alarms per 100,000 rows; River's detectors read 20,000, or one series."""
    rows, peer_rows = 100_000, 20_000
    counts: dict[str, Counter[int]] = {}
    for seed in range(FIRST_SEED, FIRST_SEED + seeds):
        long = stable_streams(rows, np.random.default_rng(seed))
        for name, stream in chain(long, short_streams(seed)):
            alarms = len(own_alarms(stream).rows)
            counts.setdefault(name, Counter())[seed] += alarms
    others: dict[str, list[float]] = {}
    if peers:
        generator = np.random.default_rng(FIRST_SEED)
        makers = (
            daily_series, long_daily_series, hourly_series, dated_hourly_series
        )  # fmt: skip
        one = chain.from_iterable(make(generator) for make in makers)
        for name, stream in chain(stable_streams(peer_rows, generator), one):
            values = inputs_of_peers(stream)
            others[name] = [
                len(river_alarms(make, values).rows) * 100_000 / len(values)
                for make in peers.values()
            ]
    print(f"\n## Stable streams: false alarms per 100,000 rows, {seeds} seeds\n")
    print(f"| stream | {OURS} | {' | '.join(peers)} |")
    print(f"|---|---{'|---' * len(peers)}|")
    for name, own in counts.items():
        mean = own.total() / seeds
        cells = [f"{mean:.2f}", *(f"{one:.0f}" for one in others.get(name, []))]
        print(f"| {name} | {' | '.join(cells)} |")
    mean = sum(own.total() for own in counts.values()) / seeds / len(counts)
    print(f"| all | {mean:.2f} | {' | '.join('' for _ in peers)} |")


def print_months(peers: dict[str, Callable[[], Any]], seeds: int) -> None:
    """False alarms of months per 100,000 rows, and of how many series in a hundred."""
    alarms: dict[str, dict[str, list[int]]] = {}
    rows: Counter[str] = Counter()
    for seed in range(FIRST_SEED, FIRST_SEED + seeds):
        for part in range(MONTHS_SERIES):
            generator = np.random.default_rng([seed, 4, part])
            for name, y, years in stable_months(generator):
                stream = Stream(y, np.empty((len(y), 0)), (), years)
                found = {OURS: own_alarms(stream).rows}
                for peer, make in peers.items():
                    found[peer] = river_alarms(make, y).rows
                rows[name] += len(y)
                for detector, one in found.items():
                    own = alarms.setdefault(name, {}).setdefault(detector, [])
                    own.append(len(one))
    print(f"\n## Stable months: false alarms per 100,000 rows, {seeds} seeds\n")
    print("In brackets the per cent of series that have any.\n")
    print(f"| stream | {' | '.join([OURS, *peers])} |")
    print(f"|---{'|---' * (len(peers) + 1)}|")
    for name, each in alarms.items():
        rates = (100_000 * sum(one) / rows[name] for one in each.values())
        shares = (100 * np.mean(np.array(one) > 0) for one in each.values())
        pairs = zip(rates, shares, strict=True)
        cells = " | ".join(f"{rate:.2f} ({share:.2f})" for rate, share in pairs)
        print(f"| {name} | {cells} |")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--stable-seeds", type=int, default=20)
    parser.add_argument("--without-peers", action="store_true")
    options = parser.parse_args()
    peers = {} if options.without_peers else PEERS
    print_annotated(peers)
    print_stable(peers, options.stable_seeds)
    print_months(peers, options.stable_seeds)
    print_generated(peers, options.seeds)


if __name__ == "__main__":
    main()
