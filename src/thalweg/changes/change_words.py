"""Changes in plain words: what an alarm says of the target.

An alarm is raised a few rows after the change. Its levels occurred: they are medians of
those rows, and of rows before them or of the same hours a week before. The part by
which a level rose is given as exactly as that allows: about 20 %, not 22 %.
"""

from collections.abc import Sequence

from thalweg.kernels.change_detector import detector_layout as layout
from thalweg.types import FloatArray

ALARM_VALUES = layout.ALARM_FIELDS
"""Where a record of an alarm that is listed has the number of values since the onset:
of rows."""
LISTED_FIELDS = layout.ALARM_FIELDS + 1
MIN_LEVEL_RATIO = 3.0
"""Minimum level, in standard deviations of its noise, of which a fall is given in
percent."""
MAX_PERCENT = 2.0
"""From this ratio on a rise is given in times, not in percent."""
MAX_TIMES, MIN_TIMES_ERROR = 1000.0, 0.05
"""Limit of ratios, as greater ones say no more than the two levels do; and the relative
uncertainty from which on a ratio is "about" its value."""
NOTHING = 1e-9
"""Numbers below this part of others in the same sentence are rounding errors of 0."""
FEW_VALUES = 10
"""Number of values below which a level is given as that of its first rows."""
SLIGHT_PERCENT, SLIGHT_VARIANCE = 1.0, (0.8, 1.25)
"""A smaller change of the level, or ratio of variances, is called slight: it was seen
because many rows agree, or is larger than the first rows show."""


def change_kind(record: FloatArray) -> str:
    """One of ``CHANGE_KINDS``, of a record of the kernel."""
    kind = _statistic(record).kind
    return "trend" if kind == "level" and record[layout.TREND_CHANGE] else kind


def change_text(record: FloatArray, columns: Sequence[str]) -> str:
    """What changed, such as "level fell by 90 %, from 100 to 10"."""
    return _TEXTS[change_kind(record)](record, columns)


def _statistic(record: FloatArray) -> layout.Statistic:
    """The statistic that raised an alarm."""
    place = min(int(record[layout.ALARM_STATISTIC]), layout.OWN_STATISTICS)
    return layout.STATISTICS[place]


def _relation_text(record: FloatArray, columns: Sequence[str]) -> str:
    column = (int(record[layout.ALARM_STATISTIC]) - layout.OWN_STATISTICS) // 2
    return f"relation to {columns[column]!r} changed"


def _trend_text(record: FloatArray, columns: Sequence[str]) -> str:
    return f"trend turned {'up' if record[layout.TREND_CHANGE] > 0 else 'down'}"


def _variance_text(record: FloatArray, columns: Sequence[str]) -> str:
    if record[layout.SPREAD_AFTER] == 0:
        rows, value = _rows_since(record), record[layout.LEVEL_AFTER]
        return f"value stuck at {value:.6g}, the same for {rows:,} rows"
    before, after = _without_rounding(
        record[layout.SPREAD_BEFORE], record[layout.SPREAD_AFTER]
    )
    is_rise = not _statistic(record).is_down
    verb = "rose" if is_rise else "fell"
    if not (before > 0 and after > 0):
        return f"variance {verb} {'from' if is_rise else 'to'} 0"
    ratio = (after / before) ** 2
    if is_rise != (ratio > 1) or SLIGHT_VARIANCE[0] < ratio < SLIGHT_VARIANCE[1]:
        return f"variance {verb} slightly"
    if is_rise:
        return f"variance rose {ratio:.2g} times" if ratio < 100 else "variance rose"
    return f"variance fell to {ratio:.2g} of what it was"


def _level_text(record: FloatArray, columns: Sequence[str]) -> str:
    text = _levels_text(record)
    if float(record[layout.SPREAD_AFTER]) == 0 < float(record[layout.SPREAD_BEFORE]):
        text += f", stuck there for {_rows_since(record):,} rows"
    return text


def _levels_text(record: FloatArray) -> str:
    before, after = _without_rounding(
        record[layout.LEVEL_BEFORE], record[layout.LEVEL_AFTER]
    )
    verb = "rose" if after > before else "fell"
    between = f"from {_short(before)} to {_short(after)}"
    noise, values = float(record[layout.SPREAD_BEFORE]), max(record[ALARM_VALUES], 1.0)
    # A part of a negative level says nothing: such values may be on both sides of 0.
    is_part = before > MIN_LEVEL_RATIO * noise and after >= 0
    if not is_part or after > MAX_TIMES * before:
        first = f"{_first_rows(record)}, " if values < FEW_VALUES else ""
        return f"level {verb}{first or ' '}{between}"
    ratio = after / before
    # Both levels are medians of about as many values, each with the noise before.
    uncertainty = ratio * noise / before * (2 / values) ** 0.5
    if ratio >= MAX_PERCENT:
        if uncertainty < MIN_TIMES_ERROR * ratio:
            return f"level {verb} to {ratio:.2g} times, {between}"
        return (
            f"level {verb} to about {ratio:.2g} times{_first_rows(record)}, {between}"
        )
    if 100 * abs(1 - ratio) < SLIGHT_PERCENT:
        return f"level {verb} slightly, {between}"
    change = _percent(abs(1 - ratio), uncertainty)
    if change.startswith("about"):
        change += _first_rows(record)
    return f"level {verb} by {change}, {between}"


def _first_rows(record: FloatArray) -> str:
    """That a level is the one since the change began, which is few rows."""
    rows = _rows_since(record)
    return f" in its first {rows:,} rows" if rows > 1 else " in its first row"


def _without_rounding(before: float, after: float) -> tuple[float, float]:
    """Both numbers, with 0 for one that is nothing beside the other."""
    limit = NOTHING * max(abs(before), abs(after))
    return (
        0.0 if abs(before) <= limit else float(before),
        0.0 if abs(after) <= limit else float(after),
    )


def _rows_since(record: FloatArray) -> int:
    """The rows from the onset of a change to its alarm."""
    return int(record[layout.ALARM_ROW] - record[layout.ALARM_ONSET]) + 1


def _percent(part: float, uncertainty: float) -> str:
    """A part in percent, as exactly as it is known: its standard deviation is given."""
    percent, deviation = 100 * part, 100 * uncertainty
    step = 1 if deviation < 1 else 5 if deviation < 4 else 10
    rounded = max(step * round(percent / step), step)
    return f"{rounded:.0f} %" if step == 1 else f"about {rounded:.0f} %"


def _short(value: float) -> str:
    """Three significant digits, with an exponent only beyond a billion."""
    rounded = float(f"{value:.3g}")
    if rounded == 0 or 1e-4 <= abs(rounded) < 1e3:
        return f"{rounded:g}"
    return f"{rounded:,.0f}" if 1e3 <= abs(rounded) < 1e9 else f"{value:.2e}"


_TEXTS = {
    "level": _level_text,
    "trend": _trend_text,
    "variance": _variance_text,
    "relation": _relation_text,
}
CHANGE_KINDS = tuple(_TEXTS)
