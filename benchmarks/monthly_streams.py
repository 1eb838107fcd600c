"""Monthly and quarterly series of a few years, with a change of level or none.

They are what `benchmarks/change_alarms.py` reads as short series: 60 to 240 months of a
level with a year's season, that of a shop, and noise of 2 to 20 per cent.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.signal import lfilter

from thalweg.types import FloatArray

MONTHS = 12
FIRST_YEAR = 30
"""Times of rows begin thirty years after 1970."""
MIN_BEFORE, MIN_AFTER = 36, 24
"""Rows before a change, and after it, at least."""


class Months(NamedTuple):
    """A level without noise, the noise of its logarithm, and times in years."""

    log_level: FloatArray  # (T,)
    noise: FloatArray  # (T,)
    deviation: float  # of the noise
    years: FloatArray  # (T,)


def _noise(kind: str, g: np.random.Generator, rows: int) -> FloatArray:
    """Noise of variance 1; that of a random walk has steps of 1."""
    if kind == "heavy tails":
        return g.standard_t(4, size=rows) / np.sqrt(2)
    if kind == "autoregression":
        e = g.normal(size=rows + 50)
        return np.asarray(lfilter([1], [1, -0.6], e)[50:] * 0.8)
    if kind == "random walk":
        return np.cumsum(g.normal(size=rows))
    return g.normal(size=rows)


def _season(g: np.random.Generator, phase: Any) -> FloatArray:
    """Two harmonics of a year, and often a month that is higher, in logarithms."""
    swing = g.uniform(0.03, 0.3)
    season = np.sin(2 * np.pi * phase + g.uniform(0, 2 * np.pi))
    season += 0.4 * np.sin(4 * np.pi * phase + g.uniform(0, 2 * np.pi))
    peak = (g.random() < 0.5) * g.uniform(0.5, 2)
    month = np.floor(phase * MONTHS + 0.5) % MONTHS
    return np.asarray(swing * (season + peak * (month == g.integers(MONTHS))))


def months(
    kind: str, g: np.random.Generator, noise: tuple[float, float] = (0.02, 0.2),
    per_year: int = MONTHS,
) -> Months:  # fmt: skip
    """A series of the kind; noise is the range of its standard deviation."""
    rows = int(g.integers(60, 241)) * per_year // MONTHS
    if per_year < MONTHS:
        rows = int(g.integers(40, 121))
    first = int(g.integers(per_year))
    t = first + np.arange(rows)
    deviation = float(np.exp(g.uniform(*np.log(noise))))
    level = g.uniform(-0.1, 0.15) * np.arange(rows) / per_year * (g.random() < 0.7)
    if kind != "no season":
        level = level + _season(g, t / per_year)
    # The days of months differ in number, so that times are only nearly even.
    years = FIRST_YEAR + np.round(t / per_year * 365.2425) / 365.2425
    return Months(level, deviation * _noise(kind, g, rows), deviation, years)


def stable_months(g: np.random.Generator) -> Iterator[tuple[str, FloatArray, Any]]:
    """Names, values and times of series that never change."""
    for kind in ("no season", "season", "autoregression", "heavy tails"):
        one = months(kind, g)
        yield f"months, {kind}", 1000 * np.exp(one.log_level + one.noise), one.years
    one = months("season", g)
    yield "months, season, sum", 1000 * (2 + one.log_level + one.noise), one.years
    one = months("random walk", g, (0.01, 0.08))
    yield "months, random walk", 1000 * np.exp(one.log_level + one.noise), one.years
    one = months("season", g, per_year=4)
    yield "quarters, season", 1000 * np.exp(one.log_level + one.noise), one.years


def shifted_months(
    size: float, g: np.random.Generator, kind: str = "season", per_year: int = MONTHS
) -> tuple[FloatArray, int, FloatArray]:
    """Values whose level shifts by some deviations for good, the row, and times."""
    one = months(kind, g, (0.02, 0.08), per_year)
    rows = len(one.noise)
    shift = size * one.deviation
    # A level cannot fall by more than all of it: larger falls are rises.
    factor = 1 - shift if g.random() < 0.5 and shift < 0.6 else 1 + shift
    change = int(
        g.integers(min(MIN_BEFORE, rows // 2), rows - min(MIN_AFTER, rows // 3))
    )
    after = np.where(np.arange(rows) < change, 1.0, factor)
    return 1000 * np.exp(one.log_level + one.noise) * after, change, one.years
