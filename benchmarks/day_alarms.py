"""Change alarms in stable streams whose days have hundreds of rows.

    python -m benchmarks.day_alarms [--seeds 20] [--days 14]

Prints how many alarms the detector of single rows raises, and the one that knows times,
in all streams of a kind.
"""

import argparse

import numpy as np
from scipy.signal import lfilter

from thalweg.evaluation.change_detector import ChangeDetector
from thalweg.evaluation.timed_change_detector import TimedChangeDetector
from thalweg.preprocessing.weekdays import DAY
from thalweg.types import FloatArray

START = int(np.datetime64("2026-03-02", "ns").astype(np.int64))


def stable_streams(seed: int, per_day: int, days: int) -> dict[str, FloatArray]:
    """Streams of so many rows a day, by kind, from a random hour of the day on."""
    g, n = np.random.default_rng(seed), per_day * days
    since = np.arange(n) / per_day + g.uniform()
    angle, time = 2 * np.pi * since, since % 1
    day, noise = np.sin(angle), g.normal(size=n)
    is_weekday = (since + seed).astype(int) % 7 < 5
    awake = np.clip((time - 0.29) / 0.63, 0, 1)
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
        "autoregression, 0.9": 50 + _autoregression(g, n, 0.9),
    }


def _autoregression(g: np.random.Generator, n: int, coefficient: float) -> FloatArray:
    return np.asarray(lfilter([1], [1, -coefficient], g.normal(size=n)))


def main() -> None:
    """Print the table of docs/change-alarms.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--days", type=int, default=14)
    given = parser.parse_args()
    for per_day in (1440, 288):
        totals: dict[str, list[int]] = {}
        for seed in range(given.seeds):
            for name, y in stable_streams(seed, per_day, given.days).items():
                none = np.empty((len(y), 0))
                by_row, timed = ChangeDetector(0), TimedChangeDetector(0)
                by_row.add(y, none)
                stamps = START + np.arange(len(y)) * (DAY // per_day)
                timed.add(y, none, 1.0 + np.arange(len(y)), None, stamps)
                counts = totals.setdefault(name, [0, 0])
                counts[0] += by_row.total
                counts[1] += timed.total
        for name, (rows, half_hours) in totals.items():
            print(f"{per_day} | {name} | {rows} | {half_hours}")


if __name__ == "__main__":
    main()
