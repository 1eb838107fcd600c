"""Replay after a shock: a fresh state learns the last rounds again, and may take over.

A shock of 10 to 1,000 times the usual size (restart.py resets what is beyond) spoils
long memories, ridges, the season and the scales of all rules, so that every loss later
is several times that of a fresh Tracker. Whether it did is judged by recent losses: a
fresh state plays the last 512 rounds again, as if the stream had begun there, and takes
the place of the present one if it loses less over the last 256 of them, by the factor
``MIN_GAIN``. A stream of heavy tails or of rare spikes gives no such advantage to a
state that knows less of it, and nothing changes.

A replay costs as much as 512 rounds. So it takes place only where it may be of use:
where the losses of the last 512 rounds are far below those of a time before, or the
steps of a feature are; and each is paid for: two in succession, then one in 8,192
rounds. The limits were set with the public streams in view, none of whose forecasts
are changed by a replay.

What the present state retains: the range of labels, so that predictions may follow if
such labels come back, the number of rounds, and the two AdaShares of the guarantee,
whose proof does not allow for a new start.

``meta`` holds what this file remembers of losses, behind the meta-rule's own numbers.
"""

from thalweg.kernels.jit import inline_function, inner_function
from thalweg.kernels.tracker.pending_labels import invalidate_pending
from thalweg.kernels.tracker.seasonality import feature_row, newest_label
from thalweg.kernels.tracker.tracker_layout import (
    BASE_RULES,
    BLOCK_LOSS,
    CANDIDATES,
    DELAY,
    EARLIER_LOSS,
    EXPERTS,
    GIVEN_FORECAST,
    GRAM_SCALE,
    HIGHEST_LABEL,
    HINGE_COUNT,
    LOWEST_LABEL,
    MAX_LABEL_STEP,
    MAX_LOSS,
    MAX_SEASON,
    OLDEST_PENDING,
    PADDED_EXPERTS,
    PADDED_RULES,
    PASSED_ROUNDS,
    PENDING_COUNT,
    PENDING_ELAPSED,
    PENDING_FEATURES,
    PENDING_WEIGHT,
    PENDING_Y,
    PREVIOUS_LOSS,
    PREVIOUS_SKIPPED,
    REPLAY_DEBT,
    ROUNDS,
    RULE_PRIOR,
    RULES,
    SEASON,
    SKIPPED,
    STEP_LIMIT,
)

BLOCK_ROUNDS = 256
"""Rounds in a block, over which losses are summed; two of them are played again."""
FIRST_REPLAY = 1024
"""Rounds before the first replay: until then a fresh state knows nearly as much."""
WARM_UP = 32
"""First rounds, whose losses do not count: a start is no shock."""
MIN_LOSS_RATIO = 20.0
"""How far the loss of a block must have fallen for a replay."""
MIN_STEP_RATIO = 12.0
"""How far the longest step of a feature must have fallen for a replay."""
MIN_GAIN = 1.3
"""How many times the replay's loss the present state's must be for it to give way."""
MAX_DEBT = 1.0
"""Replays that may be owed when another one begins."""
ROUNDS_PER_REPLAY = 8192.0
"""Rounds in which one replay is paid off: the most it can cost is a sixteenth."""
MAX_REPLAY_DELAY = 128
"""With labels later than this a replay would learn too little to be a fair judge."""


@inner_function
def is_replay_due(s, recent_steps):
    """Close the block of losses that ends with this round; returns whether to replay.

    It is called in every round learnt. ``recent_steps`` are those of restart.py.
    """
    counters, meta = s.counters, s.rules.meta
    rounds = int(counters[ROUNDS])
    if rounds % BLOCK_ROUNDS != 0:
        return False
    skipped = counters[PASSED_ROUNDS] - counters[ROUNDS]
    recent = max(meta[BLOCK_LOSS], meta[PREVIOUS_LOSS])
    is_due = 0 < recent * MIN_LOSS_RATIO < meta[EARLIER_LOSS]
    if rounds >= FIRST_REPLAY:  # by now recent_steps have been set
        for j in range(recent_steps.size):
            if 0 < recent_steps[j] * MIN_STEP_RATIO < s.max_feature_steps[j]:
                is_due = True
    is_due = (
        is_due
        and rounds >= FIRST_REPLAY
        and meta[REPLAY_DEBT] <= MAX_DEBT
        and meta[PREVIOUS_SKIPPED] == skipped  # all labels of the last rounds are known
        and counters[DELAY] <= MAX_REPLAY_DELAY
    )
    paid = BLOCK_ROUNDS / ROUNDS_PER_REPLAY
    meta[REPLAY_DEBT] = max(0.0, meta[REPLAY_DEBT] - paid)
    if not is_due:
        close_block(meta, skipped)
    return is_due


@inline_function
def close_block(meta, skipped):
    """Begin a new block of losses; the one before the last counts as earlier."""
    meta[EARLIER_LOSS] = max(meta[EARLIER_LOSS], meta[PREVIOUS_LOSS])
    meta[PREVIOUS_LOSS], meta[BLOCK_LOSS] = meta[BLOCK_LOSS], 0.0
    meta[PREVIOUS_SKIPPED], meta[SKIPPED] = meta[SKIPPED], skipped


@inner_function
def begin_replay(s, former, packed, former_packed):
    """Copy the state to ``former`` and set it as before its first round.

    ``packed`` and ``former_packed`` are the arrays whose views ``s`` and ``former``
    are. Returns how many rounds are to be played again: those that are remembered, and
    those that wait for their labels.
    """
    for i in range(packed.size):
        former_packed[i] = packed[i]
    packed.fill(0.0)
    for k in range(PADDED_EXPERTS):
        s.active_from[k] = former.active_from[k]
    s.counters[DELAY] = former.counters[DELAY]
    s.counters[STEP_LIMIT] = former.counters[STEP_LIMIT]
    s.counters[GIVEN_FORECAST] = former.counters[GIVEN_FORECAST]
    s.counters[SEASON] = 1
    s.counters[GRAM_SCALE] = 1.0
    s.counters[HINGE_COUNT] = former.counters[HINGE_COUNT]
    for k in range(former.curvature.biases.size):
        s.curvature.biases[k] = former.curvature.biases[k]
        for i in range(2):
            s.curvature.coordinates[i, k] = former.curvature.coordinates[i, k]
            s.curvature.directions[i, k] = former.curvature.directions[i, k]
    _set_first_weights(s.rules, s.active_from)
    return MAX_SEASON + int(former.counters[PENDING_COUNT])


@inline_function
def _set_first_weights(rules, active_from):
    """Set the weights of all rules equal, among the experts active at first."""
    active = 0.0
    for k in range(PADDED_EXPERTS):
        active += 1.0 if active_from[k] <= 1 else 0.0
    for k in range(PADDED_EXPERTS):
        weight = 1 / active if active_from[k] <= 1 else 0.0
        rules.adashare[0, k], rules.adashare[1, k] = weight, weight
        rules.boa[0, k] = 1 / EXPERTS
    for k in range(PADDED_RULES):
        rules.committee[0, k] = 1 / BASE_RULES
        rules.correction[0, k] = 1 / CANDIDATES
        rules.meta[k] = RULE_PRIOR[k] if k < RULES else 0.0


@inner_function
def set_replay_row(former, i, row, n):
    """Set ``row`` to round i of those that are played again: x, y, weight and time.

    All rounds that are remembered count the same.
    """
    if i < MAX_SEASON:
        x, first = former.past_x[feature_row(former.counters, MAX_SEASON - i)], 0
        row[n] = former.past_y[newest_label(former.counters) + MAX_SEASON - 1 - i]
        row[n + 1], row[n + 2] = 1.0, 1.0
    else:
        slot = int(former.counters[OLDEST_PENDING]) + i - MAX_SEASON
        x, first = former.pending[slot % len(former.pending)], PENDING_FEATURES
        row[n], row[n + 1] = x[PENDING_Y], x[PENDING_WEIGHT]
        row[n + 2] = x[PENDING_ELAPSED]
    for j in range(n):
        row[j] = x[first + j]


@inline_function
def is_judged(i):
    """Whether the loss of round i of a replay counts: in the last block learnt."""
    return MAX_SEASON - BLOCK_ROUNDS <= i < MAX_SEASON


@inner_function
def end_replay(s, former, packed, former_packed, loss):
    """Retain the state that lost less; ``loss`` is that of the replay.

    The arrays are those of ``begin_replay``. The earlier losses and steps of features
    have been judged with this, and are not remembered.
    """
    if loss * MIN_GAIN < former.rules.meta[BLOCK_LOSS]:
        _retain(s, former)
    else:
        for j in range(s.max_feature_steps.size):
            former.max_feature_steps[j] = s.max_feature_steps[j]
        for i in range(packed.size):
            packed[i] = former_packed[i]
    meta, skipped = s.rules.meta, s.counters[PASSED_ROUNDS] - s.counters[ROUNDS]
    close_block(meta, skipped)
    meta[EARLIER_LOSS], meta[SKIPPED] = 0.0, skipped
    meta[PREVIOUS_SKIPPED] = skipped
    meta[REPLAY_DEBT] += 1.0


@inline_function
def _retain(s, former):
    """Set again, in the fresh state, what outlives a replay."""
    counters = former.counters
    s.counters[ROUNDS], s.counters[MAX_LOSS] = counters[ROUNDS], counters[MAX_LOSS]
    s.counters[LOWEST_LABEL] = counters[LOWEST_LABEL]
    s.counters[HIGHEST_LABEL] = counters[HIGHEST_LABEL]
    s.counters[MAX_LABEL_STEP] = counters[MAX_LABEL_STEP]
    for k in range(s.rules.adashare.shape[1]):
        s.rules.adashare[0, k] = former.rules.adashare[0, k]
    for k in range(s.rules.meta.size):
        s.rules.meta[k] = former.rules.meta[k]
    invalidate_pending(s.pending)
