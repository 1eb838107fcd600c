"""How large errors are at each phase of the season and of the cycle.

Nights of traffic, and days on which a shop is closed, are forecast with far smaller
errors than rush hours. Errors are stored in units of the *spread* of their phase, and a
band is as wide as the spread of the phase that it is for: also known as locally scaled
or normalised conformal intervals, or seasonal heteroscedasticity.

The spread of a phase is the mean size of the errors there, of all steps, relative to
the mean size of the errors of each step. It begins at 1, as if ``PRIOR_ERRORS`` errors
had been of the mean size; that of the cycle's phase begins at the season's. Whether
sizes depend on the phase at all is learnt: the *gain* is the discounted sum of
log-likelihoods of sizes (of a Laplace distribution) with the spread, less those
without. The spread is used with the exponent 1/(1 + exp(-gain)).

In a long season, such as the minutes of a day, neighbouring phases share a spread, so
that each is estimated from enough errors.
"""

import math

from thalweg.kernels.compiler.jit import inner_function
from thalweg.kernels.tracker import tracker_layout as layout

PRIOR_ERRORS = 10.0
"""Number of errors of the mean size that the prior of a phase counts as."""
MAX_SPREADS = 48
"""Limit of the spreads in a season: with more phases, neighbours share one."""
MIN_SPREAD_SHARE = 0.05
"""Minimum share of a new error in a spread: about twenty cycles count."""
MIN_SIZE_SHARE, SIZE_SEASONS = 0.001, 10.0
"""The same in the mean size of the errors of a step; and the minimum number of seasons
in that mean, which must not follow the season."""
MIN_SPREAD, MAX_SPREAD = 0.001, 20.0
MEMORY_OF_GAIN, MAX_GAIN = 0.999, 20.0
"""The discount of the gain, and its limit."""


@inner_function
def spread_at(s, r):
    """The spread of errors at round r, with the exponent that the gain so far gives."""
    weight = 1 / (1 + math.exp(-s.spread_gain[0]))
    return _phase_spread(s, r) ** weight


@inner_function
def _phase_spread(s, r):
    """The spread of errors at the phases of round r."""
    season, cycle = s.spread.shape[1], s.cycle_spread.shape[1]
    width = _neighbours(season)
    spread = _towards(1.0, s.spread, r % season // width, width)
    if cycle > season:
        spread = _towards(spread, s.cycle_spread, r % cycle // width, width)
    return min(max(spread, MIN_SPREAD), MAX_SPREAD)


@inner_function
def _neighbours(season):
    """The number of neighbouring phases that share a spread."""
    return (season + MAX_SPREADS - 1) // MAX_SPREADS


@inner_function
def _towards(prior, spreads, place, width):
    """The mean of a spread, as if it had begun with ``PRIOR_ERRORS`` of this size."""
    mean, count = spreads[0, place], min(spreads[1, place], width / MIN_SPREAD_SHARE)
    return (count * mean + PRIOR_ERRORS * prior) / (count + PRIOR_ERRORS)


@inner_function
def learn_size(s, j, error):
    """Learn the size of an error of step j, whose count is not raised yet; returns it
    relative to those before, -1 where there is nothing to compare with."""
    size, mean = abs(error), s.mean_sizes[j]
    least = min(MIN_SIZE_SHARE, 1 / (SIZE_SEASONS * s.spread.shape[1]))
    share = max(1 / (s.step_counters[j, layout.ERROR_COUNT] + 1), least)
    s.mean_sizes[j] += share * (size - mean)
    return min(size / mean, MAX_SPREAD) if mean > 0 else -1.0


@inner_function
def learn_spread(s, t, relative_size):
    """Learn the mean relative size of the errors of round t, over all steps."""
    spread = _phase_spread(s, t)
    gain = relative_size - relative_size / spread - math.log(spread)
    s.spread_gain[0] = MEMORY_OF_GAIN * s.spread_gain[0] + gain
    s.spread_gain[0] = min(max(s.spread_gain[0], -MAX_GAIN), MAX_GAIN)
    width = _neighbours(s.spread.shape[1])
    for spreads in (s.spread, s.cycle_spread):
        place = t % spreads.shape[1] // width
        spreads[1, place] += 1
        share = max(1 / spreads[1, place], MIN_SPREAD_SHARE / width)
        spreads[0, place] += share * (relative_size - spreads[0, place])
