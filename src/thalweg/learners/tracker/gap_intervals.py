"""Prediction intervals in a gap: the longer labels are missing, the wider they are.

Also known as: multi-step prediction intervals; the horizon is h = g + 1.

Nothing is learnt from rounds without a label, and the forecast replaces the label: g
such rounds after the last label, a forecast depends on g forecasts. The growth of the
errors of such forecasts is measured, not modelled. A fresh Tracker replays the last
rounds before the gap. At every 11th round a copy of it continues without labels, and
the sizes of its errors are divided by those of the Tracker's own forecasts of the same
labels:

    growth(g) = Σ_o |y_{o+g} - forecast of o+g made at o| / Σ_o |y_{o+g} - forecast|

with the sums taken over neighbouring distances, too, as errors at a distance vary; made
non-decreasing in g, and at least 1. The interval of the state, which is that of
distance 0, is multiplied by it. As both errors are those of the fresh Tracker, it
hardly matters that it has learnt less than the present one.

All of it is a function of the state, which holds the last 512 rounds (past_x, past_y)
and counts those without a label. It costs as much as some 500 to 1,000 rounds when an
interval in a gap is requested or recorded, and nothing otherwise. Therefore the
replayed rounds end at a multiple of 96, all gaps up to the next multiple share them,
and the last results are cached (``_growth_curve``).

Rounds without a label among those played again count as if the forecast had been the
label. Their errors are small in numerator and denominator alike.
"""

import functools
import math
from typing import Any, NamedTuple

import numpy as np

from thalweg.kernels.tracker import tracker_layout as layout
from thalweg.learners.tracker.workspace import TrackerWorkspace
from thalweg.types import FloatArray

WINDOW = 352
"""Number of rounds replayed. On the five streams of benchmarks/gap_intervals.py
coverage was more uneven with 256, and no better with 448."""
GRID = 96
"""The last replayed round is a multiple of this; coverage is as good as with the very
last rounds. 64 rounds of a gap may then pass before the state forgets the first one."""
MIN_WINDOW = 64
"""Minimum number of rounds replayed."""
LEARNING_SHARE = 0.4
"""Share of them that the fresh Tracker learns before the first copy is made."""
ORIGIN_STEP = 11
"""Number of rounds between two copies; prime, so that they fall on all hours and
weekdays."""
DISTANCES = (8, 16, 32, 64)
"""Numbers of rounds that copies play: at least the length of the gap, or 64."""
MAX_SMOOTHING = 3
"""Limit of the number of distances on either side that are summed with one, g; also
limited to g/3."""
MAX_GROWTH = 1e6


class GapWindow(NamedTuple):
    """The rounds before a gap, oldest first."""

    x: FloatArray  # (T, n)
    y: FloatArray  # (T,) labels, and forecasts where none came


def error_growth(tracker: Any, s: layout.StateViews) -> float:
    """The width of this state's intervals, in units of that at distance 0.

    1 where the last round that passed was learnt. It does not decrease with the
    distance as long as the whole window is remembered, for 64 rounds; later there are
    fewer rounds to play again, and where they are less than 64, as at the start of a
    stream, errors are taken to grow as those of a random walk do.
    """
    gap, delay = (int(s.counters[i]) for i in (layout.GAP_ROUNDS, layout.DELAY))
    if gap == 0:
        return 1.0
    window = window_before_gap(s)
    longest = min(DISTANCES[-1], _scored_rounds(len(window.y), delay) // 2)
    if len(window.y) < MIN_WINDOW or longest < DISTANCES[0]:
        return _unmeasured_growth(s)
    distance = min(next((d for d in DISTANCES if d >= gap), longest), longest)
    hinges = np.vstack(_hinges(s)).tobytes()
    x, y = window.x.tobytes(), window.y.tobytes()
    return _growth_at(_growth_curve(tracker, hinges, x, y, distance), gap)


def _unmeasured_growth(s: layout.StateViews) -> float:
    """The growth of the errors of a random walk, √(1 + g/(1 + delay)).

    Once 64 labels are known, errors are taken to be no larger than the difference of
    two labels picked at random: √2 times their deviation.
    """
    counters = s.counters
    growth = math.sqrt(1 + counters[layout.GAP_ROUNDS] / (1 + counters[layout.DELAY]))
    scale, spread = float(counters[layout.ERROR_SCALE]), float(s.lags.spread[0])
    if counters[layout.ROUNDS] < MIN_WINDOW or scale == 0:
        return growth
    return min(growth, max(math.sqrt(2 * spread) / scale, 1.0))


def window_before_gap(s: layout.StateViews) -> GapWindow:
    """The rounds that are played again; there may be none."""
    passed, gap = (
        int(s.counters[i]) for i in (layout.PASSED_ROUNDS, layout.GAP_ROUNDS)
    )
    end = (passed - gap) // GRID * GRID
    forgotten = -(-(passed - layout.MAX_SEASON) // GRID) * GRID
    rounds = np.arange(max(end - WINDOW, forgotten, 0), end)
    newest = -passed % layout.MAX_SEASON
    y = s.past_y[newest + passed - 1 - rounds]
    return GapWindow(s.past_x[rounds % layout.MAX_SEASON], y)


@functools.lru_cache(16)
def _growth_curve(
    tracker: Any, hinges: bytes, x: bytes, y: bytes, distance: int
) -> FloatArray:
    """The growth of errors at distances 0 to ``distance``.

    What it says of a distance does not depend on how many more there are.
    """
    labels = np.frombuffer(y)
    rows = np.frombuffer(x).reshape(len(labels), -1)
    n = rows.shape[1]
    start: FloatArray = tracker.init(np.zeros(n)).packed
    drawn = np.frombuffer(hinges).reshape(5, -1)
    parts = (drawn[:2], drawn[2:4], drawn[4:])
    for own, values in zip(_hinges(layout.views(start, n)), parts, strict=True):
        own[:] = values
    distances = distance + _smoothing(distance) + 1
    late, prompt = _error_sizes(start, rows, labels, distances)
    growth = np.ones(distance + 1)
    for g in range(1, distance + 1):
        near = slice(g - _smoothing(g), g + _smoothing(g) + 1)
        usual = prompt[near].sum()
        ratio = late[near].sum() / usual if usual > 0 else 1.0
        growth[g] = max(growth[g - 1], min(ratio, MAX_GROWTH))
    return growth


def _error_sizes(
    start: FloatArray, x: FloatArray, y: FloatArray, distances: int
) -> tuple[FloatArray, FloatArray]:
    """Sums over origins of |error| at each distance, and of the errors at the same
    rounds of forecasts with all labels.
    """
    n, delay = x.shape[1], int(start[layout.DELAY])
    first = len(y) - delay - _scored_rounds(len(y), delay)
    piece, horizon = max(first, ORIGIN_STEP), delay + distances
    tracker = TrackerWorkspace(start, n, 0, piece, ("forecast",))
    copy = TrackerWorkspace(start, n, 0, horizon, ("forecast",))
    forecast, late, ones = np.empty(len(y)), [], np.ones(len(y))
    edges = [0, *range(first, len(y), ORIGIN_STEP), len(y)]
    for origin, end in zip(edges, edges[1:], strict=False):
        if origin > 0:
            rows = slice(origin, origin + horizon)
            copy.restore(tracker.packed)
            weights = np.zeros(len(y[rows]))
            played = copy.play(x[rows], y[rows], weights, weights + 1)["forecast"]
            late.append(abs(y[rows] - played)[delay:])
        rows = slice(origin, end)
        played = tracker.play(x[rows], y[rows], ones[rows], ones[rows])["forecast"]
        forecast[rows] = played
    prompt = abs(y - forecast)
    sums = np.zeros((2, distances))
    for origin, errors in zip(edges[1:], late, strict=False):
        count, target = len(errors), origin + delay
        sums[0, :count] += errors
        sums[1, :count] += prompt[target : target + count]
    return sums[0], sums[1]


def _smoothing(distance: int) -> int:
    """The number of distances on either side that are summed with this one."""
    return min(distance // 3, MAX_SMOOTHING)


def _scored_rounds(rounds: int, delay: int) -> int:
    """The number of replayed rounds that a copy can forecast."""
    return rounds - int(LEARNING_SHARE * rounds) - 2 * delay


def _hinges(s: layout.StateViews) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Coordinates (2, h), directions (2, h) and biases (1, h) of the hinges."""
    curvature = s.curvature
    return curvature.coordinates, curvature.directions, curvature.biases[None]


def _growth_at(growth: FloatArray, gap: int) -> float:
    """The growth at a distance, extrapolated beyond the last one from its second half:
    as a power of the distance, with an exponent of at most 1.
    """
    last = len(growth) - 1
    if gap <= last:
        return float(growth[gap])
    half = last // 2
    power = min(math.log(growth[last] / growth[half]) / math.log(last / half), 1.0)
    return float(min(growth[last] * (gap / last) ** power, MAX_GROWTH))


def growth_of_rows(
    tracker: Any, before: FloatArray, after: FloatArray, x: FloatArray,
    columns: tuple[FloatArray, FloatArray, FloatArray],
) -> FloatArray:  # fmt: skip
    """The growth of errors at each of the rows x (T, n), 1 where no label is missing.

    The packed states are those before and after the rows were played, ``columns`` are
    y, weight and elapsed time as ``TrackerWorkspace.play`` takes them. Where rounds
    passed without a label, the rows are played again, one by one.
    """
    n, (y, weight, elapsed) = x.shape[1], columns
    if not len(y):  # all rows are asked of one state
        if before[layout.GAP_ROUNDS] == 0:
            return np.ones(len(x))
        return np.full(len(x), error_growth(tracker, layout.views(before, n)))
    growth = np.ones(len(x))
    if before[layout.GAP_ROUNDS] == 0 and _count_skipped(before) == _count_skipped(
        after
    ):
        return growth
    workspace = TrackerWorkspace(before, n)
    s = layout.views(workspace.packed, n)
    for t in range(len(x)):
        growth[t] = error_growth(tracker, s)
        row = slice(t, t + 1)
        workspace.play(x[row], y[row], weight[row], elapsed[row])
    return growth


def _count_skipped(packed: FloatArray) -> float:
    """Number of rounds skipped so far, without those that a replay has forgotten."""
    return float(packed[layout.PASSED_ROUNDS] - packed[layout.ROUNDS])


def widen_intervals(
    interval: FloatArray, forecast: FloatArray, growth: FloatArray
) -> None:
    """Set the ends (T, ...) as many times further from the forecasts (T,)."""
    wider = growth > 1  # the others stay as they are, to the last bit
    trailing = tuple(range(1, interval.ndim))
    centre, factor = (np.expand_dims(a[wider], trailing) for a in (forecast, growth))
    interval[wider] = centre + factor * (interval[wider] - centre)
