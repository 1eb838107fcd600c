"""The layout of the Forecaster's buffer: its state and its workspace.

Dimensions: the features of a regression are ``base`` (``OWN_FEATURES`` and further
lags) and ``covariates``; ``steps`` have regressions of their own;
``horizon`` H is the most distant step; ``season`` and ``cycle`` are the lengths of a
short and a long season in rounds (day and week of hourly values; both the same with one
season, 1 without); ``past`` is the number of values remembered. ``future`` of the
covariates are future covariates; their effects are estimated by a regression of
``terms`` terms on the ``recent`` values, and ``effects`` is 1. Without them all four
are 0. ``groups`` of neighbouring steps share a nonlinear regression of ``nonlinear``
features. Origins up to ``analogues`` seasons ago are searched for analogues, in
``history`` pairs of values; both are 0 without analogues. Where rows are on a grid that
divides days, ``day_rows`` is the number of rows in a day, ``day_ring`` the number of
days whose effects are remembered, and ``calendar`` is 1; else all three are 0. Where
forecasts are pooled with simpler ones ``pooled`` is 1, and ``models`` of exponential
smoothing take ``smoothing`` numbers; else all three are 0.
``candidates`` is the length of their table (candidates.py), padded.
"""

from typing import Annotated, NamedTuple

import numpy as np

from thalweg.kernels import exponential_smoothing as smoothing
from thalweg.kernels.compiler.layout import (
    Layout,
    Ordered,
    Range,
    Shape,
    exactly,
    whole,
)
from thalweg.kernels.compiler.simd import WIDTH
from thalweg.kernels.tracker.tracker_layout import COUNTERS as ERROR_COUNTERS
from thalweg.kernels.tracker.tracker_layout import DELAY, ERROR_COUNT, RECENT_ERRORS

Array = np.ndarray

MEMORIES = (np.inf, 2000.0, 600.0, 200.0)
"""Effective memories of the regressions, in rounds learnt."""
OUTLIER_LIMITS = (4.0, 15.0)
"""Limits of errors, in mean errors: larger ones have less weight (Huber weights)."""
LANES = WIDTH
DISCOUNT = np.array([1 - 1 / memory for _ in OUTLIER_LIMITS for memory in MEMORIES])
OUTLIER_LIMIT = np.repeat(OUTLIER_LIMITS, len(MEMORIES))
assert len(DISCOUNT) == LANES


# What is pooled at a step (step_pool.py); the sets whose means are weighed, as bits.
POOLED_MIXTURE, PHASE_MEAN, SMOOTHED = range(3)
POOL_MEMBERS = 3
POOL_SETS = np.array((1, 2, 4, 3, 5, 7))
POOL_PRIOR = (3.0, 1.0, 1.0, 1.0, 1.0, 1.0)
POOL_MEANS = len(POOL_SETS)

# The features of a regression: values are less the level, and in units of the scale.
# First those of the origin, the same for all steps; then those of the step.
LAST, LAST_BUT_ONE, LAST_BUT_TWO = 0, 1, 2  # values
SEASON_BEFORE, CYCLE_BEFORE = 3, 4  # the values a season and a cycle before the last
PROFILE_NOW, CYCLE_PROFILE_NOW = 5, 6  # the profiles at the last value
CYCLE_LEVEL, CONSTANT = 7, 8  # the mean over a cycle; one
STEP_FEATURES = 9  # from here on the features differ from step to step
SEASON_AGO, SEASONS_AGO, CYCLE_AGO, CYCLES_AGO = 9, 10, 11, 12  # values before the step
PROFILE, CYCLE_PROFILE = 13, 14  # the profiles at the step
PROFILE_SEASON_AGO = 15  # the cycle's profile at ``SEASON_AGO``
OWN_FEATURES = 16
PRIOR = np.zeros(OWN_FEATURES)
"""The coefficients before anything is learnt: a mean of what was there before."""
PRIOR[[SEASON_AGO, PROFILE, CYCLE_PROFILE]] = 0.3, 0.3, 0.4

# What the nonlinear regressions know beside these features. An anomaly is what a value
# has beyond the cycle's profile; a level is the mean of a season.
LAST_ANOMALIES = 0  # the mean of the last four
LEVEL_SEASON_AGO, LEVEL_CYCLE_AGO = 1, 2  # levels before, less the level
LEVEL_AHEAD = 3  # the level a cycle less a season ago: where the season has gone to
LEVEL_ANOMALY = 4  # the level less the mean of all levels
SLOW_PROFILE_NOW, SLOW_PROFILE = 5, 6  # a profile of more cycles, now and at the step
NEIGHBOURS_AGO, PROFILE_NEIGHBOURS = 7, 8  # two on each side of a phase, their mean
CONTEXT = 9
SEASON_WAVES, CYCLE_WAVES = 6, 4  # sines and cosines: three, two of each
DERIVED_FEATURES = 39  # of context, waves and products: nonlinear_features.py
HINGE_INPUTS, HINGES = 16, 73
NEIGHBOURS = 20
"""Number of analogues in the mean."""

# counters
ROUNDS = 0  # rounds passed, with or without a value
LEVEL_SUM, CYCLE_SUM = 1, 2  # of the last ``season`` and ``cycle`` values
DEVIATION, DEVIATION_COUNT = 3, 4  # the mean of |value - level before|, and its count
LOWEST, HIGHEST = 5, 6  # of all values
VALUE_COUNT = 7  # values so far, without those missing
LAST_MISSING = 8  # the last round without a value, counted from 1; 0: no such round
# Of the series as given, before the effects of future covariates are subtracted.
CHANGE, CHANGE_COUNT = 9, 10  # the mean of |y - y before| where they differ
RUNNING_MEAN = 11  # of the values
LOWEST_ORIGINAL, HIGHEST_ORIGINAL = 12, 13
EFFECT_COUNT = 14  # rounds that the regression on future covariates has learnt
IS_FROZEN = 15  # 1: effects do not change, while rounds are replayed
MEAN_LEVEL, ORIGIN_COUNT = 16, 17  # the mean of levels, and their number
HISTORY_START = 18  # the first round in the history
HISTORY_OFFSET, HISTORY_UNIT = 19, 20  # of its values; the unit is 0 before it begins
LOWEST_OBSERVED = 21  # of all values as received
VALUE_UNIT = 22  # a power of two near the first value that was not 0; 0 before it
COUNTERS = 24

# Of days: the row of the day that comes next, the number of days passed, the country
# whose holidays matter (counted from 1; 0: no country), the number of ordinary days.
ROW_OF_DAY, DAY, COUNTRY, USUAL_COUNT = range(4)
DAY_COUNTERS = 4
# The number of countries and of dates in calendar/public_holidays.py, to which a test
# holds them.
COUNTRIES, YEAR_END_DATES, USUAL_DAYS = 32, 5, 128
GAIN, ALPHA_MOMENT, SQUARE_MOMENT = range(3)
COUNTRY_MOMENTS = 3

# The terms of the regression on future covariates, in units of the mean change: first
# those of the series, then three for each covariate.
CONSTANT_TERM, CHANGE_TERM, MEAN_TERM, SEASON_TERM, CYCLE_TERM = range(5)
SERIES_TERMS, FEATURE_TERMS = 5, 3
FEATURE_CHANGE, FEATURE_LEVEL, FEATURE_LAG = range(FEATURE_TERMS)
EFFECT_CANDIDATES = 2 * LANES  # regressions with and without the features

# Moments of a covariate: mean and variance, the mean size of its changes where there
# were any, their count, and the last value. The effect of a covariate is that of its
# difference to an offset: the mean at the last replay, or the first value. (The offset
# stays constant, as the series would shift with it.)
MEAN, VARIANCE, MEAN_CHANGE, CHANGES, LAST_COVARIATE, OFFSET = range(6)
COVARIATE_MOMENTS = 6
# What a forecast was made with: mean and unit of each feature, the unit of its effect,
# and the effect of one such unit on the series.
ORIGIN_MEAN, ORIGIN_UNIT, EFFECT_OFFSET, EFFECT_UNIT, EFFECT = range(5)
ORIGIN_UNITS = 5


MAX_ROUNDS = 2**52
MAX_HISTORY_VALUE = 1e30
"""Limit of a value in the history, to keep squares finite."""

# The legal values of fields, where ``delays`` are one less than each step that has a
# regression, and ``first_row`` is the row of the day in which the series begins.
UP_TO_ROUNDS, NOT_NEGATIVE = whole(f"counters[{ROUNDS}]"), Range(0, np.inf)
LEGAL_COUNTERS = {
    ROUNDS: whole(MAX_ROUNDS), IS_FROZEN: exactly(0), DEVIATION_COUNT: UP_TO_ROUNDS,
    VALUE_COUNT: UP_TO_ROUNDS, CHANGE_COUNT: UP_TO_ROUNDS, EFFECT_COUNT: UP_TO_ROUNDS,
    ORIGIN_COUNT: UP_TO_ROUNDS, HISTORY_START: UP_TO_ROUNDS, DEVIATION: NOT_NEGATIVE,
    CHANGE: NOT_NEGATIVE, HISTORY_UNIT: NOT_NEGATIVE, VALUE_UNIT: NOT_NEGATIVE,
}  # fmt: skip
LEGAL_DAY_COUNTERS = {
    ROW_OF_DAY: exactly(f"(first_row + counters[{ROUNDS}]) % day_rows"),
    DAY: exactly(f"(first_row + counters[{ROUNDS}]) // day_rows"),
    COUNTRY: whole(COUNTRIES), USUAL_COUNT: UP_TO_ROUNDS,
}  # fmt: skip
LEGAL_ERROR_COUNTERS = {
    (..., ERROR_COUNT): UP_TO_ROUNDS,
    (..., DELAY): exactly("delays"),
}
LEGAL_SMOOTHING = {
    smoothing.ROUNDS: UP_TO_ROUNDS,
    smoothing.VALUES: UP_TO_ROUNDS,
    smoothing.WEIGHT: NOT_NEGATIVE,
}
COUNTS_IN_ROW_1 = {1: UP_TO_ROUNDS}
PAIRS = Range(-MAX_HISTORY_VALUE, MAX_HISTORY_VALUE, dtype=np.float32)
STEPS_IN_ORDER = Ordered(f"step_counters[:, {ERROR_COUNT}]")
TOTALS_IN_ORDER = Ordered(f"total_counters[:, {ERROR_COUNT}]")


class ForecasterViews(NamedTuple):
    """What the Forecaster remembers."""

    counters: Annotated[Array, Shape(COUNTERS, align=WIDTH, legal=LEGAL_COUNTERS)]
    # y of round r at r mod past; the forecast where it was missing.
    values: Annotated[Array, Shape("past")]
    # Mean deviation from the level and its count, at each phase of the season.
    profile: Annotated[Array, Shape(2, "season", legal=COUNTS_IN_ROW_1)]
    cycle_profile: Annotated[Array, Shape(2, "cycle", legal=COUNTS_IN_ROW_1)]
    slow_profile: Annotated[Array, Shape("cycle")]  # of more cycles, same counts
    levels: Annotated[Array, Shape("cycle + 1")]  # after round r, at r mod (cycle + 1)
    covariate_moments: Annotated[Array, Shape(COVARIATE_MOMENTS, "covariates")]
    # Of the last H + 1 origins, at r mod (H + 1): the level and the scale, the features
    # and the candidates of each step, and the forecasts of all steps.
    origins: Annotated[Array, Shape("horizon + 1", 2)]
    features: Annotated[Array, Shape("horizon + 1", "steps", "base + covariates")]
    contexts: Annotated[Array, Shape("horizon + 1", "steps", CONTEXT)]
    candidates: Annotated[
        Array, Shape("horizon + 1", "steps", "candidates", align=WIDTH)
    ]
    # 1 where a candidate could forecast.
    has_candidate: Annotated[Array, Shape("horizon + 1", "candidates")]
    forecasts: Annotated[Array, Shape("horizon + 1", "horizon")]
    # Units of the covariates with which these forecasts were made, and the mixture's
    # coefficients on future covariates.
    origin_units: Annotated[Array, Shape("horizon + 1", ORIGIN_UNITS, "covariates")]
    future_coefficients: Annotated[Array, Shape("horizon + 1", "steps", "covariates")]
    # The sizes of errors known then, of each step and of sums up to it.
    error_scales: Annotated[Array, Shape("horizon + 1", "steps", 2)]
    # Discounted second moments of the features, and with the label as the last row.
    moments: Annotated[
        Array,
        Shape(
            "steps", "base + covariates + 1", "base + covariates", LANES, align=WIDTH
        ),
    ]
    theta: Annotated[Array, Shape("steps", "base + covariates", LANES, align=WIDTH)]
    # Mean |error| of each regression, in units of the scale, and its count.
    mean_errors: Annotated[
        Array, Shape("steps", LANES, align=WIDTH, legal=NOT_NEGATIVE)
    ]
    error_counts: Annotated[Array, Shape("steps", legal=UP_TO_ROUNDS)]
    # Mean squared error of each candidate, in units of the scale, and the number of its
    # own errors.
    losses: Annotated[
        Array, Shape("steps", "candidates", align=WIDTH, legal=NOT_NEGATIVE)
    ]
    candidate_errors: Annotated[Array, Shape("steps", "candidates", legal=UP_TO_ROUNDS)]
    # The nonlinear regressions, one for each group of steps: second moments of the
    # features from the diagonal on (kernels/tracker/curvature.py), and with the label;
    # rounds learnt; and the mean size of each input of the hinges.
    gram: Annotated[
        Array, Shape("groups", "nonlinear * (nonlinear + 8) // 2", align=WIDTH)
    ]
    gram_target: Annotated[Array, Shape("groups", "nonlinear", align=WIDTH)]
    nonlinear_theta: Annotated[Array, Shape("groups", "nonlinear", align=WIDTH)]
    group_counts: Annotated[Array, Shape("groups", legal=UP_TO_ROUNDS)]
    input_sizes: Annotated[Array, Shape(HINGE_INPUTS)]
    # The history for analogues: (y - offset) / unit of round r at r mod its length, two
    # float32 in each number; the sum of the season up to the origin j seasons ago, and
    # the discounted squared distance of its course.
    history: Annotated[Array, Shape("history", legal=PAIRS)]
    season_sums: Annotated[Array, Shape("analogues")]
    distances: Annotated[Array, Shape("analogues")]
    # Mean |error| of the forecasts of each step; relative sizes of errors and their
    # counts, at each phase of the season and of the cycle (phase_spread.py).
    mean_sizes: Annotated[Array, Shape("steps", legal=NOT_NEGATIVE)]
    spread: Annotated[Array, Shape(2, "season", legal=COUNTS_IN_ROW_1)]
    cycle_spread: Annotated[Array, Shape(2, "cycle", legal=COUNTS_IN_ROW_1)]
    spread_gain: Annotated[Array, Shape(1)]
    # The largest |error| of each step, and of sums up to it.
    largest_errors: Annotated[Array, Shape(2, "steps", legal=NOT_NEGATIVE)]
    # Recent errors of the forecasts of each step, in units of the spread, and of their
    # sums up to each step (kernels/tracker/prediction_interval.py).
    step_counters: Annotated[
        Array, Shape("steps", ERROR_COUNTERS, legal=LEGAL_ERROR_COUNTERS)
    ]
    step_errors: Annotated[
        Array, Shape("steps", 2, RECENT_ERRORS, legal=STEPS_IN_ORDER)
    ]
    total_counters: Annotated[
        Array, Shape("steps", ERROR_COUNTERS, legal=LEGAL_ERROR_COUNTERS)
    ]
    total_errors: Annotated[
        Array, Shape("steps", 2, RECENT_ERRORS, legal=TOTALS_IN_ORDER)
    ]
    # Public holidays (holiday_effects.py): the values of the day, and 1 where they are
    # known; the mean of each weekday, and how many there were; the mean squared
    # anomalies of ordinary days; of each country's holidays how like Sundays they are;
    # the own effects of dates around the year's end and their years; and the effects of
    # today and of the next days, of day d at d mod day_ring.
    day_counters: Annotated[
        Array, Shape(f"calendar * {DAY_COUNTERS}", legal=LEGAL_DAY_COUNTERS)
    ]
    day_values: Annotated[Array, Shape("day_rows")]
    day_known: Annotated[Array, Shape("day_rows")]
    week_profile: Annotated[Array, Shape(7, "day_rows")]
    week_counts: Annotated[Array, Shape("calendar * 7", legal=UP_TO_ROUNDS)]
    usual_sizes: Annotated[Array, Shape(f"calendar * {USUAL_DAYS}")]
    country_moments: Annotated[Array, Shape(COUNTRY_MOMENTS, f"calendar * {COUNTRIES}")]
    date_effects: Annotated[Array, Shape(YEAR_END_DATES, "day_rows")]
    date_counts: Annotated[
        Array, Shape(f"calendar * {YEAR_END_DATES}", legal=UP_TO_ROUNDS)
    ]
    day_effects: Annotated[Array, Shape("day_ring", "day_rows")]
    # The pool of each step (step_pool.py): the mean of each phase of the season and its
    # count, the models of exponential smoothing, what was pooled at the last H + 1
    # origins, and the discounted squared errors of the means of sets, with their count.
    phase_means: Annotated[Array, Shape(2, "pooled * season", legal=COUNTS_IN_ROW_1)]
    smoothing: Annotated[Array, Shape("smoothing", legal=LEGAL_SMOOTHING)]
    pool_members: Annotated[Array, Shape("horizon + 1", "pooled * steps", POOL_MEMBERS)]
    pool_losses: Annotated[
        Array, Shape("pooled * steps", POOL_MEANS, legal=NOT_NEGATIVE)
    ]
    pool_counts: Annotated[Array, Shape("pooled * steps", legal=NOT_NEGATIVE)]
    # The regression on future covariates: values and covariates of round r at
    # r mod recent, discounted moments, coefficients with the features and without,
    # mean |error| of each lane, mean squared errors with the features and without.
    recent_values: Annotated[Array, Shape("recent")]
    recent_future: Annotated[Array, Shape("recent", "future")]
    effect_moments: Annotated[
        Array, Shape("terms + effects", "terms", LANES, align=WIDTH)
    ]
    effect_theta: Annotated[Array, Shape("terms", LANES, align=WIDTH)]
    series_theta: Annotated[Array, Shape("terms", LANES, align=WIDTH)]
    effect_errors: Annotated[Array, Shape("effects", LANES)]
    effect_losses: Annotated[Array, Shape("effects", EFFECT_CANDIDATES)]


class ForecasterWorkspace(NamedTuple):
    """Arrays to work in during a round."""

    step_of: Annotated[
        Array, Shape("steps", align=WIDTH)
    ]  # the step of each regression, from 1
    model_of: Annotated[Array, Shape("horizon")]  # the regression of each step, from 0
    group_of: Annotated[Array, Shape("steps")]  # the nonlinear regression of each
    group_sizes: Annotated[Array, Shape("groups")]  # how many steps they have
    # Sines and cosines of each phase, and of its multiples.
    season_waves: Annotated[Array, Shape(SEASON_WAVES, "season")]
    cycle_waves: Annotated[Array, Shape(CYCLE_WAVES, "cycle")]
    context: Annotated[Array, Shape(CONTEXT)]
    hinge_inputs: Annotated[Array, Shape(HINGE_INPUTS)]
    nonlinear_row: Annotated[Array, Shape("nonlinear", align=WIDTH)]
    factor: Annotated[Array, Shape("nonlinear", "nonlinear", align=WIDTH)]
    pivots: Annotated[Array, Shape("nonlinear")]
    scaled: Annotated[Array, Shape(2, "nonlinear")]
    # Further past values as features: how many rounds before the next one.
    lags: Annotated[Array, Shape(f"base - {OWN_FEATURES}")]
    is_future: Annotated[Array, Shape("covariates")]  # 1: known in advance, at the step
    future_at: Annotated[Array, Shape("future")]  # their positions
    # The values that follow the newest one in a recursive forecast.
    path: Annotated[Array, Shape("horizon")]
    # The nearest analogues: seasons back, weights, and the forecasts of all steps.
    neighbours: Annotated[Array, Shape(NEIGHBOURS)]
    neighbour_weights: Annotated[Array, Shape(NEIGHBOURS)]
    analogues: Annotated[Array, Shape("horizon")]
    row: Annotated[Array, Shape("base + covariates")]
    coefficients: Annotated[Array, Shape("base + covariates")]
    # Of each candidate the prior, and the errors after which it counts by half; 0 of
    # those that pad.
    priors: Annotated[Array, Shape(2, "candidates")]
    weights: Annotated[Array, Shape("candidates")]
    lane_errors: Annotated[Array, Shape(LANES)]
    lane_weights: Annotated[Array, Shape(LANES)]
    lane_predictions: Annotated[Array, Shape(LANES)]
    covariate_row: Annotated[Array, Shape("covariates")]  # in their own units
    ridge: Annotated[Array, Shape("base + covariates", LANES, align=WIDTH)]
    lower: Annotated[
        Array, Shape("base + covariates + 1", "base + covariates", LANES, align=WIDTH)
    ]
    work: Annotated[Array, Shape(3, "base + covariates", LANES, align=WIDTH)]
    smoothed: Annotated[Array, Shape("pooled * horizon")]
    smoothing_forecasts: Annotated[Array, Shape("models")]
    smoothing_weights: Annotated[Array, Shape("models")]
    pool_means: Annotated[Array, Shape(POOL_MEANS)]
    pool_priors: Annotated[Array, Shape(POOL_MEANS)]
    pool_weights: Annotated[Array, Shape(POOL_MEANS)]
    ordered_sizes: Annotated[Array, Shape(f"calendar * {USUAL_DAYS}")]
    terms: Annotated[Array, Shape("terms")]
    effect_predictions: Annotated[Array, Shape(EFFECT_CANDIDATES)]
    effect_weights: Annotated[Array, Shape(EFFECT_CANDIDATES)]
    effect_ridge: Annotated[Array, Shape("terms", LANES, align=WIDTH)]
    effect_lower: Annotated[
        Array, Shape("terms + effects", "terms", LANES, align=WIDTH)
    ]
    effect_work: Annotated[Array, Shape(3, "terms", LANES, align=WIDTH)]


DIMENSIONS = (
    "base", "covariates", "steps", "horizon", "season", "cycle", "past", "future",
    "terms", "recent", "effects", "groups", "nonlinear", "analogues", "history",
    "day_rows", "day_ring", "calendar", "pooled", "smoothing",
    "models", "candidates",
)  # fmt: skip
TABLE_SIZE = 160
"""The size of ``ForecasterBuffer.table``; not all of it is used."""


class ForecasterBuffer(NamedTuple):
    """The one array that the kernels work with; of it ``state`` is saved."""

    header: Annotated[Array, Shape(WIDTH)]
    # All dimensions, and where each field begins (kernels/compiler/record.py).
    table: Annotated[Array, Shape(TABLE_SIZE)]
    state: ForecasterViews
    workspace: ForecasterWorkspace


TABLE = 0
"""The entry of ``header`` that says where ``table`` begins."""
STATE = Layout("Forecaster state", ForecasterViews, version=9, dimensions=DIMENSIONS)
BUFFER = Layout("Forecaster buffer", ForecasterBuffer, version=1, dimensions=DIMENSIONS)
