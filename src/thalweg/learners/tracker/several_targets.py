"""The Tracker of several targets: one state for each, side by side.

θ is then (n, k) and the packed state (k, size). Every target has its own experts and
weights, and forecasts are those of separate Trackers, to the last bit; targets of a run
are played in threads.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np

from thalweg.types import Block, FloatArray, Interval, Trace

MIN_ROUNDS_TO_SHARE = 2000
"""Minimum number of rounds, over all targets, for which threads save time."""
T = TypeVar("T")
S = TypeVar("S")  # the state of a Tracker


def has_several_targets(state: Any) -> bool:
    """Whether a state is one of several targets."""
    return getattr(getattr(state, "theta", None), "ndim", 1) == 2


def split_targets(state: S) -> list[S]:
    """The state of each target by itself; arrays are shared."""
    kind: Any = type(state)
    theta, packed = _arrays(state)
    pairs = zip(np.ascontiguousarray(theta.T), packed, strict=True)
    return [kind(*pair) for pair in pairs]


def join_targets(states: Sequence[S]) -> S:
    """The state of all targets."""
    kind: Any = type(states[0])
    thetas, packed = zip(*map(_arrays, states), strict=True)
    joined: S = kind(np.stack(thetas, axis=1), np.stack(packed))
    return joined


def _arrays(state: Any) -> tuple[FloatArray, FloatArray]:
    """θ and the packed array."""
    return state.theta, state.packed


def target_blocks(block: Block, count: int) -> list[Block]:
    """The rounds of each target."""
    y = np.asarray(block.y)
    labels = [np.ascontiguousarray(y[:, j]) for j in range(count)]
    return [Block(block.x, own, block.weight, block.elapsed) for own in labels]


def play_targets(play: Callable[[int], T], count: int, rounds: int) -> list[T]:
    """The results of ``play`` for each target, in their order."""
    threads = min(count, os.cpu_count() or 1)
    if threads == 1 or count * rounds < MIN_ROUNDS_TO_SHARE:
        return [play(target) for target in range(count)]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(play, range(count)))


def join_traces(traces: Sequence[Trace]) -> Trace:
    """The trace of all targets: predictions (T, k), records (T, k, ...), θ (T, n, k).

    The loss of a round is the sum of theirs.
    """
    theta: FloatArray | None = None
    if traces[0].theta is not None:
        theta = np.stack([np.asarray(trace.theta) for trace in traces], axis=-1)
    extras = {
        name: np.stack([trace.extras[name] for trace in traces], axis=1)
        for name in traces[0].extras
    }
    loss = traces[0].loss.copy()
    for trace in traces[1:]:
        loss += trace.loss
    prediction = np.stack([trace.prediction for trace in traces], axis=1)
    return Trace(prediction, loss, theta, extras)


def join_intervals(intervals: Sequence[Interval]) -> Interval:
    """The interval of all targets, whose ends are arrays (..., k)."""
    ends = zip(*intervals, strict=True)
    return Interval(*(np.stack([np.asarray(e) for e in end], axis=-1) for end in ends))
