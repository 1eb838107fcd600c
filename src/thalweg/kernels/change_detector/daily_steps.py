"""Steps of rows with a daily course, where a day has hundreds of rows.

The contrast of a row is the median of its last seven rows less that of the seven rows
before these. It responds to a step within four rows, but hardly to a daily course,
which takes hours, or to outliers. Whatever of it is due to the time of day occurred on
other days as well: the deviation of a contrast from the median of those at the same
time on the last seven days is a step if it is far outside its usual scale,

    |c_t - median_d c_{t - d·day}| > limit · scale of this hour,

and if no contrast as large occurred near that hour a week ago or on two of the other
days, such as that of a batch job or of a week-end. The scale is the mean absolute
deviation near that hour, or more while noise is larger than usual. The limit is
``LIMIT``, or more where that was exceeded on several days. All this is done for values
and for logarithms, so that noise may grow with the level. There is no step in the first
two days. Hours are compared with the hours beside them as well, since daily courses
move by an hour with summer time.

The reference of a row is the median of seven rows a week ago. The change detector reads
the difference from it in units of the noise of that hour in place of values.
"""

import math

from thalweg.kernels.change_detector import daily_layout as layout
from thalweg.kernels.change_detector import detector_layout as alarm
from thalweg.kernels.change_detector.medians import insert
from thalweg.kernels.compiler.jit import inner_function, kernel

unpack_state = layout.STATE.unpack
WINDOW = 7
"""Number of rows in a median: a step is seen after four of them. Fewer may be
outliers."""
MIN_KNOWN = 4
"""Minimum number of known values among them."""
LIMIT = 6.0
"""Minimum deviation of a step, in standard deviations."""
EXTREME_RANK, EXTREME_MARGIN = 3, 1.2
"""The limit is at least the greatest deviation of each of three days, of the last
seven, and a fifth: one outage does not hide the next."""
USUAL_PART, USUAL_DAYS = 0.67, 2
"""A contrast is usual if at least this part of it occurred on that many other days, or
a week ago."""
NOISE_ROWS = 28
"""Number of last rows whose noise widens the scale, if it is larger than usual."""
FIRST_RANGE, FIRST_RATIO = 0.3, 2.0
"""Until a week is known, the minimum size of a step in units of the last day's range,
or the minimum ratio of levels: the first week-end is no step."""
DEVIATION_LIMIT = 4.0
"""Limit of a deviation, in units of its mean, from which the scale learns."""
SCALE_DAYS, NOISE_DAYS, SIZE_DAYS = 5.0, 7.0, 2.0
"""Memory, in days, of the scales of contrasts, of the noise, of the mean size."""
POOLED_PART, NOISE_PART = 0.3, 0.1
"""Minimum of an hour's scale, in units of that of all hours and of the noise."""
OFFSET = 0.05
"""What is added to values before their logarithm, in units of the mean size."""
NORMAL_SIZE = 1.2533
"""Standard deviation of a normal variable, in units of its mean absolute value."""
DIFFERENCE_SIZE = 0.8862
"""The same of noise, in units of the mean absolute difference of neighbours."""
LEVEL_ROWS = 7
"""Number of rows before a step whose median is the level before it."""
TINY = 1e-200


@kernel(ieee_division=True, nogil=True)
def find_daily_steps(buffer, work, day, labels, references, noises, records):
    """Play rows, and record steps of their level; returns how many there were.

    Shapes: buffer by the layout, zeros before the first row; work (KEPT_ROWS,); labels
    (T,), NaN where unknown; references and noises (T,), which are set, NaN where
    unknown; records (≥ T, ALARM_FIELDS), as those of ``detect_changes``. ``day`` is the
    number of rows in it.
    """
    s = unpack_state(buffer, 0, day)
    count = 0
    for t in range(labels.size):
        references[t], noises[t] = _take_value(s, work, day, labels[t])
        sign = 0.0
        for scale in range(layout.SCALES):
            found = _test_contrast(s, work, day, scale)
            sign = found if sign == 0.0 else sign
        s.counters[layout.ROWS] += 1
        if sign != 0.0 and _record_step(s, work, day, sign, records[count]):
            count += 1
    return count


@inner_function
def _take_value(s, work, day, y):
    """Remember a value; returns its reference, and the noise of this hour or NaN."""
    c, t = s.counters, int(s.counters[layout.ROWS])
    if t % day == 0:
        place = t // day % layout.KEPT_DAYS
        s.contrasts[:, :, place] = 0.0
        s.extremes[:, place] = 0.0
    before = s.recent[(t - 1) % layout.KEPT_ROWS] if t > 0 else math.nan
    s.recent[t % layout.KEPT_ROWS] = y
    if y < 0.0:
        c[layout.IS_SIGNED] = 1.0
    hour = _hour(t, day)
    noise, least = _hourly_mean(s.differences, hour), _least_mean(s.differences, hour)
    is_noise = least > POOLED_PART * _pooled_mean(s.differences)
    _learn_mean(s.differences[hour], abs(y - before), NOISE_DAYS * day)
    level = _median_of_rows(s, work, t - WINDOW + 1, t + 1, MIN_KNOWN)
    s.medians[t // day % layout.KEPT_DAYS, t % day] = level
    if not math.isnan(level):
        c[layout.MEAN_ROWS] = min(c[layout.MEAN_ROWS] + 1.0, SIZE_DAYS * day)
        size = abs(level) - c[layout.MEAN_SIZE]
        c[layout.MEAN_SIZE] += size / c[layout.MEAN_ROWS]
    # The median of the seven rows around this one, a week ago.
    ago = t - layout.WEEK * day + WINDOW // 2
    reference = _median(s, ago, day) if ago >= WINDOW else math.nan
    s.references[t % layout.KEPT_ROWS] = reference
    is_noise = is_noise and _week_extreme(s, t, day) <= LIMIT
    return reference, DIFFERENCE_SIZE * noise if is_noise else math.nan


@inner_function
def _test_contrast(s, work, day, scale):
    """1 or -1 if this row's contrast is that of a step up or down, else 0."""
    t = int(s.counters[layout.ROWS])
    place, hour = t // day % layout.KEPT_DAYS, _hour(t, day)
    contrast = _contrast(s, t, day, scale)
    deviation = contrast - _usual_contrast(s, work, t, day, scale)
    if not math.isnan(contrast):
        largest = s.contrasts[scale, 1 if contrast < 0.0 else 0, place]
        largest[hour] = max(largest[hour], abs(contrast))
    if math.isnan(deviation):
        return 0.0
    sums, size, ratio = s.deviations[scale], abs(deviation), 0.0
    mean = max(_hourly_mean(sums, hour), POOLED_PART * _pooled_mean(sums))
    if t >= 2 * day and mean > 0.0:
        least = 0.0
        if scale == layout.VALUES:
            least = NOISE_PART * _pooled_mean(s.differences)
        ratio = size / (NORMAL_SIZE * max(mean, least))
        size = min(size, DEVIATION_LIMIT * mean)
        s.extremes[scale, place, hour] = max(s.extremes[scale, place, hour], ratio)
    _learn_mean(sums[hour], size, SCALE_DAYS * day)
    if ratio <= LIMIT or deviation * contrast <= 0.0:
        return 0.0
    limit = max(LIMIT, EXTREME_MARGIN * _usual_extreme(s, work, t // day, scale))
    if ratio <= limit * _noise_growth(s, work, t, hour):
        return 0.0
    if _is_usual(s, t, day, scale, contrast) or _is_small(s, t, day):
        return 0.0
    return math.copysign(1.0, contrast)


@inner_function
def _hour(t, day):
    return t % day * layout.HOURS // day


@inner_function
def _learn_mean(sums, value, rows):
    """Add a value to the discounted sum of an hour and its number of rows.

    ``rows`` are those of all hours in the memory.
    """
    if not math.isnan(value):
        discount = 1.0 - layout.HOURS / rows
        sums[0] = discount * sums[0] + value
        sums[1] = discount * sums[1] + 1.0


@inner_function
def _hourly_mean(sums, hour):
    """The mean of an hour of the day and of the hours beside it."""
    total, count = 0.0, 0.0
    for k in range(hour - 1, hour + 2):
        total += sums[k % layout.HOURS, 0]
        count += sums[k % layout.HOURS, 1]
    return total / count if count > 0.0 else 0.0


@inner_function
def _least_mean(sums, hour):
    """The least of the means of an hour of the day and of the hours beside it."""
    least = math.inf
    for k in range(hour - 1, hour + 2):
        count = sums[k % layout.HOURS, 1]
        least = min(least, sums[k % layout.HOURS, 0] / count if count > 0.0 else 0.0)
    return least


@inner_function
def _pooled_mean(sums):
    """The mean of all hours."""
    total, count = 0.0, 0.0
    for k in range(layout.HOURS):
        total += sums[k, 0]
        count += sums[k, 1]
    return total / count if count > 0.0 else 0.0


@inner_function
def _median_of_rows(s, work, first, stop, least):
    """The lower median of recent values; NaN if fewer than ``least`` are known."""
    count = 0
    for t in range(max(first, 0), stop):
        count = insert(work, count, s.recent[t % layout.KEPT_ROWS])
    return work[(count - 1) // 2] if count >= least else math.nan


@inner_function
def _median(s, t, day):
    """The median of the seven rows until a row."""
    return s.medians[t // day % layout.KEPT_DAYS, t % day]


@inner_function
def _contrast(s, t, day, scale):
    """The contrast of a row; NaN where it is unknown, or has no logarithms."""
    if t < 2 * WINDOW - 1:
        return math.nan
    after, before = _median(s, t, day), _median(s, t - WINDOW, day)
    if scale == layout.VALUES:
        return after - before
    if s.counters[layout.IS_SIGNED] > 0.0:
        return math.nan
    offset = OFFSET * s.counters[layout.MEAN_SIZE] + TINY
    return math.log((after + offset) / (before + offset))


@inner_function
def _usual_contrast(s, work, t, day, scale):
    """The median of contrasts at this time of the last seven days; NaN without any."""
    count = 0
    for k in range(1, layout.WEEK + 1):
        count = insert(work, count, _contrast(s, t - k * day, day, scale))
    return work[(count - 1) // 2] if count > 0 else math.nan


@inner_function
def _usual_extreme(s, work, today, scale):
    """The greatest deviation that three of the last seven days reached.

    Of fewer days, all of them.
    """
    count = 0
    for k in range(max(today - layout.WEEK, 0), today):
        extreme = 0.0
        for hour in range(layout.HOURS):
            extreme = max(extreme, s.extremes[scale, k % layout.KEPT_DAYS, hour])
        count = insert(work, count, extreme if extreme > 0.0 else math.nan)
    return work[max(count - EXTREME_RANK, 0)] if count > 0 else 0.0


@inner_function
def _week_extreme(s, t, day):
    """The greatest deviation near this hour a week ago."""
    extreme, now = 0.0, t * layout.HOURS // day - layout.WEEK * layout.HOURS
    for hour in range(max(now - 1, 0), now + 2):
        place = hour // layout.HOURS % layout.KEPT_DAYS
        extreme = max(extreme, s.extremes[layout.VALUES, place, hour % layout.HOURS])
    return extreme


@inner_function
def _noise_growth(s, work, t, hour):
    """The noise of the last rows in units of that of this hour, at least 1."""
    count, usual = 0, _hourly_mean(s.differences, hour)
    for row in range(t - NOISE_ROWS + 1, t + 1):
        last = s.recent[(row - 1) % layout.KEPT_ROWS]
        count = insert(work, count, abs(s.recent[row % layout.KEPT_ROWS] - last))
    noise = work[(count - 1) // 2] if count > 0 else 0.0
    return max(noise / usual, 1.0) if usual > 0.0 else 1.0


@inner_function
def _is_usual(s, t, day, scale, contrast):
    """Whether a contrast as large occurred near this hour on other days."""
    days, sign = 0, 1 if contrast < 0.0 else 0
    for k in range(1, layout.WEEK + 1):
        largest, now = 0.0, t * layout.HOURS // day - k * layout.HOURS
        for hour in range(max(now - 1, 0), now + 2):
            place = hour // layout.HOURS % layout.KEPT_DAYS
            size = s.contrasts[scale, sign, place, hour % layout.HOURS]
            largest = max(largest, size)
        if largest >= USUAL_PART * abs(contrast):
            days += USUAL_DAYS if k == layout.WEEK else 1
    return days >= USUAL_DAYS


@inner_function
def _is_small(s, t, day):
    """Whether a step may be that of the first week-end."""
    if t >= (layout.WEEK + 1) * day:
        return False
    after, before = _median(s, t, day), _median(s, t - WINDOW, day)
    smaller, larger = min(abs(after), abs(before)), max(abs(after), abs(before))
    if after * before >= 0.0 and larger >= FIRST_RATIO * smaller:
        return False
    low, high = math.inf, -math.inf
    for row in range(t - day, t - WINDOW):
        level = _median(s, row, day)
        if not math.isnan(level):
            low, high = min(low, level), max(high, level)
    return abs(after - before) < FIRST_RANGE * (high - low)


@inner_function
def _record_step(s, work, day, sign, record):
    """Record a step, unless it is the last one; returns whether it was recorded."""
    c, end = s.counters, int(s.counters[layout.ROWS])
    onset = _step_onset(s, end)
    is_near = onset < c[layout.LAST_ONSET] - 1.0 + 2 * WINDOW
    if c[layout.LAST_ONSET] > 0.0 and sign == c[layout.LAST_SIGN] and is_near:
        return False
    c[layout.LAST_ONSET], c[layout.LAST_SIGN] = onset + 1.0, sign
    record[alarm.ALARM_ROW], record[alarm.ALARM_ONSET] = end - 1, onset
    record[alarm.ALARM_STATISTIC] = alarm.LARGE_UP if sign > 0.0 else alarm.LARGE_DOWN
    record[alarm.LEVEL_BEFORE] = _median_of_rows(s, work, onset - LEVEL_ROWS, onset, 1)
    record[alarm.LEVEL_AFTER] = _median_of_rows(s, work, onset, end, 1)
    hour = _hour(end - 1, day)
    noise = DIFFERENCE_SIZE * _hourly_mean(s.differences, hour)
    record[alarm.SPREAD_BEFORE] = record[alarm.SPREAD_AFTER] = noise
    record[alarm.TREND_CHANGE] = 0.0
    return True


@inner_function
def _step_onset(s, end):
    """The row that best divides the last 14 rows into two levels."""
    best, onset = -1.0, end - MIN_KNOWN
    for row in range(end - 2 * WINDOW + MIN_KNOWN, end - 2):
        before, count = 0.0, 0.0
        after, later = 0.0, 0.0
        for t in range(end - 2 * WINDOW, end):
            y = s.recent[t % layout.KEPT_ROWS]
            if not math.isnan(y):
                if t < row:
                    before += y
                    count += 1.0
                else:
                    after += y
                    later += 1.0
        if count > 0.0 and later > 0.0:
            gap = before / count - after / later
            gain = gap * gap * count * later
            if gain > best:
                best, onset = gain, row
    return onset
