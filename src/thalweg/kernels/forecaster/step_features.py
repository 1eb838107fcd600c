"""The features of a step: last values, the same phase of seasons before, profiles.

All values are less the *level*, the mean of the last season, and in units of the
*scale*, the mean deviation from it: so coefficients outlive a change of both. A
*profile* is the mean deviation from the level at each phase of a season, also known as
seasonal indices. A step that lies h rounds ahead is compared with what was known h
rounds before: with a season of s rounds, the value ⌈h/s⌉ s rounds before it.
"""

from thalweg.kernels.forecaster.forecaster_layout import (
    CONSTANT,
    CYCLE_AGO,
    CYCLE_BEFORE,
    CYCLE_LEVEL,
    CYCLE_PROFILE,
    CYCLE_PROFILE_NOW,
    CYCLE_SUM,
    CYCLES_AGO,
    DEVIATION,
    DEVIATION_COUNT,
    HIGHEST,
    LAST,
    LAST_BUT_ONE,
    LAST_BUT_TWO,
    LEVEL_SUM,
    LOWEST,
    OWN_FEATURES,
    PROFILE,
    PROFILE_NOW,
    PROFILE_SEASON_AGO,
    ROUNDS,
    SEASON_AGO,
    SEASON_BEFORE,
    SEASONS_AGO,
    VALUE_COUNT,
)
from thalweg.kernels.jit import inline_function, inner_function

MIN_PROFILE_SHARE = 0.1
"""The least share of a new deviation in a profile: about ten seasons count."""
MIN_SLOW_SHARE = 0.02
"""The same in the slow profile."""
SCALE_CYCLES = 20.0
"""Cycles that count in the scale."""
MIN_RELATIVE_DEVIATION = 1e-13
"""Deviations of this share of the level are rounding."""
MAX_RELATIVE_DEVIATION, TRUSTED_DEVIATIONS = 15.0, 20
"""A deviation of more than 15 mean deviations counts as 15, after the first 20: else
one outlier would be seen in the scale and in a profile for many cycles."""
MAX_FEATURE = 1e6
"""Upper limit of a feature in units of the scale, which may be next to nothing."""
MIN_SCALE = 1e-290
MAX_SEASONS_AT_ONCE = 10
"""Values of a cycle ago count fully as soon as they are known, unless the cycle has
more seasons: a year of weeks."""


@inline_function
def value_at(s, path, r):
    """The value of round r ≥ 0; of rounds to come that of the recursive forecast."""
    rounds = int(s.counters[ROUNDS])
    if r >= rounds:
        return path[r - rounds]
    return s.values[r % s.values.size]


@inner_function
def learn_value(s, y, is_missing):
    """Add the value of the next round: levels, profiles, scale and range."""
    counters, values, past = s.counters, s.values, s.values.size
    t, season, cycle = (
        int(counters[ROUNDS]),
        s.profile.shape[1],
        s.cycle_profile.shape[1],
    )
    level_before = level_of(counters[LEVEL_SUM], t, season)
    values[t % past] = y
    counters[LEVEL_SUM] = _rolling_sum(values, counters[LEVEL_SUM], t, season)
    counters[CYCLE_SUM] = _rolling_sum(values, counters[CYCLE_SUM], t, cycle)
    s.levels[t % s.levels.size] = level_of(counters[LEVEL_SUM], t + 1, season)
    counters[ROUNDS] += 1
    if is_missing:
        return
    if counters[VALUE_COUNT] == 0:
        counters[LOWEST], counters[HIGHEST] = y, y
    counters[VALUE_COUNT] += 1
    counters[LOWEST] = min(counters[LOWEST], y)
    counters[HIGHEST] = max(counters[HIGHEST], y)
    if t < season:
        return
    deviation = y - level_before
    if counters[DEVIATION_COUNT] >= TRUSTED_DEVIATIONS:
        limit = MAX_RELATIVE_DEVIATION * counters[DEVIATION]
        deviation = min(max(deviation, -limit), limit)
    _learn_profile(s.profile, t, deviation)
    _learn_profile(s.cycle_profile, t, deviation)
    phase = t % cycle
    share = max(1 / s.cycle_profile[1, phase], MIN_SLOW_SHARE)
    s.slow_profile[phase] += share * (deviation - s.slow_profile[phase])
    # Deviations that are rounding of the level say nothing of the scale.
    if abs(deviation) > MIN_RELATIVE_DEVIATION * abs(level_before):
        counters[DEVIATION_COUNT] += 1
        share = max(1 / counters[DEVIATION_COUNT], 1 / (SCALE_CYCLES * cycle))
        counters[DEVIATION] += share * (abs(deviation) - counters[DEVIATION])


@inline_function
def level_of(total, rounds, length):
    """The mean of the last values, from their sum; 0 before any."""
    return total / max(min(rounds, length), 1)


@inner_function
def _rolling_sum(values, total, t, length):
    """The sum of the last ``length`` values up to round t, which is stored by now.

    Once in ``length`` rounds it is summed anew, so that no rounding stays.
    """
    if t % length == length - 1:
        total = 0.0
        for r in range(t - length + 1, t + 1):
            total += values[r % values.size]
        return total
    total += values[t % values.size]
    return total - values[(t - length) % values.size] if t >= length else total


@inline_function
def _learn_profile(profile, t, deviation):
    """Move the mean deviation of this phase towards a new one."""
    phase = t % profile.shape[1]
    profile[1, phase] += 1
    share = max(1 / profile[1, phase], MIN_PROFILE_SHARE)
    profile[0, phase] += share * (deviation - profile[0, phase])


@inline_function
def profile_at(s, r):
    """The cycle's profile at round r; the season's, where that phase is new."""
    phase = r % s.cycle_profile.shape[1]
    if s.cycle_profile[1, phase] > 0:
        return s.cycle_profile[0, phase]
    return s.profile[0, r % s.profile.shape[1]]


@inline_function
def scale_feature(difference, scale):
    """A difference in units of the scale, limited."""
    return limit_feature(difference / scale)


@inline_function
def limit_feature(feature):
    """The feature within ±``MAX_FEATURE``."""
    return min(max(feature, -MAX_FEATURE), MAX_FEATURE)


@inner_function
def set_origin_features(s, path, t, level, cycle_level, scale, lags, row):
    """Set the features that are the same for all steps from round t on."""
    season, cycle = s.profile.shape[1], s.cycle_profile.shape[1]
    row[LAST] = scale_feature(value_at(s, path, t) - level, scale)
    row[LAST_BUT_ONE] = scale_feature(value_at(s, path, max(t - 1, 0)) - level, scale)
    row[LAST_BUT_TWO] = scale_feature(value_at(s, path, max(t - 2, 0)) - level, scale)
    row[SEASON_BEFORE] = scale_feature(
        value_at(s, path, max(t - season, 0)) - level, scale
    )
    row[CYCLE_BEFORE] = scale_feature(
        value_at(s, path, max(t - cycle, 0)) - level, scale
    )
    row[PROFILE_NOW] = scale_feature(s.profile[0, t % season], scale)
    row[CYCLE_PROFILE_NOW] = scale_feature(profile_at(s, t), scale)
    row[CYCLE_LEVEL] = scale_feature(cycle_level - level, scale)
    row[CONSTANT] = 1.0
    for i in range(lags.size):
        at = max(t + 1 - int(lags[i]), 0)
        row[OWN_FEATURES + i] = scale_feature(value_at(s, path, at) - level, scale)


@inner_function
def set_step_features(s, path, t, h, level, scale, row):
    """Set the features of the step h rounds after round t; the origin's are set."""
    season, cycle = s.profile.shape[1], s.cycle_profile.shape[1]
    season_lag, cycle_lag = known_lag(h, season), known_lag(h, cycle)
    target = t + h
    at = max(target - season_lag, 0)
    row[SEASON_AGO] = scale_feature(value_at(s, path, at) - level, scale)
    row[PROFILE_SEASON_AGO] = scale_feature(profile_at(s, at), scale)
    row[SEASONS_AGO] = row[SEASON_AGO]
    if t >= season_lag + season:
        value = value_at(s, path, target - season_lag - season)
        row[SEASONS_AGO] = scale_feature(value - level, scale)
    row[CYCLE_AGO] = row[SEASON_AGO]
    share = known_share(t, cycle_lag, cycle, season)
    if share > 0:
        own = scale_feature(value_at(s, path, target - cycle_lag) - level, scale)
        row[CYCLE_AGO] += share * (own - row[CYCLE_AGO])
    row[CYCLES_AGO] = row[CYCLE_AGO]
    share = known_share(t, 2 * cycle_lag, cycle, season)
    if share > 0:
        own = scale_feature(value_at(s, path, target - 2 * cycle_lag) - level, scale)
        row[CYCLES_AGO] += share * (own - row[CYCLES_AGO])
    row[PROFILE] = scale_feature(s.profile[0, target % season], scale)
    row[CYCLE_PROFILE] = scale_feature(profile_at(s, target), scale)


@inline_function
def known_share(t, lag, cycle, season):
    """How much a value ``lag`` rounds back counts: 0 up to round ``lag``, where it is
    not known, then 1; of a cycle of many seasons, 1 after as many rounds more.

    Until then another value has stood in its place, and coefficients are those of that
    one. All at once, a year's value would take a growing series back by a year.
    """
    if t < lag or cycle <= MAX_SEASONS_AT_ONCE * season:
        return 1.0 if t >= lag else 0.0
    return min((t - lag) / cycle, 1.0)


@inline_function
def known_lag(h, season):
    """The least multiple of the season that is at least h."""
    return (h + season - 1) // season * season


@inline_function
def scale_of(counters):
    """The mean deviation from the level, not quite zero."""
    return max(counters[DEVIATION], MIN_SCALE)
