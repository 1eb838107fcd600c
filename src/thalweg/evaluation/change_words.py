"""Changes in plain words: what an alarm says of the target."""

from collections.abc import Sequence

from thalweg.kernels.change_detector.detector_layout import (
    ALARM_STATISTIC,
    LEVEL_AFTER,
    LEVEL_BEFORE,
    OWN_STATISTICS,
    SPREAD_AFTER,
    SPREAD_BEFORE,
    TREND_CHANGE,
    VARIANCE_UP,
)
from thalweg.types import FloatArray

MIN_LEVEL_RATIO = 3.0
"""A level can fall by a percentage if it is at least so many standard deviations of its
noise away from 0."""
MAX_PERCENT = 2.0
"""From this ratio on a rise is given in times, not in percent."""


def change_kind(record: FloatArray) -> str:
    """One of ``study.CHANGE_KINDS``, of a record of the kernel."""
    statistic = int(record[ALARM_STATISTIC])
    if statistic >= OWN_STATISTICS:
        return "relation"
    if statistic >= VARIANCE_UP:
        return "variance"
    return "trend" if record[TREND_CHANGE] else "level"


def change_text(record: FloatArray, columns: Sequence[str]) -> str:
    """What changed, such as "level fell by 90 %, from 100 to 10"."""
    kind = change_kind(record)
    if kind == "relation":
        column = (int(record[ALARM_STATISTIC]) - OWN_STATISTICS) // 2
        return f"relation to {columns[column]!r} changed"
    if kind == "variance":
        return _variance_text(record)
    if kind == "trend":
        slope = float(record[TREND_CHANGE])
        return f"trend turned {'up' if slope > 0 else 'down'}"
    return _level_text(record)


def _variance_text(record: FloatArray) -> str:
    before, after = float(record[SPREAD_BEFORE]), float(record[SPREAD_AFTER])
    is_rise = int(record[ALARM_STATISTIC]) == VARIANCE_UP
    if not before > 0:
        return "variance rose from 0"
    ratio = (after / before) ** 2
    if is_rise:
        return f"variance rose {ratio:.2g} times" if ratio < 100 else "variance rose"
    return f"variance fell to {ratio:.2g} of what it was"


def _level_text(record: FloatArray) -> str:
    before, after = float(record[LEVEL_BEFORE]), float(record[LEVEL_AFTER])
    verb = "rose" if after > before else "fell"
    between = f"from {_short(before)} to {_short(after)}"
    noise = float(record[SPREAD_BEFORE])
    if before * after < 0 or abs(before) <= MIN_LEVEL_RATIO * noise or before == 0:
        return f"level {verb} {between}"
    ratio = after / before
    if ratio >= MAX_PERCENT:
        return f"level {verb} to {ratio:.2g} times, {between}"
    return f"level {verb} by {_percent(abs(1 - ratio))}, {between}"


def _percent(part: float) -> str:
    percent = 100 * part
    return f"{percent:.0f} %" if percent >= 1 else f"{percent:.2g} %"


def _short(value: float) -> str:
    """Three significant digits, with an exponent only beyond a billion."""
    rounded = float(f"{value:.3g}")
    if rounded == 0 or 1e-4 <= abs(rounded) < 1e3:
        return f"{rounded:g}"
    return f"{rounded:,.0f}" if 1e3 <= abs(rounded) < 1e9 else f"{value:.2e}"
