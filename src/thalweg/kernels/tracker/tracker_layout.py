"""The layout of the Tracker's packed state, of its workspace and of its live buffer.

Each array is declared once, as a member of a NamedTuple with its shape;
kernels/compiler/layout.py computes sizes, offsets and views from that. To add an array:

1. Declare it in one of the tuples below, raise ``STATE.version``, and set the
   fingerprint again in tests/kernels/tracker/test_tracker_layout.py. A file holds the
   whole of it, unless learners/tracker/stored_state.py says otherwise.
   An axis over features begins with them, so that features can be added and removed,
   unless learners/tracker/feature_axes.py says otherwise.
2. Set its start in ``Tracker.init`` (learners/tracker/tracker.py), if that is not 0.
3. Use it in the kernels and in the definition (learners/tracker/definition.py).
4. Decide what a restart does with it, in restart.py and in the definition
   (``restart_after_outlier``), and say so in tests/kernels/tracker/test_restart.py,
   which asks. A replay (replay.py) sets it as in step 2, then learns. Where kernels
   use it as an index, its ``legal`` range beside the shape bounds it.

Experts of one family and all memories are computed side by side, in SIMD lanes: the
last axis of most arrays runs over them, so that every inner loop is a vector operation.
Fields that are loaded as vectors start at a whole cache line (``align``), or follow one
whose size is a multiple of it: a vector that crosses two cache lines costs twice.
"""

from typing import Annotated, NamedTuple

import numpy as np

from thalweg.kernels.call_header import HEADER_SIZE, SETTINGS
from thalweg.kernels.compiler.layout import Layout, Range, Shape, whole

MEMORIES = np.array([np.inf, 2, 4, 8, 16, 32, 64, 256, 1024, 4096])
"""Effective memories 1/(1-γ), in rounds. A bank of 211 experts gained at most 0.3 %
over these."""
MEMORY_COUNT = len(MEMORIES)

# The first lane of each of four families of ridge regressions, which have one lane for
# every memory: two about the recent mean ("levels"), with a light and with a heavy
# ridge; one of the change since the last round, one of that since a season ago.
LIGHT_LANE, HEAVY_LANE = 0, MEMORY_COUNT
STEP_LANE, SEASON_LANE = 2 * MEMORY_COUNT, 3 * MEMORY_COUNT
LEVEL_LANES = 2 * MEMORY_COUNT
LANES = 4 * MEMORY_COUNT
DISCOUNT = np.tile(np.where(np.isinf(MEMORIES), 1.0, 1 - 1 / MEMORIES), 4)
# Masks: 1 in the lanes of these families, else 0.
IS_LEVEL = np.repeat([1.0, 1.0, 0.0, 0.0], MEMORY_COUNT)
IS_STEP = np.repeat([0.0, 0.0, 1.0, 0.0], MEMORY_COUNT)
IS_SEASONAL = np.repeat([0.0, 0.0, 0.0, 1.0], MEMORY_COUNT)
RIDGE = np.repeat([0.01, 1.0, 0.01, 1.0], MEMORY_COUNT)
"""The ridge of every lane, in units of one observation of the feature's own spread."""
RIDGE_BY_ORIGIN = RIDGE * [IS_LEVEL, IS_STEP, IS_SEASONAL]
"""(3, LANES) the same, by what the spread is about: the mean, the last round, a season
ago. Every lane has one ridge that is not 0."""

LAGS = 3
"""Number of past labels that are features of the autoregressive experts."""
PAST_LABELS = 2
"""Number of past labels that are features of the distributed-lag experts."""
DISTRIBUTED_MEMORIES = np.array([np.inf, 1024, 256, 64, 16])
"""Memories of the distributed-lag experts. Eight were no better."""
DISTRIBUTED_COUNT = len(DISTRIBUTED_MEMORIES)
DISTRIBUTED_LANES = 8
"""Number of their lanes, one SIMD vector. Those behind the last expert repeat it."""
DISTRIBUTED_DISCOUNT = np.where(
    np.isinf(DISTRIBUTED_MEMORIES), 1.0, 1 - 1 / DISTRIBUTED_MEMORIES
)[np.minimum(np.arange(DISTRIBUTED_LANES), DISTRIBUTED_COUNT - 1)]

# The first expert of each kind (ridge_experts.py): the four families shrunk to
# their origin, the two levels anchored, the light level with the last labels as
# features, the same with the last features too (distributed_lag.py), and the last
# value.
SHRUNK, ANCHORED = 0, LANES
AUTOREGRESSIVE = ANCHORED + LEVEL_LANES
DISTRIBUTED_LAG = AUTOREGRESSIVE + MEMORY_COUNT
LAST_VALUE = DISTRIBUTED_LAG + DISTRIBUTED_COUNT
EXPERTS = LAST_VALUE + 1
# Arrays hold whole SIMD vectors of eight: experts behind the last value are padding,
# which predicts the same, and predictions of the last lanes of a kind are overwritten.
PADDED_EXPERTS, ANCHORED_LANES, AUTOREGRESSIVE_LANES = 80, 24, 16
# Rules in order: AdaShare, the same with a quick fade, BOA, ML-Poly, two softmaxes,
# Cauchy weights, and a committee of these seven base rules, corrected for curvature
# (curvature.py).
BASE_RULES = 7
COMMITTEE = BASE_RULES
RULES = PADDED_RULES = BASE_RULES + 1
COMMITTEE_PRIOR = 0.9
"""The prior of the committee in the meta-rule; the base rules share the rest."""
RULE_PRIOR = np.append(
    np.full(BASE_RULES, (1 - COMMITTEE_PRIOR) / BASE_RULES), COMMITTEE_PRIOR
)
"""The prior of every rule in the meta-rule."""
EXPERT_PRIOR = np.ones(PADDED_EXPERTS)
"""The prior of the experts in AdaShare, up to a factor."""
RULE_MASK = np.repeat([1.0, 0.0], [RULES, PADDED_RULES - RULES])
BASE_RULE_MASK = np.repeat([1.0, 0.0], [BASE_RULES, PADDED_RULES - BASE_RULES])

# Behind the weights, Δ and U of the meta-rule (replay.py): the squared errors of the
# forecasts in this block of rounds, in the one before, and the most in an earlier one;
# replays not paid off yet; and the rounds that taught nothing, at the end of the last
# block and of the one before.
BLOCK_LOSS, PREVIOUS_LOSS, EARLIER_LOSS = range(PADDED_RULES + 2, PADDED_RULES + 5)
REPLAY_DEBT, SKIPPED, PREVIOUS_SKIPPED = range(PADDED_RULES + 5, PADDED_RULES + 8)

LINE_FLOATS = 8
"""Numbers in a cache line, and in a SIMD vector."""
HINGES = 80
"""Number of features of the regression that corrects for curvature."""
CANDIDATES = 3
"""Number of corrections of the committee's prediction: none, all of it and half."""
CANDIDATE_MASK = np.repeat([1.0, 0.0], [CANDIDATES, PADDED_RULES - CANDIDATES])
OWN, OWN_AND_EXTERNAL, EXTERNAL = range(3)
"""Forecasts that are pooled: the Tracker's own, the mean, and the external one."""
POOLED = EXTERNAL + 1
MAX_SEASON = 512
"""Limit of a season's length in rounds, and number of past rounds remembered."""
RECENT_ERRORS = 512
"""Number of its own errors that the Tracker remembers for its prediction intervals."""
# Columns of ``StateViews.pending``: a round that waits for its label
# (pending_labels.py).
PENDING_Y, PENDING_WEIGHT, PENDING_ELAPSED, PENDING_FORECAST = range(4)
HAS_PREDICTION, PENDING_SCALE, PENDING_MEAN, PENDING_CORRECTION = range(4, 8)
PENDING_CANDIDATES = PENDING_CORRECTION + 1
PENDING_PREDICTIONS = PENDING_CANDIDATES + CANDIDATES
PENDING_RULES = PENDING_PREDICTIONS + PADDED_EXPERTS
PENDING_CONFIDENCES = PENDING_RULES + PADDED_RULES
# The Tracker's own forecast, and the external one that it was pooled with.
PENDING_OWN = PENDING_CONFIDENCES + PADDED_EXPERTS
PENDING_EXTERNAL = PENDING_OWN + 1
# The features follow, then the context (n + CONTEXT_LABELS).
PENDING_FEATURES = PENDING_EXTERNAL + 1
CONTEXT_LABELS = 2
"""Number of coordinates of the context behind the features: last label and change."""

# The entries of ``StateViews.counters``.
COUNTERS = 32
ROUNDS = 0  # rounds learnt
SEASON = 1  # the season of the labels, a lag in rounds; 1: no season
ELAPSED = 2  # time since the last round learnt
TOTAL_WEIGHT = 3  # of all rounds learnt
ERROR_SCALE = 4  # size of the Tracker's recent errors
ERROR_COUNT = 5  # errors known so far
LOWEST_LABEL, HIGHEST_LABEL = 6, 7  # of all labels
MAX_LABEL_STEP = 8  # the largest |y_t - y_{t-1}|
STEP_LIMIT = 9  # 1 where predictions are clipped about the last label, else 0
MAX_LOSS = 10  # the largest w(y - q)² of an active expert
DIFFERENCE_COUNT = 11  # the discounted number of season differences of lag 1
DELAY = 12  # rounds by which labels are late
PENDING_COUNT, OLDEST_PENDING = 13, 14  # pending rounds; the slot of the oldest
PASSED_ROUNDS = 15  # rounds learnt or skipped
CORRECTION_SCALE = 16  # mean size of the committee's recent errors
CORRECTION_COUNT = 17  # how many of them there were
HINGE_COUNT = 18  # ``HINGES``, or 0 without curvature
GRAM_SCALE = 19  # what the second moments of hinges are to be multiplied by
QUICK_ERROR_MEAN, SLOW_ERROR_MEAN = 20, 21  # of |error|: prediction_interval.py
# Limits after a jump of the label (clipping.py).
ROOT_STEP, STEP_COUNT = 22, 23  # the mean of √|y_t - y_{t-1}|, and how many count
JUMP_ROUNDS = 24  # number of rounds in which a jump still sets limits
JUMP_ORIGIN, JUMP_SIZE = 25, 26  # the forecast of the label that jumped, and its error
JUMP_LOW, JUMP_HIGH = 27, 28  # the range of labels since, or since the return
JUMP_RETURNED = 29  # 1: the label has returned, else 0
GAP_ROUNDS = 30  # rounds skipped since the last one learnt
EXTERNAL_FORECAST = 31  # 1 + the column of x that is a forecast of y; 0: no column
LEGAL_COUNTERS = {
    **dict.fromkeys((ROUNDS, ERROR_COUNT, PASSED_ROUNDS, GAP_ROUNDS), whole(2**53 - 1)),
    **dict.fromkeys((PENDING_COUNT, OLDEST_PENDING), whole("slots - (slots > 0)")),
    SEASON: Range(1, MAX_SEASON, is_whole=True), EXTERNAL_FORECAST: whole("n"),
}  # fmt: skip
IN_CONTEXT = whole(f"n + {CONTEXT_LABELS - 1}")

# The entries of ``ExpertWorkspace.status``.
HAS_FACTORS = 0  # 1: the factors are those of the state
# The entries of ``CurvatureWorkspace.committee``.
COMMITTEE_MEAN, CORRECTION = 0, 1


Array = np.ndarray


class ExpertState(NamedTuple):
    """The state of the ridge regressions on features alone (ridge_experts.py)."""

    # Discounted weight of all rounds.
    weight: Annotated[Array, Shape(LANES, align=LINE_FLOATS)]
    # Discounted means of x and y; 0 but for the levels.
    mean: Annotated[Array, Shape("n + 1", LANES)]
    # Discounted second moments of x; row n those with y, and row n + 1 the deviations
    # of the last round.
    moments: Annotated[Array, Shape("n + 2", "n", LANES)]
    # Coefficients of the anchored regressions.
    anchored: Annotated[Array, Shape("n", ANCHORED_LANES)]
    # Undiscounted means of x.
    overall_mean: Annotated[Array, Shape("n")]
    # Mean squares of x about the overall mean, the last round, the season.
    spread: Annotated[Array, Shape(3, "n")]


class LagState(NamedTuple):
    """The state of the past labels, features of some experts (autoregressive.py)."""

    # Discounted means of the past labels, newest first, in the lanes of light levels.
    mean: Annotated[Array, Shape(LAGS, AUTOREGRESSIVE_LANES, align=LINE_FLOATS)]
    # Their discounted second moments with x and each other; row LAGS those with y.
    moments: Annotated[Array, Shape(LAGS + 1, f"n + {LAGS}", AUTOREGRESSIVE_LANES)]
    # Their undiscounted means and mean squares about these.
    overall_mean: Annotated[Array, Shape(LAGS)]
    spread: Annotated[Array, Shape(LAGS)]


class DistributedLagState(NamedTuple):
    """The state of the regressions on x, the last x and past labels.

    N = 2n + 2 counts these coordinates (distributed_lag.py).
    """

    # Discounted weight of all rounds.
    weight: Annotated[Array, Shape(DISTRIBUTED_LANES, align=LINE_FLOATS)]
    # Discounted means of the coordinates and of y.
    mean: Annotated[Array, Shape(f"2 * n + {PAST_LABELS + 1}", DISTRIBUTED_LANES)]
    # Discounted second moments; row N those with y.
    moments: Annotated[
        Array,
        Shape(
            f"2 * n + {PAST_LABELS + 1}", f"2 * n + {PAST_LABELS}", DISTRIBUTED_LANES
        ),
    ]
    # Coefficients, from the last round in which they were solved for.
    theta: Annotated[Array, Shape(f"2 * n + {PAST_LABELS}", DISTRIBUTED_LANES)]
    # Leverages of the features in the last round, in the lanes of light levels.
    last_leverage: Annotated[Array, Shape(AUTOREGRESSIVE_LANES)]


class RuleStates(NamedTuple):
    """The states of the rules that weigh the experts, and of those that weigh rules.

    A rule's scalars stand in the cache line behind its last expert.
    """

    # Weights, then Δ and U; the steady rule and the quick one.
    adashare: Annotated[
        Array, Shape(2, PADDED_EXPERTS + LINE_FLOATS, align=LINE_FLOATS)
    ]
    # Weight, √V, E and rate.
    boa: Annotated[Array, Shape(4, PADDED_EXPERTS)]
    # Regret R; √V, then the largest |g|.
    mlpoly: Annotated[Array, Shape(2, PADDED_EXPERTS + LINE_FLOATS)]
    # Discounted losses, then the discounted weight; the slow rule and the fast one.
    softmax: Annotated[Array, Shape(2, PADDED_EXPERTS + LINE_FLOATS)]
    # Discounted logarithms of losses, then s² and the number of its terms.
    cauchy: Annotated[Array, Shape(PADDED_EXPERTS + LINE_FLOATS)]
    # BOA over the base rules, as ``boa``.
    committee: Annotated[Array, Shape(4, PADDED_RULES)]
    # BOA over the committee's candidates, as ``boa`` (curvature.py).
    correction: Annotated[Array, Shape(4, PADDED_RULES)]
    # AdaShare over all rules, as ``adashare``; then losses of blocks: ``BLOCK_LOSS`` …
    meta: Annotated[Array, Shape(PADDED_RULES + LINE_FLOATS)]


class CurvatureState(NamedTuple):
    """The state of the correction for curvature (curvature.py); all but the last two
    are empty without it.
    """

    # Discounted second moments of the hinges, by rows from the diagonal on; with the
    # committee's error; and the coefficients.
    gram: Annotated[Array, Shape("hinges * (hinges + 8) // 2", align=LINE_FLOATS)]
    target: Annotated[Array, Shape("hinges")]
    theta: Annotated[Array, Shape("hinges")]
    # The hinges, drawn at the start: indices of two coordinates, their directions, and
    # the bias.
    coordinates: Annotated[Array, Shape(2, "hinges", legal=IN_CONTEXT)]
    directions: Annotated[Array, Shape(2, "hinges")]
    biases: Annotated[Array, Shape("hinges")]
    # The undiscounted mean of the label's changes, and their variance.
    change_mean: Annotated[Array, Shape(1)]
    change_spread: Annotated[Array, Shape(1)]


class ExternalForecastState(NamedTuple):
    """Losses of the own forecast, the external one and their mean."""

    # Discounted losses, and the discounted weight of all rounds.
    losses: Annotated[Array, Shape(POOLED)]
    weight: Annotated[Array, Shape(1)]


class StateViews(NamedTuple):
    """Views of the packed state."""

    # Scalars, whose indices are named above. They come first: packed[ROUNDS] is one.
    counters: Annotated[Array, Shape(COUNTERS, align=LINE_FLOATS, legal=LEGAL_COUNTERS)]
    # The first round in which each expert is active; inf: never.
    active_from: Annotated[Array, Shape(PADDED_EXPERTS)]
    # The last rounds (seasonality.py): features in a ring; labels newest first, twice.
    past_x: Annotated[Array, Shape(MAX_SEASON, "n")]
    past_y: Annotated[Array, Shape(2 * MAX_SEASON)]
    # Discounted sums of (y_t - y_{t-l})² by lag l, and one over the number of terms.
    season_differences: Annotated[Array, Shape(MAX_SEASON)]
    inverse_counts: Annotated[Array, Shape(2 * MAX_SEASON)]
    # Own errors in units of their scale, in a ring and sorted: prediction_interval.py.
    recent_errors: Annotated[Array, Shape(2, RECENT_ERRORS)]
    experts: ExpertState
    lags: LagState
    distributed_lag: DistributedLagState
    rules: RuleStates
    curvature: CurvatureState
    # The longest step of every feature between two rounds (restart.py).
    max_feature_steps: Annotated[Array, Shape("n")]
    pool: ExternalForecastState
    # A ring of rounds that wait for their labels (pending_labels.py); empty without a
    # delay, else one more than the delay.
    pending: Annotated[
        Array, Shape("slots", f"2 * n + {PENDING_FEATURES + CONTEXT_LABELS}")
    ]


class ExpertWorkspace(NamedTuple):
    """Arrays in which the experts compute one round.

    Only the factors outlive it: ``lower`` of either tuple, where ``HAS_FACTORS`` says
    that they belong to the state.
    """

    # (x, y) minus its origin.
    deviations: Annotated[Array, Shape("n + 1", LANES, align=LINE_FLOATS)]
    # The prediction of y where all deviations are zero.
    origin: Annotated[Array, Shape(LANES)]
    # The weight of this round's outer product.
    outer_weight: Annotated[Array, Shape(LANES)]
    # γ to the power of the time elapsed.
    decay: Annotated[Array, Shape(LANES)]
    # The ridge, to be added to the diagonal.
    ridge: Annotated[Array, Shape("n", LANES)]
    # L of L D Lᵀ; rows n and n + 1 are D⁻¹L⁻¹b and D⁻¹L⁻¹u (solve.py).
    lower: Annotated[Array, Shape("n + 2", "n", LANES)]
    # The products of two columns with D, and -D (solve.py).
    work: Annotated[Array, Shape(3, "n", LANES)]
    # L⁻¹u of the row to be predicted, and the leverage.
    projection: Annotated[Array, Shape("n", LANES)]
    leverage: Annotated[Array, Shape(LANES)]
    # (S + ridge)⁻¹ of u, of the anchored experts, or of b.
    solution: Annotated[Array, Shape("n", LANES)]
    # Predictions of the shrunk experts in ascending order (round.py).
    sorted_predictions: Annotated[Array, Shape(LANES)]
    # Scalars, whose indices are named above.
    status: Annotated[Array, Shape(LINE_FLOATS)]
    # The longest step of every feature in the last rounds (restart.py).
    recent_steps: Annotated[Array, Shape("n")]
    # The features of a round whose label came late.
    pending_x: Annotated[Array, Shape("n")]


class LagWorkspace(NamedTuple):
    """Arrays in which the autoregressive experts compute one round."""

    # The past labels minus their means.
    deviations: Annotated[Array, Shape(LAGS, AUTOREGRESSIVE_LANES, align=LINE_FLOATS)]
    # Rows of L for the past labels, then those of D⁻¹L⁻¹b.
    lower: Annotated[Array, Shape(LAGS + 1, f"n + {LAGS}", AUTOREGRESSIVE_LANES)]
    # -D of the past labels.
    negative_d: Annotated[Array, Shape(LAGS, AUTOREGRESSIVE_LANES)]
    # L⁻¹u of the past labels, and the leverage with them.
    projection: Annotated[Array, Shape(LAGS, AUTOREGRESSIVE_LANES)]
    leverage: Annotated[Array, Shape(AUTOREGRESSIVE_LANES)]
    # (S + ridge)⁻¹b of x and the past labels.
    solution: Annotated[Array, Shape(f"n + {LAGS}", AUTOREGRESSIVE_LANES)]
    # The past labels, newest first.
    labels: Annotated[Array, Shape(LAGS)]


class DistributedLagWorkspace(NamedTuple):
    """Arrays in which the distributed-lag experts compute one round."""

    # The coordinates and y, minus their means.
    deviations: Annotated[
        Array,
        Shape(f"2 * n + {PAST_LABELS + 1}", DISTRIBUTED_LANES, align=LINE_FLOATS),
    ]
    origin: Annotated[Array, Shape(DISTRIBUTED_LANES)]
    outer_weight: Annotated[Array, Shape(DISTRIBUTED_LANES)]
    decay: Annotated[Array, Shape(DISTRIBUTED_LANES)]
    ridge: Annotated[Array, Shape(f"2 * n + {PAST_LABELS}", DISTRIBUTED_LANES)]
    lower: Annotated[
        Array,
        Shape(
            f"2 * n + {PAST_LABELS + 1}", f"2 * n + {PAST_LABELS}", DISTRIBUTED_LANES
        ),
    ]
    work: Annotated[Array, Shape(3, f"2 * n + {PAST_LABELS}", DISTRIBUTED_LANES)]


class RuleWorkspace(NamedTuple):
    """Arrays in which the rules compute one round; nothing here outlives it."""

    # Predictions of the experts, clipped; with space behind for the last lanes of a
    # kind, which belong to no expert.
    padded_predictions: Annotated[
        Array, Shape(PADDED_EXPERTS + LINE_FLOATS, align=LINE_FLOATS)
    ]
    expert_predictions: Annotated[
        Array, Shape(PADDED_EXPERTS, within="padded_predictions")
    ]
    losses: Annotated[Array, Shape(PADDED_EXPERTS)]
    # Weights times e^{-ηℓ} (adashare.py).
    posterior: Annotated[Array, Shape(PADDED_EXPERTS)]
    # 1 for the experts active in this round, and for those active in the next; else 0.
    active: Annotated[Array, Shape(PADDED_EXPERTS)]
    active_next: Annotated[Array, Shape(PADDED_EXPERTS)]
    # 1/√(1 + h + (h/5)²), h the leverage; with space as ``padded_predictions``.
    padded_confidences: Annotated[Array, Shape(PADDED_EXPERTS + LINE_FLOATS)]
    confidences: Annotated[Array, Shape(PADDED_EXPERTS, within="padded_confidences")]
    # 1 for every expert, and for every rule: full confidence.
    full_confidence: Annotated[Array, Shape(PADDED_EXPERTS)]
    # Weights of the experts under each rule.
    expert_weights: Annotated[Array, Shape(RULES, PADDED_EXPERTS)]
    rule_predictions: Annotated[Array, Shape(PADDED_RULES)]
    rule_weights: Annotated[Array, Shape(PADDED_RULES)]
    # 1 for every rule, and for every base rule; else 0.
    rule_mask: Annotated[Array, Shape(PADDED_RULES)]
    base_rule_mask: Annotated[Array, Shape(PADDED_RULES)]
    # Weights of the experts in the forecast.
    forecast_weights: Annotated[Array, Shape(PADDED_EXPERTS)]


class CurvatureWorkspace(NamedTuple):
    """Arrays in which the correction for curvature is computed."""

    # The features of the hinges.
    features: Annotated[Array, Shape("hinges", align=LINE_FLOATS)]
    # U of A + ridge = Uᵀ D U; D; and two columns of U times -D.
    factor: Annotated[Array, Shape("hinges", "hinges")]
    pivots: Annotated[Array, Shape("hinges")]
    scaled: Annotated[Array, Shape(2, "hinges")]
    # Corrections that are offered to the committee, 1 for each such candidate, and
    # their weights.
    candidates: Annotated[Array, Shape(PADDED_RULES)]
    candidate_mask: Annotated[Array, Shape(PADDED_RULES)]
    candidate_weights: Annotated[Array, Shape(PADDED_RULES)]
    # What the committee predicted itself, and by how much it was corrected.
    committee: Annotated[Array, Shape(LINE_FLOATS)]
    # The context of the round.
    context: Annotated[Array, Shape(f"n + {CONTEXT_LABELS}")]


class GivenForecastWorkspace(NamedTuple):
    """What is pooled in one round, and its weights (external_forecast.py)."""

    forecasts: Annotated[Array, Shape(POOLED)]
    weights: Annotated[Array, Shape(POOLED)]


class WorkspaceViews(NamedTuple):
    """Arrays in which one round is computed."""

    experts: ExpertWorkspace
    lags: LagWorkspace
    distributed_lag: DistributedLagWorkspace
    rules: RuleWorkspace
    curvature: CurvatureWorkspace
    pool: GivenForecastWorkspace


ROW_TAIL = 3
"""Number of values of a row behind its features: y, weight and elapsed time."""
INTERVAL_LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99)
"""Nominal coverages of the intervals that ``Records.intervals`` holds."""


class Records(NamedTuple):
    """Diagnostics of each round, from before y is seen: each of these or empty."""

    forecast: Annotated[Array, Shape("forecast_rows", align=LINE_FLOATS)]
    theta: Annotated[Array, Shape("theta_rows", "n")]
    weights: Annotated[Array, Shape("weights_rows", EXPERTS)]
    memory: Annotated[Array, Shape("memory_rows")]
    # The ends of the prediction interval, at coverage ``header[COVERAGE]``.
    interval: Annotated[Array, Shape("interval_rows", 2)]
    # The same at each of the ``INTERVAL_LEVELS``.
    intervals: Annotated[Array, Shape("intervals_rows", len(INTERVAL_LEVELS), 2)]


TABLE_SIZE = 192
"""The size of ``BufferViews.table``; not all of it is used."""


class BufferViews(NamedTuple):
    """The one array that the Tracker's kernel works with.

    Handing over an argument from Python takes longer than many a step of a round, so
    everything is in there.
    """

    # kernels/call_header.py, with the settings named below.
    header: Annotated[Array, Shape(HEADER_SIZE)]
    # Rounds to play: x, y, weight and elapsed time; a call puts its own in the first.
    rows: Annotated[Array, Shape("rows", f"n + {ROW_TAIL}")]
    # For how many rounds each feature has been zero.
    unexcited_rounds: Annotated[Array, Shape("n")]
    # All dimensions, and where each field begins (kernels/compiler/record.py).
    table: Annotated[Array, Shape(TABLE_SIZE)]
    state: StateViews
    workspace: WorkspaceViews
    # The state before a replay, while that goes on (replay.py).
    former: StateViews
    # The whole of both states.
    packed: Annotated[Array, Shape("state_size", within="state.counters")]
    former_packed: Annotated[Array, Shape("state_size", within="former.counters")]
    records: Records


STATE = Layout(
    "Tracker state", StateViews, version=8, dimensions=("n", "hinges", "slots"),
    is_finite=False,
)  # fmt: skip
"""``hinges`` is ``HINGES`` or 0, ``slots`` is ``pending_slots(delay)``. Version 7
rounded past features, version 6 had no external forecasts, version 5 was stored as is,
version 4 had 79 experts, version 3 no limits after jumps, version 2 71 experts
and no curvature."""
WORKSPACE = Layout(
    "Tracker workspace", WorkspaceViews, version=3, dimensions=("n", "hinges")
)
RECORD_ROWS = tuple(f"{name}_rows" for name in Records._fields)
"""The dimensions of the records: how many rows each has, 0 where it is not recorded."""
RECORDS = Layout("Tracker records", Records, version=2, dimensions=("n", *RECORD_ROWS))

# The settings in the header of the buffer.
FORECAST = SETTINGS  # the last forecast
HAS_FORECAST = SETTINGS + 1  # 1: it is that of the first row and of this state
ROW_COUNT = SETTINGS + 2  # rows to play; 0: a call brings its own round
COVERAGE = SETTINGS + 3  # the nominal coverage of recorded prediction intervals
TABLE = SETTINGS + 4  # where ``BufferViews.table`` begins
TARGETS = SETTINGS + 5  # how many buffers follow each other, where there are several
assert TARGETS < HEADER_SIZE
BUFFER = Layout(
    "Tracker buffer",
    BufferViews,
    version=5,
    dimensions=("n", "hinges", "slots", "rows", "state_size", *RECORD_ROWS),
)
assert len(BUFFER.dimensions) + len(BUFFER.fields) <= TABLE_SIZE


def pending_slots(delay: int) -> int:
    """How many rounds may wait for their labels at the same time."""
    return delay + 1 if delay > 0 else 0


def state_size(n: int, delay: int, curvature: bool = True) -> int:
    """How many numbers a packed state has."""
    hinges = HINGES if curvature else 0
    return STATE.size(n=n, hinges=hinges, slots=pending_slots(delay))


def views(packed: np.ndarray, n: int) -> StateViews:
    """The named arrays in a packed state of ``n`` features."""
    hinges, slots = int(packed[HINGE_COUNT]), pending_slots(int(packed[DELAY]))
    fields: StateViews = STATE.views(packed, n=n, hinges=hinges, slots=slots)
    return fields
