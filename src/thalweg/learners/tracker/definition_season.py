"""Past rounds and the season of the labels, in the Tracker's definition.

The kernel's twin is kernels/tracker/seasonality.py.
"""

from typing import Any

import numpy as np

from thalweg.kernels.tracker import tracker_layout as layout
from thalweg.kernels.tracker.seasonality import SEARCH_INTERVAL, SEASON_DISCOUNT
from thalweg.types import FloatArray

# Past rounds: features in a ring; labels newest first, so that y_{t-l} is at l - 1.


def past_labels(s: Any) -> FloatArray:
    """The labels y_{t-1}, y_{t-2}, …, (MAX_SEASON,)."""
    newest = -int(s.counters[layout.PASSED_ROUNDS]) % layout.MAX_SEASON
    return np.asarray(s.past_y[newest : newest + layout.MAX_SEASON])


def past_features(s: Any) -> FloatArray:
    """The features x_{t-1}, x_{t-2}, …, (MAX_SEASON, n)."""
    lags = np.arange(1, layout.MAX_SEASON + 1)
    rows = (int(s.counters[layout.PASSED_ROUNDS]) - lags) % layout.MAX_SEASON
    return np.asarray(s.past_x[rows])


def push_round(s: Any, x: FloatArray, y: float) -> None:
    """Remember a round that has passed. Labels are stored twice, for one slice."""
    s.past_x[int(s.counters[layout.PASSED_ROUNDS]) % layout.MAX_SEASON] = x
    s.counters[layout.PASSED_ROUNDS] += 1
    newest = -int(s.counters[layout.PASSED_ROUNDS]) % layout.MAX_SEASON
    s.past_y[[newest, newest + layout.MAX_SEASON]] = y


# The season.


def update_season(s: Any, y: float) -> None:
    r"""Learn from the label y_t, and set the season of the next round.

    .. math:: d_l \gets d_l + \lambda\text{-discounted } (y_t - y_{t-l})^2, \qquad
              \text{season} = \arg\min_l \; l\, d_l / \sum_{m\le l} d_m

    if that is below one, else 1: the normalised difference of the YIN pitch detector,
    with d_l a discounted mean. De Cheveigné & Kawahara (2002), J. Acoust. Soc. Am.
    111(4), section II.C. Two seasons must have been seen; after the first 512 rounds
    the search is made every 8th.
    """
    t = int(s.counters[layout.PASSED_ROUNDS])
    lags, differences = min(t, layout.MAX_SEASON), s.season_differences
    steps = y - past_labels(s)[:lags]
    differences[:lags] = SEASON_DISCOUNT * differences[:lags] + steps**2
    if t <= layout.MAX_SEASON or t % SEARCH_INTERVAL == 0:
        s.counters[layout.SEASON] = search_season(s, min(t // 2, layout.MAX_SEASON))


def search_season(s: Any, longest: int) -> int:
    """The lag up to ``longest`` with the least normalised difference; else 1."""
    newest = -int(s.counters[layout.PASSED_ROUNDS]) % layout.MAX_SEASON
    inverse_counts = s.inverse_counts[newest : newest + longest]
    d, lags = s.season_differences[:longest] * inverse_counts, np.arange(1, longest + 1)
    total = np.cumsum(d)
    ratio = np.where(total > 0, lags * d / np.where(total > 0, total, 1.0), 1.0)
    return int(lags[ratio.argmin()]) if longest and ratio.min() < 1 else 1


def push_inverse_count(s: Any, learnt: bool) -> None:
    """Note by how much the sum of lag 1 is to be divided in the coming round.

    The number of terms of lag l depends on t - l alone, so that divisors move down by
    one lag a round, as labels do. A round that was not learnt from added no term.
    """
    counters = s.counters
    if learnt:
        counters[layout.DIFFERENCE_COUNT] = (
            SEASON_DISCOUNT * counters[layout.DIFFERENCE_COUNT] + 1
        )
    newest = -int(counters[layout.PASSED_ROUNDS]) % layout.MAX_SEASON
    inverse = 1 / counters[layout.DIFFERENCE_COUNT]
    s.inverse_counts[[newest, newest + layout.MAX_SEASON]] = inverse


def reset_season(s: Any) -> None:
    """Begin again. All lags then have the same number of terms, and their ratios need
    no divisor. This is marked by a full count, which later counts also reach.
    """
    s.counters[layout.SEASON] = 1
    s.counters[layout.DIFFERENCE_COUNT] = 1 / (1 - SEASON_DISCOUNT)
    s.season_differences[:] = 0.0
    s.inverse_counts[:] = 1 - SEASON_DISCOUNT
