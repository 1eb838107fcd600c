"""Changes in plain words: what an alarm says of the target.

An alarm is raised a few rows after the change, and its levels are means over those rows
and as many before. The part by which a level rose is told as exactly as that allows:
about 20 %, not 22 %.
"""

from collections.abc import Sequence

from thalweg.kernels.change_detector.detector_layout import (
    ALARM_ONSET,
    ALARM_ROW,
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
    text = _level_text(record)
    if float(record[SPREAD_AFTER]) == 0 < float(record[SPREAD_BEFORE]):
        text += f", stuck there for {_rows_since(record):,} rows"
    return text


def _variance_text(record: FloatArray) -> str:
    before, after = float(record[SPREAD_BEFORE]), float(record[SPREAD_AFTER])
    if after == 0:
        rows = _rows_since(record)
        return f"value stuck at {record[LEVEL_AFTER]:.6g}, the same for {rows:,} rows"
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
    rows = _rows_since(record)
    # Both levels are means over about so many rows, each with the noise before.
    uncertainty = ratio * noise / abs(before) * (2 / max(rows, 1)) ** 0.5
    change = _percent(abs(1 - ratio), uncertainty)
    if change.startswith("about"):
        change += f" in its first {rows:,} rows" if rows > 1 else " in its first row"
    return f"level {verb} by {change}, {between}"


def _rows_since(record: FloatArray) -> int:
    """The rows from the onset of a change to its alarm."""
    return int(record[ALARM_ROW] - record[ALARM_ONSET]) + 1


def _percent(part: float, uncertainty: float) -> str:
    """A part in percent, as exactly as it is known: its standard deviation is given."""
    percent, deviation = 100 * part, 100 * uncertainty
    if percent < 1:
        return f"{percent:.2g} %"
    step = 1 if deviation < 1 else 5 if deviation < 4 else 10
    rounded = max(step * round(percent / step), step)
    return f"{rounded:.0f} %" if step == 1 else f"about {rounded:.0f} %"


def _short(value: float) -> str:
    """Three significant digits, with an exponent only beyond a billion."""
    rounded = float(f"{value:.3g}")
    if rounded == 0 or 1e-4 <= abs(rounded) < 1e3:
        return f"{rounded:g}"
    return f"{rounded:,.0f}" if 1e3 <= abs(rounded) < 1e9 else f"{value:.2e}"
