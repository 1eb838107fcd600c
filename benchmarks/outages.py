"""Outages of metrics with a daily course: which are found within seven rows.

    python -m benchmarks.outages [--quick] [--seeds 10] [--first-seed 5000]

Each stream has rows of 1, 5 or 15 minutes, a daily course and noise, and after 3, 7 or
21 days an outage: to zero, to a third, to three times, or by half the daily range. An
outage begins at each row of one hour in turn, lasts 15 minutes to 8 hours, and is found
if an alarm is raised in its first seven rows. The tables have the share found by kind
of stream, by duration and by size; smaller changes after 16 days, found within 200
rows; and the false alarms of the same and other streams without any change, over 21
days and in the first two. The detector's constants were set on seeds below 1000.
"""

import argparse
from collections import Counter
from collections.abc import Callable, Iterator
from copy import deepcopy
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.signal import lfilter

from thalweg.calendar.weekdays import DAY
from thalweg.changes.timed_change_detector import TimedChangeDetector
from thalweg.types import FloatArray

START = int(np.datetime64("2026-01-05", "ns").astype(np.int64))
MINUTES = (1, 5, 15)
"""Minutes between rows."""
DURATIONS = (15, 30, 60, 120, 240, 480)
"""Durations of outages in minutes."""
DAYS, HISTORIES = 21, (3, 7, 21)
"""Days of a stream, and days before its outage, one for each seed in turn."""
FOUND_ROWS = 7
"""Number of rows of an outage in which it has to be found."""
NEVER_0 = (
    "sine",
    "sine, autoregression",
    "two sines",
    "sine, t with 3",
    "requests",
    "week-ends",
    "week-ends, product",
    "batch jobs",
    "counts",
    "latencies",
)
"""Kinds of streams that have outages, with a daily course that is never 0."""
SIZES = (0, 4, 6, 8, 12, np.inf)
"""Limits of the sizes of outages, in standard deviations of the noise of a row."""
SMALL_DAY, SMALL_ROWS = 16, 200
"""The day of a smaller change, and the rows within which it is found."""
OUTAGES: dict[str, Callable[[FloatArray, float], FloatArray]] = {
    "to zero": lambda y, spread: np.zeros_like(y),
    "to a third": lambda y, spread: y / 3,
    "to three times": lambda y, spread: 3 * y,
    "+ half the range": lambda y, spread: y + spread / 2,
}


SMALL: dict[str, Callable[[FloatArray, float, FloatArray], FloatArray]] = {
    "step of 2 deviations": lambda y, noise, g: y + 2 * noise,
    "noise 3 times": lambda y, noise, g: y + 8**0.5 * noise * g,
    "stuck": lambda y, noise, g: np.full_like(y, y[0]),
}


class Branch(NamedTuple):
    """An outage that was played: how many rows it lasted until the first alarm."""

    kind: str
    outage: str
    minutes: int
    rows: int  # 0: not found within FOUND_ROWS
    size: float  # in standard deviations of the noise of a row


def daily_streams(seed: int, per_day: int, days: int) -> dict[str, FloatArray]:
    """Streams without a change, by kind, from a random hour of the day on."""
    g, n = np.random.default_rng(seed), per_day * days
    since = np.arange(n) / per_day + g.uniform()
    angle, time = 2 * np.pi * since, since % 1
    day, noise = np.sin(angle), g.normal(size=n)
    is_weekday = (since + seed).astype(int) % 7 < 5
    awake = np.clip((time - 0.29) / 0.63, 0, 1)
    # A job of 20 minutes each night, some minutes earlier or later.
    starts = np.arange(days + 2) + 0.1 + g.uniform(-3, 3, days + 2) / 1440
    job = (since[:, None] >= starts) & (since[:, None] < starts + 20 / 1440)
    return {
        "sine": 40 + 10 * day + noise,
        "sine, autoregression": 40 + 10 * day + 0.5 * _autoregression(g, n, 0.7),
        "two sines": 20 + 5 * day + 1.5 * np.sin(2 * angle) + 0.4 * noise,
        "sine, t with 3": 40 + 10 * day + g.standard_t(3, size=n),
        "counts": g.poisson(30 * (1 + 0.6 * day)).astype(float),
        "latencies": np.exp(3 + 0.5 * day + 0.5 * noise) + 5 * g.pareto(3, size=n),
        "nights at 0": g.poisson(6 * np.sin(awake * np.pi).clip(0)).astype(float),
        "week-ends": 100 + np.where(is_weekday, 60, 30) * day.clip(0) + 5 * noise,
        "week-ends, product": (100 + 60 * day)
        * np.where(is_weekday, 1, 0.8)
        * np.exp(0.05 * noise),
        "noise": 50 + 2 * noise,
        "requests": g.poisson(300 * (1 + 0.6 * day)).astype(float),
        "batch jobs": 40 + 10 * day + 20 * job.any(axis=1) + noise,
        "autoregression, 0.9": 50 + _autoregression(g, n, 0.9),
    }


def _autoregression(g: np.random.Generator, n: int, coefficient: float) -> FloatArray:
    return np.asarray(lfilter([1], [1, -coefficient], g.normal(size=n)))


class PlayedStream:
    """A stream that a detector reads, which may be left at any row for an outage."""

    def __init__(self, y: FloatArray, minutes: int) -> None:
        self.y, self.minutes = y, minutes
        self.stamps = START + np.arange(len(y)) * (DAY * minutes // 1440)
        self.detector, self.row = TimedChangeDetector(0), 0

    def play(self, stop: int) -> None:
        """Read all rows before ``stop``."""
        self._add(self.detector, self.y, self.row, stop)
        self.row = stop

    def rows_to_alarm(self, changed: FloatArray) -> int:
        """Rows (T,) in place of the next ones until an alarm; 0 without one."""
        detector, y = deepcopy(self.detector), self.y.copy()
        stop = self.row + len(changed)
        y[self.row : stop] = changed
        before = detector.total
        for row in range(self.row, stop):
            self._add(detector, y, row, row + 1)
            if detector.total > before:
                return row + 1 - self.row
        return 0

    def noise(self) -> float:
        """The standard deviation of the noise of a row, by the last 60."""
        return float(np.std(np.diff(self.y[self.row - 60 : self.row], 2)) / 6**0.5)

    def _add(
        self, detector: TimedChangeDetector, y: FloatArray, start: int, stop: int
    ) -> None:
        none, rows = np.empty((stop - start, 0)), np.arange(start + 1.0, stop + 1.0)
        detector.add(y[start:stop], none, rows, None, self.stamps[start:stop])


def play_outages(
    kind: str, y: FloatArray, minutes: int, seed: int, step: int
) -> Iterator[Branch]:
    """Outages at every ``step``-th row of one hour, after some days of the stream."""
    per_day, days = 1440 // minutes, HISTORIES[seed % len(HISTORIES)]
    hour = int(np.random.default_rng([seed, 1]).integers(24))
    # The hour lies in the last of the days, so that outages never are the first rows.
    first = (days - 1) * per_day + hour * per_day // 24 + per_day
    first = min(first, len(y) - per_day // 24 - FOUND_ROWS)
    stream = PlayedStream(y, minutes)
    for row in range(first, first + 60 // minutes, step):
        stream.play(row)
        low, high = np.quantile(y[row - per_day : row], [0.01, 0.99])
        rows = y[row : row + FOUND_ROWS]
        for outage, changed in OUTAGES.items():
            other = changed(rows, float(high - low))
            size = float(abs(np.mean(other - rows))) / stream.noise()
            found = stream.rows_to_alarm(other)
            yield Branch(kind, outage, minutes, found, size)


def print_found(branches: list[Branch]) -> None:
    """The share of outages that are found, by kind, by duration and by size."""
    columns = " | ".join(f"{one} min" for one in MINUTES)
    for minutes in MINUTES:
        print(f"\n## Rows of {minutes} min: found within {FOUND_ROWS} rows, per cent\n")
        print(f"| stream | {' | '.join(OUTAGES)} |\n|---{'|---' * len(OUTAGES)}|")
        own = [one for one in branches if one.minutes == minutes]
        for kind in (*NEVER_0, None):
            cells = [
                found_text([one for one in own if kind in (one.kind, None)], outage)
                for outage in OUTAGES
            ]
            print(f"| {kind or 'all'} | {' | '.join(cells)} |")
    print(f"\n## By duration, per cent\n\n| minutes | {columns} |")
    print(f"|---{'|---' * len(MINUTES)}|")
    for duration in DURATIONS:
        cells = []
        for minutes in MINUTES:
            lasts = duration // minutes
            rows = [one.rows for one in branches if one.minutes == minutes]
            share = 100 * np.mean([0 < one <= lasts for one in rows])
            short = f" ({lasts} rows)" if lasts < FOUND_ROWS else ""
            cells.append(f"{share:.1f}{short}")
        print(f"| {duration} | {' | '.join(cells)} |")
    print(f"\n## By size in deviations of a row, per cent\n\n| size | {columns} |")
    print(f"|---{'|---' * len(MINUTES)}|")
    for low, high in pairwise(SIZES):
        sized = [one for one in branches if low <= one.size < high]
        cells = [
            found_text([one for one in sized if one.minutes == minutes])
            for minutes in MINUTES
        ]
        print(f"| {low} to {high} | {' | '.join(cells)} |")


def found_text(branches: list[Branch], outage: str | None = None) -> str:
    """The share of an outage's branches that are found, and the median of rows."""
    rows = [one.rows for one in branches if outage in (one.outage, None)]
    found = [one for one in rows if one]
    median = f" ({np.median(found):.0f})" if found else ""
    return f"{100 * len(found) / len(rows):.1f}{median}" if rows else ""


def print_small(seeds: range) -> None:
    """Smaller changes: the share found within some rows, and the median of rows."""
    print(f"\n## After {SMALL_DAY} days, found within {SMALL_ROWS} rows, per cent\n")
    print(f"| stream, minutes | {' | '.join(SMALL)} |\n|---{'|---' * len(SMALL)}|")
    for minutes in MINUTES:
        found: dict[str, dict[str, list[int]]] = {}
        for seed in seeds:
            streams = daily_streams(seed, 1440 // minutes, DAYS)
            for kind in NEVER_0:
                stream = PlayedStream(streams[kind], minutes)
                stream.play(SMALL_DAY * 1440 // minutes + 7 * seed % 96)
                rows = stream.y[stream.row : stream.row + SMALL_ROWS]
                noise = np.random.default_rng([seed, 2]).normal(size=SMALL_ROWS)
                for name, changed in SMALL.items():
                    other = changed(rows, stream.noise(), noise)
                    own = found.setdefault(kind, {}).setdefault(name, [])
                    own.append(stream.rows_to_alarm(other))
        for kind, each in found.items():
            cells = []
            for counts in each.values():
                known = [one for one in counts if one]
                median = f" ({np.median(known):.0f})" if known else ""
                cells.append(f"{100 * len(known) / len(counts):.0f}{median}")
            print(f"| {kind}, {minutes} | {' | '.join(cells)} |")


def print_false(seeds: range) -> None:
    """False alarms of all streams without any change."""
    alarms: dict[str, Counter[int]] = {}
    rows: Counter[str] = Counter()
    early: Counter[str] = Counter()
    for minutes in MINUTES:
        for seed in seeds:
            for kind, y in daily_streams(seed, 1440 // minutes, DAYS).items():
                stream = PlayedStream(y, minutes)
                stream.play(len(y))
                found = [one.row for one in stream.detector.alarms(())]
                alarms.setdefault(kind, Counter())[minutes] += len(found)
                early[kind] += sum(row <= 2880 // minutes for row in found)
                rows[kind] += len(y)
    print(f"\n## False alarms in {len(seeds)} streams of {DAYS} days\n")
    columns = [f"{one} min" for one in MINUTES]
    print(f"| stream | {' | '.join(columns)} | in 100,000 rows | first two days |")
    print(f"|---{'|---' * (len(MINUTES) + 2)}|")
    for kind, counts in alarms.items():
        cells = " | ".join(str(counts[one]) for one in MINUTES)
        rate = 100_000 * counts.total() / rows[kind]
        print(f"| {kind} | {cells} | {rate:.2f} | {early[kind]} |")
    for name, kinds in (("all with outages", NEVER_0), ("all", tuple(alarms))):
        total = sum(alarms[kind].total() for kind in kinds)
        rate = 100_000 * total / sum(rows[kind] for kind in kinds)
        first = sum(early[kind] for kind in kinds)
        print(f"| {name} | {'| ' * len(MINUTES)}| {rate:.2f} | {first} |")


def main() -> None:
    """Print the tables of docs/change-alarms.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=5000)
    parser.add_argument("--quick", action="store_true", help="every fifth row, 3 seeds")
    given = parser.parse_args()
    count, step = (3, 5) if given.quick else (given.seeds, 1)
    seeds = range(given.first_seed, given.first_seed + count)
    branches = list[Branch]()
    for minutes in MINUTES:
        for seed in seeds:
            streams = daily_streams(seed, 1440 // minutes, DAYS + 2)
            every = min(step, 60 // minutes)
            for kind in NEVER_0:
                branches += play_outages(kind, streams[kind], minutes, seed, every)
    print_found(branches)
    print_small(seeds)
    print_false(seeds)


if __name__ == "__main__":
    main()
