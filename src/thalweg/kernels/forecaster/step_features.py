"""The features of a step: last values, the same phase of seasons before, profiles.

All values are less the *level*, the mean of the last season, and in units of the
*scale*, the mean deviation from it: so coefficients outlive a change of both. A
*profile* is the mean deviation from the level at each phase of a season, also known as
seasonal indices. A step that lies h rounds ahead is compared with what was known h
rounds before: with a season of s rounds, the value ⌈h/s⌉ s rounds before it.
"""

from thalweg.kernels.compiler.jit import inner_function
from thalweg.kernels.forecaster import forecaster_layout as layout

MIN_PROFILE_SHARE = 0.1
"""Minimum share of a new deviation in a profile: about ten seasons count."""
MIN_SLOW_SHARE = 0.02
"""The same in the slow profile."""
SCALE_CYCLES = 20.0
"""Number of cycles that count in the scale."""
MIN_RELATIVE_DEVIATION = 1e-13
"""Minimum deviation in units of the level: smaller ones are rounding."""
MAX_RELATIVE_DEVIATION, TRUSTED_DEVIATIONS = 15.0, 20
"""Limit of a deviation, in mean deviations, and number of first deviations without this
limit: else one outlier would distort the scale and a profile for many cycles."""
MAX_FEATURE = 1e6
"""Upper limit of a feature in units of the scale, which may be tiny."""
MIN_SCALE = 1e-290
MAX_SEASONS_AT_ONCE = 10
"""Limit of the seasons in a cycle whose past values count fully as soon as they are
known; in longer cycles (a year of weeks) their weight grows."""


@inner_function
def value_at(s, path, r):
    """The value of round r ≥ 0; of rounds to come that of the recursive forecast."""
    rounds = int(s.counters[layout.ROUNDS])
    if r >= rounds:
        return path[r - rounds]
    return s.values[r % s.values.size]


@inner_function
def learn_value(s, y, is_missing):
    """Add the value of the next round: levels, profiles, scale and range."""
    counters, values, past = s.counters, s.values, s.values.size
    t = int(counters[layout.ROUNDS])
    season, cycle = s.profile.shape[1], s.cycle_profile.shape[1]
    level_before = level_of(counters[layout.LEVEL_SUM], t, season)
    values[t % past] = y
    counters[layout.LEVEL_SUM] = _rolling_sum(
        values, counters[layout.LEVEL_SUM], t, season
    )
    counters[layout.CYCLE_SUM] = _rolling_sum(
        values, counters[layout.CYCLE_SUM], t, cycle
    )
    s.levels[t % s.levels.size] = level_of(counters[layout.LEVEL_SUM], t + 1, season)
    counters[layout.ROUNDS] += 1
    if is_missing:
        return
    if counters[layout.VALUE_COUNT] == 0:
        counters[layout.LOWEST], counters[layout.HIGHEST] = y, y
    counters[layout.VALUE_COUNT] += 1
    counters[layout.LOWEST] = min(counters[layout.LOWEST], y)
    counters[layout.HIGHEST] = max(counters[layout.HIGHEST], y)
    if t < season:
        return
    deviation = y - level_before
    if counters[layout.DEVIATION_COUNT] >= TRUSTED_DEVIATIONS:
        limit = MAX_RELATIVE_DEVIATION * counters[layout.DEVIATION]
        deviation = min(max(deviation, -limit), limit)
    _learn_profile(s.profile, t, deviation)
    _learn_profile(s.cycle_profile, t, deviation)
    phase = t % cycle
    share = max(1 / s.cycle_profile[1, phase], MIN_SLOW_SHARE)
    s.slow_profile[phase] += share * (deviation - s.slow_profile[phase])
    # Deviations that are rounding of the level do not count in the scale.
    if abs(deviation) > MIN_RELATIVE_DEVIATION * abs(level_before):
        counters[layout.DEVIATION_COUNT] += 1
        share = max(1 / counters[layout.DEVIATION_COUNT], 1 / (SCALE_CYCLES * cycle))
        counters[layout.DEVIATION] += share * (
            abs(deviation) - counters[layout.DEVIATION]
        )


@inner_function
def level_of(total, rounds, length):
    """The mean of the last values, from their sum; 0 before any."""
    return total / max(min(rounds, length), 1)


@inner_function
def _rolling_sum(values, total, t, length):
    """The sum of the last ``length`` values up to round t, which is stored by now.

    Once in ``length`` rounds it is summed from its values, so that rounding errors do
    not accumulate.
    """
    if t % length == length - 1:
        total = 0.0
        for r in range(t - length + 1, t + 1):
            total += values[r % values.size]
        return total
    total += values[t % values.size]
    return total - values[(t - length) % values.size] if t >= length else total


@inner_function
def _learn_profile(profile, t, deviation):
    """Move the mean deviation of this phase towards a new one."""
    phase = t % profile.shape[1]
    profile[1, phase] += 1
    share = max(1 / profile[1, phase], MIN_PROFILE_SHARE)
    profile[0, phase] += share * (deviation - profile[0, phase])


@inner_function
def profile_at(s, r):
    """The cycle's profile at round r; the season's, where that phase is new."""
    phase = r % s.cycle_profile.shape[1]
    if s.cycle_profile[1, phase] > 0:
        return s.cycle_profile[0, phase]
    return s.profile[0, r % s.profile.shape[1]]


@inner_function
def scale_feature(difference, scale):
    """A difference in units of the scale, limited."""
    return limit_feature(difference / scale)


@inner_function
def limit_feature(feature):
    """The feature within ±``MAX_FEATURE``."""
    return min(max(feature, -MAX_FEATURE), MAX_FEATURE)


@inner_function
def _value_in_scales(s, path, r, level, scale):
    """The value of round r, or of the first one, less the level, in units of the
    scale."""
    return scale_feature(value_at(s, path, max(r, 0)) - level, scale)


@inner_function
def set_origin_features(s, path, t, level, cycle_level, scale, lags, row):
    """Set the features that are the same for all steps from round t on."""
    season, cycle = s.profile.shape[1], s.cycle_profile.shape[1]
    row[layout.LAST] = _value_in_scales(s, path, t, level, scale)
    row[layout.LAST_BUT_ONE] = _value_in_scales(s, path, t - 1, level, scale)
    row[layout.LAST_BUT_TWO] = _value_in_scales(s, path, t - 2, level, scale)
    row[layout.SEASON_BEFORE] = _value_in_scales(s, path, t - season, level, scale)
    row[layout.CYCLE_BEFORE] = _value_in_scales(s, path, t - cycle, level, scale)
    row[layout.PROFILE_NOW] = scale_feature(s.profile[0, t % season], scale)
    row[layout.CYCLE_PROFILE_NOW] = scale_feature(profile_at(s, t), scale)
    row[layout.CYCLE_LEVEL] = scale_feature(cycle_level - level, scale)
    row[layout.CONSTANT] = 1.0
    for i in range(lags.size):
        at = t + 1 - int(lags[i])
        row[layout.OWN_FEATURES + i] = _value_in_scales(s, path, at, level, scale)


@inner_function
def set_step_features(s, path, t, h, level, scale, row):
    """Set the features of the step h rounds after round t; the origin's are set."""
    season, cycle = s.profile.shape[1], s.cycle_profile.shape[1]
    season_lag, cycle_lag = known_lag(h, season), known_lag(h, cycle)
    target = t + h
    at = max(target - season_lag, 0)
    row[layout.SEASON_AGO] = _value_in_scales(s, path, at, level, scale)
    row[layout.PROFILE_SEASON_AGO] = scale_feature(profile_at(s, at), scale)
    row[layout.SEASONS_AGO] = row[layout.SEASON_AGO]
    if t >= season_lag + season:
        at -= season
        row[layout.SEASONS_AGO] = _value_in_scales(s, path, at, level, scale)
    row[layout.CYCLE_AGO] = row[layout.SEASON_AGO]
    share = known_share(t, cycle_lag, cycle, season)
    if share > 0:
        own = _value_in_scales(s, path, target - cycle_lag, level, scale)
        row[layout.CYCLE_AGO] += share * (own - row[layout.CYCLE_AGO])
    row[layout.CYCLES_AGO] = row[layout.CYCLE_AGO]
    share = known_share(t, 2 * cycle_lag, cycle, season)
    if share > 0:
        own = _value_in_scales(s, path, target - 2 * cycle_lag, level, scale)
        row[layout.CYCLES_AGO] += share * (own - row[layout.CYCLES_AGO])
    row[layout.PROFILE] = scale_feature(s.profile[0, target % season], scale)
    row[layout.CYCLE_PROFILE] = scale_feature(profile_at(s, target), scale)


@inner_function
def known_share(t, lag, cycle, season):
    """The weight of a value ``lag`` rounds back: 0 up to round ``lag``, while it is not
    known, then 1; in a cycle of many seasons it grows to 1 in ``lag`` rounds.

    Until then another value was the feature, and the coefficients fit that one. Used at
    once, last year's value would pull the forecast of a growing series back by a year.
    """
    if t < lag or cycle <= MAX_SEASONS_AT_ONCE * season:
        return 1.0 if t >= lag else 0.0
    return min((t - lag) / cycle, 1.0)


@inner_function
def known_lag(h, season):
    """The least multiple of the season that is at least h."""
    return (h + season - 1) // season * season


@inner_function
def scale_of(counters):
    """The mean deviation from the level, not quite zero."""
    return max(counters[layout.DEVIATION], MIN_SCALE)
