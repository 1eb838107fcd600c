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
rounds. The limits were chosen on the public streams such that no forecast there
are changed by a replay.

What the present state retains: the range of labels, so that predictions may follow if
such labels come back, the number of rounds, and the two AdaShares of the guarantee,
whose proof does not allow for a new start.

``meta`` holds what this file remembers of losses, behind the meta-rule's own numbers.
"""

from thalweg.kernels.compiler.jit import inline_function, inner_function
from thalweg.kernels.tracker import tracker_layout as layout
from thalweg.kernels.tracker.pending_labels import invalidate_pending
from thalweg.kernels.tracker.seasonality import feature_row, newest_label

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
    rounds = int(counters[layout.ROUNDS])
    if rounds % BLOCK_ROUNDS != 0:
        return False
    skipped = counters[layout.PASSED_ROUNDS] - counters[layout.ROUNDS]
    recent = max(meta[layout.BLOCK_LOSS], meta[layout.PREVIOUS_LOSS])
    is_due = 0 < recent * MIN_LOSS_RATIO < meta[layout.EARLIER_LOSS]
    if rounds >= FIRST_REPLAY:  # by now recent_steps have been set
        for j in range(recent_steps.size):
            if 0 < recent_steps[j] * MIN_STEP_RATIO < s.max_feature_steps[j]:
                is_due = True
    is_due = (
        is_due
        and rounds >= FIRST_REPLAY
        and meta[layout.REPLAY_DEBT] <= MAX_DEBT
        and meta[layout.PREVIOUS_SKIPPED]
        == skipped  # all labels of the last rounds are known
        and counters[layout.DELAY] <= MAX_REPLAY_DELAY
    )
    paid = BLOCK_ROUNDS / ROUNDS_PER_REPLAY
    meta[layout.REPLAY_DEBT] = max(0.0, meta[layout.REPLAY_DEBT] - paid)
    if not is_due:
        close_block(meta, skipped)
    return is_due


@inline_function
def close_block(meta, skipped):
    """Begin a new block of losses; the one before the last counts as earlier."""
    meta[layout.EARLIER_LOSS] = max(
        meta[layout.EARLIER_LOSS], meta[layout.PREVIOUS_LOSS]
    )
    meta[layout.PREVIOUS_LOSS], meta[layout.BLOCK_LOSS] = meta[layout.BLOCK_LOSS], 0.0
    meta[layout.PREVIOUS_SKIPPED], meta[layout.SKIPPED] = meta[layout.SKIPPED], skipped


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
    for k in range(layout.PADDED_EXPERTS):
        s.active_from[k] = former.active_from[k]
    s.counters[layout.DELAY] = former.counters[layout.DELAY]
    s.counters[layout.STEP_LIMIT] = former.counters[layout.STEP_LIMIT]
    s.counters[layout.EXTERNAL_FORECAST] = former.counters[layout.EXTERNAL_FORECAST]
    s.counters[layout.SEASON] = 1
    s.counters[layout.GRAM_SCALE] = 1.0
    s.counters[layout.HINGE_COUNT] = former.counters[layout.HINGE_COUNT]
    for k in range(former.curvature.biases.size):
        s.curvature.biases[k] = former.curvature.biases[k]
        for i in range(2):
            s.curvature.coordinates[i, k] = former.curvature.coordinates[i, k]
            s.curvature.directions[i, k] = former.curvature.directions[i, k]
    _set_first_weights(s.rules, s.active_from)
    return layout.MAX_SEASON + int(former.counters[layout.PENDING_COUNT])


@inline_function
def _set_first_weights(rules, active_from):
    """Set the weights of all rules equal, among the experts active at first."""
    active = 0.0
    for k in range(layout.PADDED_EXPERTS):
        active += 1.0 if active_from[k] <= 1 else 0.0
    for k in range(layout.PADDED_EXPERTS):
        weight = 1 / active if active_from[k] <= 1 else 0.0
        rules.adashare[0, k], rules.adashare[1, k] = weight, weight
        rules.boa[0, k] = 1 / layout.EXPERTS
    for k in range(layout.PADDED_RULES):
        rules.committee[0, k] = 1 / layout.BASE_RULES
        rules.correction[0, k] = 1 / layout.CANDIDATES
        rules.meta[k] = layout.RULE_PRIOR[k] if k < layout.RULES else 0.0


@inner_function
def set_replay_row(former, i, row, n):
    """Set ``row`` to round i of those that are played again: x, y, weight and time.

    All rounds that are remembered count the same.
    """
    if i < layout.MAX_SEASON:
        x, first = former.past_x[feature_row(former.counters, layout.MAX_SEASON - i)], 0
        row[n] = former.past_y[
            newest_label(former.counters) + layout.MAX_SEASON - 1 - i
        ]
        row[n + 1], row[n + 2] = 1.0, 1.0
    else:
        slot = int(former.counters[layout.OLDEST_PENDING]) + i - layout.MAX_SEASON
        x, first = former.pending[slot % len(former.pending)], layout.PENDING_FEATURES
        row[n], row[n + 1] = x[layout.PENDING_Y], x[layout.PENDING_WEIGHT]
        row[n + 2] = x[layout.PENDING_ELAPSED]
    for j in range(n):
        row[j] = x[first + j]


@inline_function
def is_judged(i):
    """Whether the loss of round i of a replay counts: in the last block learnt."""
    return layout.MAX_SEASON - BLOCK_ROUNDS <= i < layout.MAX_SEASON


@inner_function
def end_replay(s, former, packed, former_packed, loss):
    """Retain the state that lost less; ``loss`` is that of the replay.

    The arrays are those of ``begin_replay``. The earlier losses and steps of features
    have been judged with this, and are not remembered.
    """
    if loss * MIN_GAIN < former.rules.meta[layout.BLOCK_LOSS]:
        _retain(s, former)
    else:
        for j in range(s.max_feature_steps.size):
            former.max_feature_steps[j] = s.max_feature_steps[j]
        for i in range(packed.size):
            packed[i] = former_packed[i]
    meta, skipped = (
        s.rules.meta,
        s.counters[layout.PASSED_ROUNDS] - s.counters[layout.ROUNDS],
    )
    close_block(meta, skipped)
    meta[layout.EARLIER_LOSS], meta[layout.SKIPPED] = 0.0, skipped
    meta[layout.PREVIOUS_SKIPPED] = skipped
    meta[layout.REPLAY_DEBT] += 1.0


@inline_function
def _retain(s, former):
    """Set again, in the fresh state, what outlives a replay."""
    counters = former.counters
    s.counters[layout.ROUNDS], s.counters[layout.MAX_LOSS] = (
        counters[layout.ROUNDS],
        counters[layout.MAX_LOSS],
    )
    s.counters[layout.LOWEST_LABEL] = counters[layout.LOWEST_LABEL]
    s.counters[layout.HIGHEST_LABEL] = counters[layout.HIGHEST_LABEL]
    s.counters[layout.MAX_LABEL_STEP] = counters[layout.MAX_LABEL_STEP]
    for k in range(s.rules.adashare.shape[1]):
        s.rules.adashare[0, k] = former.rules.adashare[0, k]
    for k in range(s.rules.meta.size):
        s.rules.meta[k] = former.rules.meta[k]
    invalidate_pending(s.pending)
