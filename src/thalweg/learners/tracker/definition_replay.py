"""Replay after a shock, in the Tracker's definition: a fresh state may take over.

The kernel's twin is kernels/tracker/replay.py, which says why.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from thalweg.kernels.compiler.layout import by_name
from thalweg.kernels.tracker import tracker_layout as layout
from thalweg.kernels.tracker.replay import (
    BLOCK_ROUNDS,
    FIRST_REPLAY,
    MAX_DEBT,
    MAX_REPLAY_DELAY,
    MIN_GAIN,
    MIN_LOSS_RATIO,
    MIN_STEP_RATIO,
    ROUNDS_PER_REPLAY,
    WARM_UP,
)
from thalweg.learners.tracker.definition_pending import invalidate_pending
from thalweg.learners.tracker.definition_season import (
    past_features,
    past_labels,
)
from thalweg.types import FloatArray

ReplayRound = tuple[FloatArray, float, float, float]
"""Features, label, weight and elapsed time."""


def learn_block_loss(s: Any, error: float) -> None:
    """Add the forecast's squared error to the loss of this block of rounds."""
    if s.counters[layout.ROUNDS] >= WARM_UP:
        s.rules.meta[layout.BLOCK_LOSS] += error**2


def is_replay_due(s: Any) -> bool:
    """Whether to replay the last rounds; to be called after every round learnt.

    At the end of a block, if the last two lost far less than one before them, or if
    the longest step ever of a feature is far longer than all recent ones; if replays
    are paid off, the last labels all known, and known soon.
    """
    counters, meta, rounds = s.counters, s.rules.meta, int(s.counters[layout.ROUNDS])
    if rounds % BLOCK_ROUNDS != 0:
        return False
    skipped = counters[layout.PASSED_ROUNDS] - rounds
    recent = max(meta[layout.BLOCK_LOSS], meta[layout.PREVIOUS_LOSS])
    has_fallen = bool(0 < recent * MIN_LOSS_RATIO < meta[layout.EARLIER_LOSS])
    if rounds >= FIRST_REPLAY:
        limits = abs(np.diff(past_features(s), axis=0)).max(axis=0) * MIN_STEP_RATIO
        has_fallen |= bool(((limits > 0) & (limits < s.max_feature_steps)).any())
    is_due = bool(
        has_fallen
        and rounds >= FIRST_REPLAY
        and meta[layout.REPLAY_DEBT] <= MAX_DEBT
        and meta[layout.PREVIOUS_SKIPPED] == skipped
        and counters[layout.DELAY] <= MAX_REPLAY_DELAY
    )
    paid = BLOCK_ROUNDS / ROUNDS_PER_REPLAY
    meta[layout.REPLAY_DEBT] = max(0.0, meta[layout.REPLAY_DEBT] - paid)
    if not is_due:
        close_block(meta, skipped)
    return is_due


def close_block(meta: FloatArray, skipped: float) -> None:
    """Begin a new block of losses; the one before the last counts as earlier."""
    meta[layout.EARLIER_LOSS] = max(
        meta[layout.EARLIER_LOSS], meta[layout.PREVIOUS_LOSS]
    )
    meta[layout.PREVIOUS_LOSS], meta[layout.BLOCK_LOSS] = meta[layout.BLOCK_LOSS], 0.0
    meta[layout.PREVIOUS_SKIPPED], meta[layout.SKIPPED] = meta[layout.SKIPPED], skipped


def replay(s: Any, play: Callable[[Any, ReplayRound], float]) -> None:
    """Let a fresh state play the last rounds, and take over if it loses less.

    ``play`` plays a round on a state and returns its forecast. The losses of the last
    block are compared.
    """
    fresh, loss = fresh_state(s), 0.0
    for i, played in enumerate(remembered_rounds(s)):
        forecast = play(fresh, played)
        if layout.MAX_SEASON - BLOCK_ROUNDS <= i < layout.MAX_SEASON:
            loss += (played[1] - forecast) ** 2
    if loss * MIN_GAIN < s.rules.meta[layout.BLOCK_LOSS]:
        take_over(s, fresh)
    else:
        s.max_feature_steps[:] = fresh.max_feature_steps
    meta = s.rules.meta
    skipped = s.counters[layout.PASSED_ROUNDS] - s.counters[layout.ROUNDS]
    close_block(meta, skipped)
    meta[layout.EARLIER_LOSS] = 0.0
    meta[layout.SKIPPED] = meta[layout.PREVIOUS_SKIPPED] = skipped
    meta[layout.REPLAY_DEBT] += 1


def fresh_state(s: Any) -> Any:
    """The views of a state before its first round, of the same Tracker."""
    n, delay = s.max_feature_steps.size, int(s.counters[layout.DELAY])
    hinges = s.counters[layout.HINGE_COUNT]
    packed = np.zeros(layout.state_size(n, delay, hinges > 0))
    packed[layout.DELAY] = delay
    packed[layout.HINGE_COUNT] = hinges
    packed[layout.GRAM_SCALE] = 1.0
    fresh = layout.views(packed, n)
    for name in ("coordinates", "directions", "biases"):
        getattr(fresh.curvature, name)[:] = getattr(s.curvature, name)
    fresh.counters[layout.EXTERNAL_FORECAST] = s.counters[layout.EXTERNAL_FORECAST]
    fresh.counters[layout.SEASON] = 1
    fresh.counters[layout.STEP_LIMIT] = s.counters[layout.STEP_LIMIT]
    fresh.active_from[:] = s.active_from
    active = s.active_from <= 1
    fresh.rules.adashare[:, : layout.PADDED_EXPERTS] = active / active.sum()
    fresh.rules.boa[0] = 1 / layout.EXPERTS
    fresh.rules.committee[0] = 1 / layout.BASE_RULES
    fresh.rules.correction[0] = 1 / layout.CANDIDATES
    fresh.rules.meta[: layout.RULES] = layout.RULE_PRIOR[: layout.RULES]
    return fresh


def remembered_rounds(s: Any) -> Iterator[ReplayRound]:
    """The rounds that are remembered, then those that wait for their labels."""
    features, labels = past_features(s).copy(), past_labels(s).copy()
    for x, y in zip(features[::-1], labels[::-1], strict=True):
        yield x, float(y), 1.0, 1.0
    oldest = int(s.counters[layout.OLDEST_PENDING])
    for i in range(int(s.counters[layout.PENDING_COUNT])):
        row = s.pending[(oldest + i) % len(s.pending)]
        y = row[layout.PENDING_Y]
        w = row[layout.PENDING_WEIGHT]
        elapsed = row[layout.PENDING_ELAPSED]
        x = row[
            layout.PENDING_FEATURES : layout.PENDING_FEATURES + s.past_x.shape[1]
        ].copy()
        yield x, float(y), float(w), float(elapsed)


def take_over(s: Any, fresh: Any) -> None:
    """Set the state to the fresh one, except for fields that a replay keeps.

    These are the range of labels, the number of rounds, and the two AdaShares of the
    guarantee with the largest loss.
    """
    retained = (
        layout.ROUNDS,
        layout.MAX_LOSS,
        layout.LOWEST_LABEL,
        layout.HIGHEST_LABEL,
        layout.MAX_LABEL_STEP,
    )
    counters = s.counters[list(retained)]
    steady, meta = s.rules.adashare[0].copy(), s.rules.meta.copy()
    for present, other in zip(
        by_name(s).values(), by_name(fresh).values(), strict=True
    ):
        present[:] = other
    s.counters[list(retained)] = counters
    s.rules.adashare[0], s.rules.meta[:] = steady, meta
    invalidate_pending(s.pending)
