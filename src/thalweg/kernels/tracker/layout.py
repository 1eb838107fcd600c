"""Where everything lies in the Tracker's state: one packed array with named views.

Experts of one family and all memories are computed side by side, in lanes: the last
axis of most arrays runs over them, so that every inner loop is a vector operation.
"""

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from thalweg.kernels.jit import inline_function
from thalweg.kernels.layout import view

MEMORIES = np.array([np.inf, 2, 4, 8, 16, 32, 64, 256, 1024, 4096])
"""Effective memories 1/(1-γ), in rounds. A bank of 211 experts gained at most 0.3 %."""
MEMORY_COUNT = len(MEMORIES)

# The first lanes of four families of ridge regressions, each with every memory: about
# the recent mean, with a light and with a heavy ridge; of the change since the last
# round, and since a season ago.
LIGHT_LANE, HEAVY_LANE = 0, MEMORY_COUNT
STEP_LANE, SEASON_LANE = 2 * MEMORY_COUNT, 3 * MEMORY_COUNT
LEVEL_LANES = 2 * MEMORY_COUNT
LANES = 4 * MEMORY_COUNT
DISCOUNT = np.tile(np.where(np.isinf(MEMORIES), 1.0, 1 - 1 / MEMORIES), 4)
# 1 in the lanes of these families, else 0.
IS_LEVEL = np.repeat([1.0, 1.0, 0.0, 0.0], MEMORY_COUNT)
IS_STEP = np.repeat([0.0, 0.0, 1.0, 0.0], MEMORY_COUNT)
IS_SEASONAL = np.repeat([0.0, 0.0, 0.0, 1.0], MEMORY_COUNT)
RIDGE = np.repeat([0.01, 1.0, 0.01, 1.0], MEMORY_COUNT)
"""In units of one observation of the feature's own spread."""
RIDGE_BY_ORIGIN = RIDGE * [IS_LEVEL, IS_STEP, IS_SEASONAL]
"""The same, by what the spread is about: the mean, the last round, a season ago."""

# Experts in order: the four families shrunk to their origin (kinds/shrunk.py), the
# first two anchored (kinds/anchored.py), the first with the last label as a feature
# (kinds/autoregressive.py), and the last value. These are the first of each kind.
SHRUNK, ANCHORED = 0, LANES
AUTOREGRESSIVE = ANCHORED + LEVEL_LANES
LAST_VALUE = AUTOREGRESSIVE + MEMORY_COUNT
EXPERTS = LAST_VALUE + 1
# Arrays hold whole SIMD vectors of eight: the last expert is padding, and predictions
# of the last lanes of a kind are overwritten.
PADDED_EXPERTS, ANCHORED_LANES, AUTOREGRESSIVE_LANES = 72, 24, 16
# Rules in order: AdaShare, the same with a quick fade, BOA, ML-Poly, two softmaxes, and
# a committee of these six base rules; one place is padding.
BASE_RULES = 6
COMMITTEE = BASE_RULES
RULES = BASE_RULES + 1
PADDED_RULES = 8
RULE_MASK = np.repeat([1.0, 0.0], [RULES, PADDED_RULES - RULES])
BASE_RULE_MASK = np.repeat([1.0, 0.0], [BASE_RULES, PADDED_RULES - BASE_RULES])

LINE_FLOATS = 8
"""Numbers in a cache line, and in a SIMD vector."""
MAX_SEASON = 512
"""The longest season in rounds; so many past rounds are remembered."""
RECENT_ERRORS = 512
"""How many of its own errors the Tracker remembers for its prediction intervals."""
# Columns of ``StateViews.pending``: a round that waits for its label (late.py).
PENDING_Y, PENDING_WEIGHT, PENDING_ELAPSED, PENDING_FORECAST = range(4)
HAS_PREDICTION, PENDING_SCALE, PENDING_PREDICTIONS = range(4, 7)
PENDING_FEATURES = PENDING_PREDICTIONS + PADDED_EXPERTS + PADDED_RULES

# The entries of ``StateViews.counters``.
COUNTERS = 16
ROUNDS = 0  # rounds learnt
SEASON = 1  # the season of the labels, a lag in rounds; 1: none
ELAPSED = 2  # time since the last round learnt
TOTAL_WEIGHT = 3  # of all rounds learnt
ERROR_SCALE = 4  # mean size of the Tracker's recent errors
ERROR_COUNT = 5  # errors remembered so far
LOWEST_LABEL, HIGHEST_LABEL = 6, 7  # of all labels
MAX_LABEL_STEP = 8  # the largest |y_t - y_{t-1}|
STEP_LIMIT = 9  # 1 where predictions are clipped about the last label, else 0
MAX_LOSS = 10  # the largest w(y - q)² of an active expert
DIFFERENCE_COUNT = 11  # the discounted number of season differences of lag 1
DELAY = 12  # rounds by which labels are late
PENDING_COUNT, OLDEST_PENDING = 13, 14  # pending rounds; the slot of the oldest
PASSED_ROUNDS = 15  # rounds learnt or passed over


class ExpertState(NamedTuple):
    """What the experts remember; z = n + 1 counts the features and the last label."""

    weight: np.ndarray  # (LANES,) discounted weight of all rounds
    mean: np.ndarray  # (z + 1, LANES) of x, the last label and y; 0 but for the levels
    overall_mean: np.ndarray  # (z,) undiscounted means
    spread: np.ndarray  # (3, z) mean squares about the mean, the last, the season
    moments: np.ndarray  # (z + 2, z, LANES) discounted second moments, row z with y;
    # then the deviations of the last round
    shrunk: np.ndarray  # (n, LANES) coefficients
    anchored: np.ndarray  # (n, ANCHORED_LANES) coefficients
    autoregressive: np.ndarray  # (z, AUTOREGRESSIVE_LANES) coefficients


class RuleStates(NamedTuple):
    """What the rules remember of the experts, and the meta-rule of the rules.

    K is PADDED_EXPERTS, R is PADDED_RULES, and scalars take LINE_FLOATS more.
    """

    adashare: np.ndarray  # (2, K + LINE_FLOATS) steady, quick: weights, then Δ and U
    boa: np.ndarray  # (4, K) weight, √V, E, rate
    mlpoly: np.ndarray  # (2, K + LINE_FLOATS) regret R and √V; the largest |g|
    softmax: np.ndarray  # (2, K + LINE_FLOATS) discounted losses; discounted weight
    committee: np.ndarray  # (4, R) BOA over the base rules, as ``boa``
    meta: np.ndarray  # (R + LINE_FLOATS,) AdaShare over all rules, as ``adashare``


class StateViews(NamedTuple):
    """Views of the packed state."""

    counters: np.ndarray  # (COUNTERS,) scalars, named above
    active_from: np.ndarray  # (PADDED_EXPERTS,) first round of each; inf: never
    past_x: np.ndarray  # (MAX_SEASON, n) a ring
    past_y: np.ndarray  # (2·MAX_SEASON,) newest first, stored twice: past.py
    season_differences: np.ndarray  # (MAX_SEASON,) discounted sums of (y_t - y_{t-l})²
    inverse_counts: np.ndarray  # (2·MAX_SEASON,) as ``past_y``: season.py
    recent_errors: np.ndarray  # (2, RECENT_ERRORS) errors over scale: ring, sorted
    max_feature_steps: np.ndarray  # (n,) the longest step of every feature: restart.py
    pending: np.ndarray  # (delay + 1, n + PENDING_FEATURES) unlabelled rounds: late.py
    experts: ExpertState
    rules: RuleStates


class ExpertWorkspace(NamedTuple):
    """Arrays in which the experts compute one round; nothing here outlives it."""

    deviations: np.ndarray  # (z + 1, LANES) (x, last label, y) minus its origin
    origin: np.ndarray  # (LANES,) the prediction of y where the deviation is zero
    outer_weight: np.ndarray  # (LANES,) the weight of this round's outer product
    decay: np.ndarray  # (LANES,) γ to the power of the time elapsed
    ridge: np.ndarray  # (z, LANES) what is added to the diagonal
    lower: np.ndarray  # (z + 2, z, LANES) L of L D Lᵀ; rows z, z+1: y and x̃ solved
    work: np.ndarray  # (3, z, LANES) of solve.py
    gain: np.ndarray  # (z, LANES) (S + ridge)⁻¹ x̃, of the anchored experts
    recent_steps: np.ndarray  # (n,) the longest steps of the last rounds: restart.py
    pending_x: np.ndarray  # (n,) the features of a round whose label came late


class RuleWorkspace(NamedTuple):
    """Arrays in which the rules compute one round; nothing here outlives it.

    K is PADDED_EXPERTS, R is PADDED_RULES.
    """

    padded_predictions: np.ndarray  # (K + LINE_FLOATS,) with space for unused lanes
    expert_predictions: np.ndarray  # (K,) the same: predictions of the experts, clipped
    losses: np.ndarray  # (K,)
    active: np.ndarray  # (K,) 1 for the experts active in this round, else 0
    active_next: np.ndarray  # (K,) 1 for the experts active in the next one, else 0
    expert_weights: np.ndarray  # (RULES, K) weights of the experts under each rule
    rule_predictions: np.ndarray  # (R,) predictions of the rules
    rule_weights: np.ndarray  # (R,) weights of the rules
    rule_mask: np.ndarray  # (R,) 1 for each rule
    base_rule_mask: np.ndarray  # (R,) 1 for each rule but the committee
    forecast_weights: np.ndarray  # (K,) weights of the experts in the forecast


def state_size(n: int, delay: int) -> int:
    """How many numbers a state takes."""
    waiting = (delay + 1) * (n + PENDING_FEATURES) if delay else 0
    return sum(lengths(n)) + waiting


def lengths(n: int) -> tuple[int, ...]:
    """How many numbers each part takes, in the order in which they lie.

    Last of all come the rounds that wait for their labels, if labels are late.

    First all that is loaded as vectors, in whole lines: a vector that crosses two
    cache lines costs twice.
    """
    z, padded = n + 1, PADDED_EXPERTS + LINE_FLOATS
    return (
        COUNTERS, PADDED_EXPERTS, MAX_SEASON * n, 2 * MAX_SEASON, MAX_SEASON,
        2 * MAX_SEASON, 2 * RECENT_ERRORS, LANES, (z + 1) * LANES, (z + 2) * z * LANES,
        n * LANES, n * ANCHORED_LANES, z * AUTOREGRESSIVE_LANES, 2 * padded,
        4 * PADDED_EXPERTS, 2 * padded, 2 * padded, 4 * PADDED_RULES,
        PADDED_RULES + LINE_FLOATS, n, z, 3 * z,
    )  # fmt: skip


def workspace_lengths(n: int) -> tuple[int, ...]:
    """The same for ExpertWorkspace and RuleWorkspace."""
    z, k, r = n + 1, PADDED_EXPERTS, PADDED_RULES
    return (
        (z + 1) * LANES, LANES, LANES, LANES, z * LANES, (z + 2) * z * LANES,
        3 * z * LANES, z * LANES, k + LINE_FLOATS, k, k, k, RULES * k, r, r, r, r, k,
        n, n,
    )  # fmt: skip


def starts(sizes: Sequence[int], first: int = 0) -> list[int]:
    """Where each part begins, and where the last ends."""
    return list(accumulate(sizes, initial=first))


STATE_PARTS, WORKSPACE_PARTS = len(lengths(1)) + 1, len(workspace_lengths(1)) + 1
"""How many numbers ``starts`` gives."""


def views(packed: np.ndarray, n: int) -> StateViews:
    """The named parts of a packed state for ``n`` features."""
    return state_at(packed, starts(lengths(n)), n)


def workspaces(workspace: np.ndarray, n: int) -> tuple[ExpertWorkspace, RuleWorkspace]:
    """Sums and Votes, the named parts of the room to compute in."""
    return workspace_at(workspace, starts(workspace_lengths(n)), n)


def state_at(packed: np.ndarray, at: Sequence[int], n: int) -> StateViews:
    """The parts of a state, which begin ``at`` these places of ``packed``."""
    z, delay = n + 1, int(packed[int(at[0]) + DELAY])
    waiting = delay + 1 if delay > 0 else 0
    return StateViews(
        view(packed, int(at[0]), (COUNTERS,)),
        view(packed, int(at[1]), (PADDED_EXPERTS,)),
        view(packed, int(at[2]), (MAX_SEASON, n)),
        view(packed, int(at[3]), (2 * MAX_SEASON,)),
        view(packed, int(at[4]), (MAX_SEASON,)),
        view(packed, int(at[5]), (2 * MAX_SEASON,)),
        view(packed, int(at[6]), (2, RECENT_ERRORS)),
        view(packed, int(at[19]), (n,)),
        view(packed, int(at[22]), (waiting, n + PENDING_FEATURES)),
        ExpertState(
            view(packed, int(at[7]), (LANES,)),
            view(packed, int(at[8]), (z + 1, LANES)),
            view(packed, int(at[20]), (z,)),
            view(packed, int(at[21]), (3, z)),
            view(packed, int(at[9]), (z + 2, z, LANES)),
            view(packed, int(at[10]), (n, LANES)),
            view(packed, int(at[11]), (n, ANCHORED_LANES)),
            view(packed, int(at[12]), (z, AUTOREGRESSIVE_LANES)),
        ),
        RuleStates(
            view(packed, int(at[13]), (2, PADDED_EXPERTS + LINE_FLOATS)),
            view(packed, int(at[14]), (4, PADDED_EXPERTS)),
            view(packed, int(at[15]), (2, PADDED_EXPERTS + LINE_FLOATS)),
            view(packed, int(at[16]), (2, PADDED_EXPERTS + LINE_FLOATS)),
            view(packed, int(at[17]), (4, PADDED_RULES)),
            view(packed, int(at[18]), (PADDED_RULES + LINE_FLOATS,)),
        ),
    )


def workspace_at(
    workspace: np.ndarray, at: Sequence[int], n: int
) -> tuple[ExpertWorkspace, RuleWorkspace]:
    """The same of a room."""
    z = n + 1
    expert_workspace = ExpertWorkspace(
        view(workspace, int(at[0]), (z + 1, LANES)),
        view(workspace, int(at[1]), (LANES,)),
        view(workspace, int(at[2]), (LANES,)),
        view(workspace, int(at[3]), (LANES,)),
        view(workspace, int(at[4]), (z, LANES)),
        view(workspace, int(at[5]), (z + 2, z, LANES)),
        view(workspace, int(at[6]), (3, z, LANES)),
        view(workspace, int(at[7]), (z, LANES)),
        view(workspace, int(at[18]), (n,)),
        view(workspace, int(at[19]), (n,)),
    )
    rule_workspace = RuleWorkspace(
        view(workspace, int(at[8]), (PADDED_EXPERTS + LINE_FLOATS,)),
        view(workspace, int(at[8]), (PADDED_EXPERTS,)),
        view(workspace, int(at[9]), (PADDED_EXPERTS,)),
        view(workspace, int(at[10]), (PADDED_EXPERTS,)),
        view(workspace, int(at[11]), (PADDED_EXPERTS,)),
        view(workspace, int(at[12]), (RULES, PADDED_EXPERTS)),
        view(workspace, int(at[13]), (PADDED_RULES,)),
        view(workspace, int(at[14]), (PADDED_RULES,)),
        view(workspace, int(at[15]), (PADDED_RULES,)),
        view(workspace, int(at[16]), (PADDED_RULES,)),
        view(workspace, int(at[17]), (PADDED_EXPERTS,)),
    )
    return expert_workspace, rule_workspace


# For kernels only, as the parts in them are.
unpack, unpack_workspace = inline_function(state_at), inline_function(workspace_at)
