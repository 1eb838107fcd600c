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
SPANS = len(MEMORIES)

# The first lanes of four families of ridge regressions, each with every memory: about
# the recent mean, with a light and with a heavy ridge; of the change since the last
# round, and since a season ago.
LIGHT, HEAVY, STEP, SEASONAL = 0, SPANS, 2 * SPANS, 3 * SPANS
LEVELS = 2 * SPANS
LANES = 4 * SPANS
DISCOUNT = np.tile(np.where(np.isinf(MEMORIES), 1.0, 1 - 1 / MEMORIES), 4)
# 1 in the lanes of these families, else 0.
IS_LEVEL = np.repeat([1.0, 1.0, 0.0, 0.0], SPANS)
IS_STEP = np.repeat([0.0, 0.0, 1.0, 0.0], SPANS)
IS_SEASONAL = np.repeat([0.0, 0.0, 0.0, 1.0], SPANS)
RIDGE = np.repeat([0.01, 1.0, 0.01, 1.0], SPANS)
"""In units of one observation of the feature's own spread."""
RIDGE_OF = RIDGE * [IS_LEVEL, IS_STEP, IS_SEASONAL]
"""The same, by what the spread is about: the mean, the last round, a season ago."""

# Experts sit in order: the four families pulled to their origin (kinds/pulled.py), the
# first two without pull, the first with the last label, and the last label itself.
PULLED, UNPULLED, LABELLED, LAST = 0, LANES, LANES + LEVELS, LANES + LEVELS + SPANS
EXPERTS = LAST + 1
# There are whole vectors of eight (lanes.py) of all: nobody sits in the last seat, and
# what is said in the last lanes of a kind is not heard.
SEATS, UNPULLED_LANES, LABELLED_LANES = 72, 24, 16
# Rules in order: AdaShare, the same quick to trust again, BOA, ML-Poly, two softmaxes,
# and a committee of these six; one seat is empty.
SINGLE_RULES = 6
COMMITTEE = SINGLE_RULES
RULES = SINGLE_RULES + 1
RULE_SEATS = 8
ALL_RULES = np.repeat([1.0, 0.0], [RULES, RULE_SEATS - RULES])
SINGLES = np.repeat([1.0, 0.0], [SINGLE_RULES, RULE_SEATS - SINGLE_RULES])

LINE = 8
"""Numbers in a cache line, and in a vector."""
LONGEST_SEASON = 512
LATE_Y, LATE_WEIGHT, LATE_ELAPSED, LATE_FORECAST, SPOKEN, LATE_SCALE, SAID = range(7)
PENDING = SAID + SEATS + RULE_SEATS
"""What is kept of a round until its label comes, before its features: late.py."""
RECENT = 512
"""How many of its own errors the Tracker keeps for its intervals."""

# The entries of ``State.clock``.
CLOCK = 16
ROUNDS, LAG, WAITED, TOTAL_WEIGHT, SCALE, SCORED = range(6)
LOW, HIGH, LONGEST_STEP, LIMITED, LARGEST_LOSS, COUNTED = range(6, 12)
DELAY, WAITING, OLDEST, PASSED = range(12, CLOCK)


class Experts(NamedTuple):
    """What the experts remember; z = n + 1 counts the features and the last label."""

    weight: np.ndarray  # (LANES,) discounted weight of all rounds
    mean: np.ndarray  # (z + 1, LANES) of x, the last label and y; 0 but for the levels
    centre: np.ndarray  # (z,) undiscounted means
    spread: np.ndarray  # (3, z) mean squares about the mean, the last, the season
    moments: np.ndarray  # (z + 2, z, LANES) discounted second moments, row z with y;
    # then the deviations of the last round
    pulled: np.ndarray  # (n, LANES) coefficients
    unpulled: np.ndarray  # (n, UNPULLED_LANES) coefficients
    labelled: np.ndarray  # (z, LABELLED_LANES) coefficients


class Rules(NamedTuple):
    """What the rules remember of the experts, and the rule on top of the rules."""

    adashare: np.ndarray  # (2, SEATS + LINE) steady, quick: weights, then Δ and U
    boa: np.ndarray  # (4, SEATS) weight, √V, E, rate
    mlpoly: np.ndarray  # (2, SEATS + LINE) regret R and √V; the largest |g|
    softmax: np.ndarray  # (2, SEATS + LINE) discounted losses; discounted weight
    committee: np.ndarray  # (4, RULE_SEATS) as ``boa``
    top: np.ndarray  # (RULE_SEATS + LINE,) as ``adashare``


class State(NamedTuple):
    """Views of the packed state."""

    clock: np.ndarray  # (CLOCK,) scalars, named above
    born: np.ndarray  # (SEATS,) the round from which each votes; inf: never
    past_x: np.ndarray  # (LONGEST_SEASON, n) a ring
    past_y: np.ndarray  # (2·LONGEST_SEASON,) newest first, twice over: past.py
    unlike: np.ndarray  # (LONGEST_SEASON,) discounted sums of (y_t - y_{t-l})²
    per_count: np.ndarray  # (2·LONGEST_SEASON,) as ``past_y``: season.py
    recent: np.ndarray  # (2, RECENT) own errors over their scale: in a ring, in order
    longest: np.ndarray  # (n,) the longest step of every feature: restart.py
    pending: np.ndarray  # (delay + 1, n + PENDING) rounds without their labels: late.py
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
    work: np.ndarray  # (3, z, LANES) of solve.py
    solved: np.ndarray  # (z, LANES)
    late: np.ndarray  # (n,) the longest steps of late, of restart.py
    row: np.ndarray  # (n,) the features of a round whose label came late


class Votes(NamedTuple):
    """Room for the rules to compute one round in; nothing here outlives it."""

    spoken: np.ndarray  # (SEATS + LINE,) as ``said``, with room for unheard lanes
    said: np.ndarray  # (SEATS,) predictions of the experts, clipped
    loss: np.ndarray  # (SEATS,)
    active: np.ndarray  # (SEATS,) 1 for those that vote now, else 0
    following: np.ndarray  # (SEATS,) 1 for those that vote next, else 0
    shares: np.ndarray  # (RULES, SEATS) weights of the experts under each rule
    mixes: np.ndarray  # (RULE_SEATS,) predictions of the rules
    top: np.ndarray  # (RULE_SEATS,) weights of the rules
    every: np.ndarray  # (RULE_SEATS,) 1 for each rule
    singles: np.ndarray  # (RULE_SEATS,) 1 for each but the committee
    final: np.ndarray  # (SEATS,) weights of the experts in the forecast


def state_size(n: int, delay: int) -> int:
    """How many numbers a state takes."""
    waiting = (delay + 1) * (n + PENDING) if delay else 0
    return sum(lengths(n)) + waiting


def lengths(n: int) -> tuple[int, ...]:
    """How many numbers each part takes, in the order in which they lie.

    Last of all come the rounds that wait for their labels, if labels are late.

    First all that is loaded as vectors, in whole lines: a vector that crosses two
    cache lines costs twice.
    """
    z = n + 1
    return (
        CLOCK, SEATS, LONGEST_SEASON * n, 2 * LONGEST_SEASON, LONGEST_SEASON,
        2 * LONGEST_SEASON, 2 * RECENT, LANES, (z + 1) * LANES, (z + 2) * z * LANES,
        n * LANES, n * UNPULLED_LANES, z * LABELLED_LANES, 2 * (SEATS + LINE),
        4 * SEATS, 2 * (SEATS + LINE), 2 * (SEATS + LINE), 4 * RULE_SEATS,
        RULE_SEATS + LINE, n, z, 3 * z,
    )  # fmt: skip


def room_lengths(n: int) -> tuple[int, ...]:
    """The same for Sums and Votes."""
    z = n + 1
    return (
        (z + 1) * LANES, LANES, LANES, LANES, z * LANES, (z + 2) * z * LANES,
        3 * z * LANES, z * LANES, SEATS + LINE, SEATS, SEATS, SEATS,
        RULES * SEATS, RULE_SEATS, RULE_SEATS, RULE_SEATS, RULE_SEATS, SEATS, n, n,
    )  # fmt: skip


def starts(sizes: Sequence[int], first: int = 0) -> list[int]:
    """Where each part begins, and where the last ends."""
    return list(accumulate(sizes, initial=first))


STATE_PARTS, ROOM_PARTS = len(lengths(1)) + 1, len(room_lengths(1)) + 1
"""How many numbers ``starts`` gives."""


def views(packed: np.ndarray, n: int) -> State:
    """The named parts of a packed state for ``n`` features."""
    return state_at(packed, starts(lengths(n)), n)


def rooms(room: np.ndarray, n: int) -> tuple[Sums, Votes]:
    """Sums and Votes, the named parts of the room to compute in."""
    return room_at(room, starts(room_lengths(n)), n)


def state_at(packed: np.ndarray, at: Sequence[int], n: int) -> State:
    """The parts of a state, which begin ``at`` these places of ``packed``."""
    z, delay = n + 1, int(packed[int(at[0]) + DELAY])
    waiting = delay + 1 if delay > 0 else 0
    return State(
        view(packed, int(at[0]), (CLOCK,)),
        view(packed, int(at[1]), (SEATS,)),
        view(packed, int(at[2]), (LONGEST_SEASON, n)),
        view(packed, int(at[3]), (2 * LONGEST_SEASON,)),
        view(packed, int(at[4]), (LONGEST_SEASON,)),
        view(packed, int(at[5]), (2 * LONGEST_SEASON,)),
        view(packed, int(at[6]), (2, RECENT)),
        view(packed, int(at[19]), (n,)),
        view(packed, int(at[22]), (waiting, n + PENDING)),
        Experts(
            view(packed, int(at[7]), (LANES,)),
            view(packed, int(at[8]), (z + 1, LANES)),
            view(packed, int(at[20]), (z,)),
            view(packed, int(at[21]), (3, z)),
            view(packed, int(at[9]), (z + 2, z, LANES)),
            view(packed, int(at[10]), (n, LANES)),
            view(packed, int(at[11]), (n, UNPULLED_LANES)),
            view(packed, int(at[12]), (z, LABELLED_LANES)),
        ),
        Rules(
            view(packed, int(at[13]), (2, SEATS + LINE)),
            view(packed, int(at[14]), (4, SEATS)),
            view(packed, int(at[15]), (2, SEATS + LINE)),
            view(packed, int(at[16]), (2, SEATS + LINE)),
            view(packed, int(at[17]), (4, RULE_SEATS)),
            view(packed, int(at[18]), (RULE_SEATS + LINE,)),
        ),
    )


def room_at(room: np.ndarray, at: Sequence[int], n: int) -> tuple[Sums, Votes]:
    """The same of a room."""
    z = n + 1
    sums = Sums(
        view(room, int(at[0]), (z + 1, LANES)),
        view(room, int(at[1]), (LANES,)),
        view(room, int(at[2]), (LANES,)),
        view(room, int(at[3]), (LANES,)),
        view(room, int(at[4]), (z, LANES)),
        view(room, int(at[5]), (z + 2, z, LANES)),
        view(room, int(at[6]), (3, z, LANES)),
        view(room, int(at[7]), (z, LANES)),
        view(room, int(at[18]), (n,)),
        view(room, int(at[19]), (n,)),
    )
    votes = Votes(
        view(room, int(at[8]), (SEATS + LINE,)),
        view(room, int(at[8]), (SEATS,)),
        view(room, int(at[9]), (SEATS,)),
        view(room, int(at[10]), (SEATS,)),
        view(room, int(at[11]), (SEATS,)),
        view(room, int(at[12]), (RULES, SEATS)),
        view(room, int(at[13]), (RULE_SEATS,)),
        view(room, int(at[14]), (RULE_SEATS,)),
        view(room, int(at[15]), (RULE_SEATS,)),
        view(room, int(at[16]), (RULE_SEATS,)),
        view(room, int(at[17]), (SEATS,)),
    )
    return sums, votes


# For kernels only, as the parts in them are.
unpack, unpack_room = inline_function(state_at), inline_function(room_at)
