"""A season that is known beforehand, as the day is by the clock.

``find_season`` looks among all lags, after 32, 64, … rows. One that is known is taken
as soon as it has been seen three times, if it explains the values as well as one that
is found has to.
"""

from thalweg.kernels.change_detector.detector import take_season
from thalweg.kernels.change_detector.detector_layout import ROWS, SEASON, STATE
from thalweg.kernels.change_detector.season_search import MIN_GAIN, season_ratio
from thalweg.kernels.jit import kernel

unpack_state = STATE.unpack


SEASONS = 8
"""So many of the last seasons are looked at."""


@kernel(ieee_division=True, nogil=True)
def take_known_season(buffer, season, columns):
    """Take this season if there is none yet; ``buffer`` is as for detect_changes."""
    s = unpack_state(buffer, 0, columns)
    rows = int(s.counters[ROWS])
    if s.counters[SEASON] > 0.0:
        return
    count = min(rows, SEASONS * season)
    ratio = season_ratio(s.adjusted, s.past_squares, rows, count, season)
    if ratio < 1.0 - MIN_GAIN:
        take_season(s, season)
