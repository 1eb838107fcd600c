"""Where everything lies in the Tracker's state: one packed array with named views.

Experts of one family and all memories are computed side by side, in lanes: the last
axis of most arrays runs over them, so that every inner loop is a vector operation.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

MEMORIES = np.array([np.inf, 2, 4, 8, 16, 32, 64, 256, 1024, 4096])
"""Effective memories 1/(1-γ), in rounds. A bank of 211 experts gained at most 0.3 %."""
SPANS = len(MEMORIES)

# The first lanes of four families of ridge regressions, each with every memory: about
# the recent mean, with a light and with a heavy ridge; of the change since the last
# round, and since a season ago.
LIGHT, HEAVY, STEP, SEASONAL = 0, SPANS, 2 * SPANS, 3 * SPANS
LEVELS = 2 * SPANS
LANES = 4 * SPANS
DISCOUNT = np.tile(np.where(np.isinf(MEMORIES), 1.0, 1 - 1 / MEMORIES), 4)
RIDGE = np.repeat([0.01, 1.0, 0.01, 1.0], SPANS)
"""In units of one observation of the feature's own spread."""

# Experts in order: the four families pulled to their origin (kinds/pulled.py), the
# first two without pull, the first with the last label, and the last label itself.
PULLED, UNPULLED, LABELLED, LAST = 0, LANES, LANES + LEVELS, LANES + LEVELS + SPANS
EXPERTS = LAST + 1
# Rules in order: AdaShare, the same quick to trust again, BOA, ML-Poly, two softmaxes,
# and a committee of these six.
SINGLE_RULES = 6
COMMITTEE = SINGLE_RULES
RULES = SINGLE_RULES + 1

LONGEST_SEASON = 512
RECENT = 512
"""How many of its own errors the Tracker keeps for its intervals."""

# The entries of ``State.clock``.
CLOCK = 11
ROUNDS, LAG, WAITED, TOTAL_WEIGHT, SCALE, SCORED = range(6)
LOW, HIGH, LONGEST_STEP, LIMITED, LARGEST_LOSS = range(6, CLOCK)


class Experts(NamedTuple):
    """What the experts remember; z = n + 1 counts the features and the last label."""

    weight: np.ndarray  # (SPANS,) discounted weight of all rounds
    mean: np.ndarray  # (z + 1, SPANS) discounted means of x, the last label and y
    centre: np.ndarray  # (z,) undiscounted means
    spread: np.ndarray  # (3, z) mean squares about the mean, the last, the season
    moments: np.ndarray  # (z + 1, z, LANES) discounted second moments, row z with y
    pulled: np.ndarray  # (n, LANES) coefficients
    unpulled: np.ndarray  # (n, LEVELS) coefficients
    labelled: np.ndarray  # (z, SPANS) coefficients


class Rules(NamedTuple):
    """What the rules remember of the experts, and the rule on top of the rules."""

    adashare: np.ndarray  # (2, EXPERTS + 2) steady, quick: weights, then Δ and U
    boa: np.ndarray  # (4, EXPERTS) weight, √V, E, rate
    mlpoly: np.ndarray  # (2, EXPERTS + 1) regret R and √V; the largest |g|
    softmax: np.ndarray  # (2, EXPERTS + 1) discounted losses; discounted weight
    committee: np.ndarray  # (4, SINGLE_RULES) as ``boa``
    top: np.ndarray  # (RULES + 2,) as ``adashare``


class State(NamedTuple):
    """Views of the packed state."""

    clock: np.ndarray  # (CLOCK,) scalars, named above
    born: np.ndarray  # (EXPERTS,) the round from which each votes; inf: never
    past_x: np.ndarray  # (LONGEST_SEASON, n) a ring
    past_y: np.ndarray  # (2·LONGEST_SEASON,) newest first, twice over: past.py
    unlike: np.ndarray  # (2, LONGEST_SEASON) sums and weights of (y_t - y_{t-l})²
    recent: np.ndarray  # (2, RECENT) own errors over their scale: in a ring, in order
    longest: np.ndarray  # (n,) the longest step of every feature: restart.py
    experts: Experts
    rules: Rules


class Sums(NamedTuple):
    """Room for the experts to compute one round in; nothing here outlives it."""

    deviation: np.ndarray  # (z + 1, LANES) (x, last label, y) minus its origin
    origin: np.ndarray  # (LANES,) what stands for y where the deviation is zero
    gain: np.ndarray  # (LANES,) the weight of this round's outer product
    decay: np.ndarray  # (LANES,) γ to the power of the time elapsed
    ridge: np.ndarray  # (z, LANES) what is added to the diagonal
    lower: np.ndarray  # (z + 2, z, LANES) L of L D Lᵀ; rows z, z+1: y and x̃ solved
    scaled: np.ndarray  # (z + 2, z, LANES) L D, below its diagonal
    entry: np.ndarray  # (LANES,) one entry of L D at a time
    solved: np.ndarray  # (z, LANES)
    season: np.ndarray  # (LONGEST_SEASON,) d_l of season.py
    late: np.ndarray  # (n,) the longest steps of late, of restart.py


class Votes(NamedTuple):
    """Room for the rules to compute one round in; nothing here outlives it."""

    said: np.ndarray  # (EXPERTS,) predictions of the experts, clipped
    loss: np.ndarray  # (EXPERTS,)
    active: np.ndarray  # (EXPERTS,) 1 for those that vote now, else 0
    following: np.ndarray  # (EXPERTS,) 1 for those that vote next, else 0
    shares: np.ndarray  # (RULES, EXPERTS) weights of the experts under each rule
    mixes: np.ndarray  # (RULES,) predictions of the rules
    top: np.ndarray  # (RULES,) weights of the rules
    all_rules: np.ndarray  # (RULES,) ones: every rule votes always
    final: np.ndarray  # (EXPERTS,) weights of the experts in the forecast


@njit(cache=True)
def lengths(n):
    """How many numbers each part takes, in the order in which they lie."""
    z = n + 1
    return (
        CLOCK, EXPERTS, LONGEST_SEASON * n, 2 * LONGEST_SEASON, 2 * LONGEST_SEASON,
        2 * RECENT, n, SPANS, (z + 1) * SPANS, z, 3 * z, (z + 1) * z * LANES, n * LANES,
        n * LEVELS, z * SPANS, 2 * (EXPERTS + 2), 4 * EXPERTS, 2 * (EXPERTS + 1),
        2 * (EXPERTS + 1), 4 * SINGLE_RULES, RULES + 2,
    )  # fmt: skip


def views(packed: np.ndarray, n: int) -> State:
    """The named parts of a packed state for ``n`` features."""
    z, sizes = n + 1, lengths(n)
    at = np.zeros(len(sizes) + 1, np.int64)
    for i in range(len(sizes)):
        at[i + 1] = at[i] + sizes[i]
    return State(
        packed[at[0] : at[1]],
        packed[at[1] : at[2]],
        packed[at[2] : at[3]].reshape(LONGEST_SEASON, n),
        packed[at[3] : at[4]],
        packed[at[4] : at[5]].reshape(2, LONGEST_SEASON),
        packed[at[5] : at[6]].reshape(2, RECENT),
        packed[at[6] : at[7]],
        Experts(
            packed[at[7] : at[8]],
            packed[at[8] : at[9]].reshape(z + 1, SPANS),
            packed[at[9] : at[10]],
            packed[at[10] : at[11]].reshape(3, z),
            packed[at[11] : at[12]].reshape(z + 1, z, LANES),
            packed[at[12] : at[13]].reshape(n, LANES),
            packed[at[13] : at[14]].reshape(n, LEVELS),
            packed[at[14] : at[15]].reshape(z, SPANS),
        ),
        Rules(
            packed[at[15] : at[16]].reshape(2, EXPERTS + 2),
            packed[at[16] : at[17]].reshape(4, EXPERTS),
            packed[at[17] : at[18]].reshape(2, EXPERTS + 1),
            packed[at[18] : at[19]].reshape(2, EXPERTS + 1),
            packed[at[19] : at[20]].reshape(4, SINGLE_RULES),
            packed[at[20] : at[21]],
        ),
    )


unpack = njit(cache=True)(views)
"""``views`` for kernels: compiled for Python too, it would take a second more."""
