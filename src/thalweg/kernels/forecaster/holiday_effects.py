r"""Effects of public holidays and of the days around the year's end.

A holiday resembles a Sunday, to a degree that is learnt. With P_w(i) the mean of row i
on the last weekdays w, q = P_Sunday - P_w, and a = y - P_w the anomaly of a day, the
effect of a holiday of the country c is

.. math:: e = \alpha q + \rho_d, \qquad
          \alpha = \frac{\sum a \cdot q + \alpha_0 \lambda n s^2}
                        {\sum q \cdot q + \lambda n s^2}

where the sums are over the past holidays of c (discounted), n is the number of rows of
a day and s² the median of the mean squared anomalies of ordinary days. The dates around
the year's end have effects ρ_d of their own: the mean of what the anomalies of that
date had beyond the first part, shrunk by how far that is above the anomalies of
ordinary days (positive-part James-Stein). So a shop that closes on one day of the year
is known after one year, whatever its Sundays are like.

**The country** is the one whose holidays have been most like Sundays: the gain of each
is the sum of log-likelihood ratios of its holidays, with an effect of ``TEST_SHARE`` q
against no effect. Below ``MIN_GAIN`` no country is adopted, and there is no effect.

The effects of a day are computed before any origin forecasts it, and do not change. So
the rest of the Forecaster forecasts y - e, and e is added to forecasts. Also known as:
calendar adjustment, moving-holiday regressors.
"""

import math

from thalweg.kernels.compiler.jit import inner_function
from thalweg.kernels.forecaster import forecaster_layout as layout

SUNDAY = 6
WEEKDAY, COUNTRY_BITS, YEAR_END_DATE = range(3)
"""What is known of a day in advance: its weekday (0 for Monday), the countries that
have a holiday as bits of a number, and its date around the year's end, or -1."""
MIN_PROFILE_SHARE = 1 / 6
"""Minimum share of a new day in a weekday's mean: six weeks count."""
MIN_PROFILE_DAYS = 3
"""Minimum number of days before the mean of a weekday is used."""
MIN_USUAL_DAYS, MIN_LIMIT_DAYS = 20, 5
"""Minimum number of ordinary days before the size of anomalies is known, and before it
limits others."""
MIN_USUAL_SIZE = 1e-290
"""Minimum mean square to divide by: smaller ones are rounded too coarsely, and count as
0."""
UNUSUAL_SHARE = 0.9
"""The quantile of the effects of ordinary days that a date's own effect must exceed."""
MAX_SIZE = 400.0
"""Limit of a day's mean squared anomaly, in units of the usual one, and in units of
that of the largest effect of a holiday."""
PRIOR_SHARE, PRIOR_WEIGHT = 0.5, 1.0
"""α₀ and λ."""
MIN_SHARE, MAX_SHARE = -1.0, 3.0
"""The limits of α."""
SHARED_NOISE = MIN_PROFILE_SHARE / 2
"""The share of the anomalies' variance that is noise of the weekday's mean. It is in a
and in q alike, so that their product is above 0 where nothing differs."""
TEST_SHARE, TEST_QUANTILE, INDEPENDENT_ROWS = 0.7, 0.8, 3.0
"""The effect assumed in the test of a country; the quantile of the anomalies of
ordinary days used as their variance, as they have heavy tails; and the limit of the
number of independent rows in a day, as errors of neighbouring rows are correlated."""
MAX_DAY_GAIN, MAX_GAIN = 6.0, 60.0
"""Limits of one day's evidence for or against a country, and of the sum."""
MIN_GAIN, LOST_GAIN, GAIN_MARGIN = 10.0, 5.0, 2.0
"""Minimum gain at which a country is adopted, the gain below which it is dropped, and
the minimum advantage of another country."""
HOLIDAY_MEMORY = 1 - 1 / 60
"""The discount of α's sums, per holiday."""
MAX_YEARS = 3.0
"""Number of years that count in the mean of a date's own effect."""


@inner_function
def effect_ahead(s, rows):
    """The effect of the row ``h`` rows after the next one."""
    length = s.day_values.size
    row = int(s.day_counters[layout.ROW_OF_DAY]) + rows
    day = int(s.day_counters[layout.DAY]) + row // length
    return s.day_effects[day % len(s.day_effects), row % length]


@inner_function
def pass_row(s, w, y, marks, first_day):
    """Go on to the next row, after the value y of this one, NaN where it is missing.

    ``marks`` (D, 3) is what is known in advance of the days from ``first_day`` on.
    """
    counters, length = s.day_counters, s.day_values.size
    row = int(counters[layout.ROW_OF_DAY])
    is_missing = math.isnan(y)
    s.day_values[row] = 0.0 if is_missing else y
    s.day_known[row] = 0.0 if is_missing else 1.0
    if row + 1 < length:
        counters[layout.ROW_OF_DAY] = row + 1
        return
    day, ring = int(counters[layout.DAY]), len(s.day_effects)
    _learn_day(s, w, marks[day - first_day], s.day_effects[day % ring])
    # The slot of the day that has passed is that of the day after all known ones.
    ahead = marks[day + ring - first_day]
    _set_effects(s, w, ahead, s.day_effects[day % ring])
    for i in range(length):
        s.day_known[i] = 0.0
    counters[layout.ROW_OF_DAY], counters[layout.DAY] = 0, day + 1


@inner_function
def _learn_day(s, w, mark, effects):
    """Learn the values of a day whose effects were these."""
    weekday, length = int(mark[WEEKDAY]), s.day_values.size
    profile, sundays = s.week_profile[weekday], s.week_profile[SUNDAY]
    known, size, product, square = 0, 0.0, 0.0, 0.0
    for i in range(length):
        if s.day_known[i] > 0:
            anomaly, step = s.day_values[i] - profile[i], sundays[i] - profile[i]
            known, size = known + 1, size + anomaly * anomaly
            product, square = product + anomaly * step, square + step * step
    if 2 * known < length:
        return
    size, usual, factor = size / known, 0.0, 1.0
    if s.week_counts[weekday] >= MIN_PROFILE_DAYS:
        usual = usual_size(s, w, 0.5, MIN_LIMIT_DAYS)
        limit = MAX_SIZE * usual + MAX_SHARE * MAX_SHARE * square / known
        if usual > 0 and size > limit:
            factor = math.sqrt(limit / size)
            size, product = limit, factor * product
        is_future = s.day_counters[layout.USUAL_COUNT] >= MIN_USUAL_DAYS and usual > 0
        if is_future and s.week_counts[SUNDAY] >= MIN_PROFILE_DAYS:
            noise = known * usual_size(s, w, TEST_QUANTILE, MIN_USUAL_DAYS)
            product -= SHARED_NOISE * known * usual
            _learn_countries(s, mark, product, square, noise)
            _learn_date(s, mark, factor)
            _choose_country(s)
        if mark[COUNTRY_BITS] == 0 and mark[YEAR_END_DATE] < 0:
            s.usual_sizes[
                int(s.day_counters[layout.USUAL_COUNT]) % layout.USUAL_DAYS
            ] = size
            s.day_counters[layout.USUAL_COUNT] += 1
    s.week_counts[weekday] += 1
    share = max(1 / s.week_counts[weekday], MIN_PROFILE_SHARE)
    for i in range(length):
        if s.day_known[i] > 0:
            anomaly = factor * (s.day_values[i] - profile[i])
            profile[i] += share * (anomaly - effects[i])


@inner_function
def usual_size(s, w, quantile, least):
    """A quantile of the mean squared anomalies of ordinary days; 0 while fewer than
    ``least`` are known, and where it is too small to divide by."""
    count = min(int(s.day_counters[layout.USUAL_COUNT]), layout.USUAL_DAYS)
    if count < least:
        return 0.0
    ordered = w.ordered_sizes
    for i in range(count):  # insertion sort
        size, k = s.usual_sizes[i], i
        while k > 0 and ordered[k - 1] > size:
            ordered[k] = ordered[k - 1]
            k -= 1
        ordered[k] = size
    size = ordered[int(quantile * (count - 1))]
    return size if size >= MIN_USUAL_SIZE else 0.0


@inner_function
def _learn_countries(s, mark, product, square, usual_sum):
    """Learn how like a Sunday the day was, in the countries that have a holiday."""
    gain = TEST_SHARE * (2 * product - TEST_SHARE * square)
    gain *= min(INDEPENDENT_ROWS, s.day_values.size) / (2 * usual_sum)
    gain = min(max(gain, -MAX_DAY_GAIN), MAX_DAY_GAIN)
    bits, moments = int(mark[COUNTRY_BITS]), s.country_moments
    for c in range(layout.COUNTRIES):
        if bits >> c & 1:
            moments[layout.GAIN, c] = min(
                max(moments[layout.GAIN, c] + gain, -MAX_GAIN), MAX_GAIN
            )
            before, squares = (
                moments[layout.ALPHA_MOMENT, c],
                moments[layout.SQUARE_MOMENT, c],
            )
            moments[layout.ALPHA_MOMENT, c] = HOLIDAY_MEMORY * before + product
            moments[layout.SQUARE_MOMENT, c] = HOLIDAY_MEMORY * squares + square


@inner_function
def _learn_date(s, mark, factor):
    """Learn the own effect of a date around the year's end."""
    date, weekday = int(mark[YEAR_END_DATE]), int(mark[WEEKDAY])
    if date < 0:
        return
    alpha = holiday_share(s, mark, 0.0, 0.0)
    s.date_counts[date] += 1
    share = max(1 / s.date_counts[date], 1 / MAX_YEARS)
    for i in range(s.day_values.size):
        if s.day_known[i] > 0:
            usual = s.week_profile[weekday, i]
            rest = factor * (s.day_values[i] - usual)
            rest -= alpha * (s.week_profile[SUNDAY, i] - usual)
            s.date_effects[date, i] += share * (rest - s.date_effects[date, i])


@inner_function
def holiday_share(s, mark, prior_share, prior_weight):
    """α of a day: 0 where it is no holiday of the country that was found."""
    country = int(s.day_counters[layout.COUNTRY]) - 1
    if country < 0 or not int(mark[COUNTRY_BITS]) >> country & 1:
        return 0.0
    square = s.country_moments[layout.SQUARE_MOMENT, country] + prior_weight
    if square <= 0:
        return 0.0
    product = (
        s.country_moments[layout.ALPHA_MOMENT, country] + prior_share * prior_weight
    )
    share = product / square
    return min(max(share, MIN_SHARE), MAX_SHARE)


@inner_function
def _choose_country(s):
    """Adopt the country whose holidays are most like Sundays, if that is clear."""
    gains, best = s.country_moments[layout.GAIN], 0
    for c in range(1, layout.COUNTRIES):
        if gains[c] > gains[best]:
            best = c
    now = int(s.day_counters[layout.COUNTRY]) - 1
    if now >= 0 and gains[now] < LOST_GAIN:
        now = -1
    if gains[best] > MIN_GAIN and (now < 0 or gains[best] > gains[now] + GAIN_MARGIN):
        now = best
    s.day_counters[layout.COUNTRY] = now + 1


@inner_function
def _set_effects(s, w, mark, effects):
    """Set the effects of a day to come."""
    for i in range(effects.size):
        effects[i] = 0.0
    weekday, date = int(mark[WEEKDAY]), int(mark[YEAR_END_DATE])
    usual, length = usual_size(s, w, 0.5, MIN_USUAL_DAYS), effects.size
    is_future = min(s.week_counts[weekday], s.week_counts[SUNDAY]) >= MIN_PROFILE_DAYS
    if usual == 0 or not is_future:
        return
    alpha = holiday_share(s, mark, PRIOR_SHARE, PRIOR_WEIGHT * length * usual)
    if alpha != 0:
        for i in range(length):
            effects[i] = alpha * (
                s.week_profile[SUNDAY, i] - s.week_profile[weekday, i]
            )
    if date >= 0 and s.date_counts[date] > 0:
        _add_date_effect(s, w, date, effects)
    # A shop that is always closed on Sundays is so on the 24th of December, whatever
    # that date was like on a Saturday.
    for i in range(length):
        if s.week_profile[weekday, i] == 0.0:
            effects[i] = 0.0


@inner_function
def _add_date_effect(s, w, date, effects):
    """Add the own effect of a date around the year's end, as far as it is unusual."""
    size, length = 0.0, effects.size
    for i in range(length):
        size += s.date_effects[date, i] * s.date_effects[date, i]
    size *= math.sqrt(min(s.date_counts[date], MAX_YEARS)) / length
    unusual = usual_size(s, w, UNUSUAL_SHARE, MIN_USUAL_DAYS)
    if size > unusual:
        for i in range(length):
            effects[i] += (1 - unusual / size) * s.date_effects[date, i]
