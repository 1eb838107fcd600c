"""Downsampling: a long stream as a curve of a thousand numbers that keeps extremes."""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from thalweg import checks
from thalweg.persistence.snapshots import Component
from thalweg.rules import Array, Condition, Count
from thalweg.types import FloatArray

POINTS = 500
"""A curve has this many buckets to twice as many: about the dots of a wide chart."""
SUM, COUNT, LOW, HIGH = range(4)
"""The rows of a node: what is known of the numbers of some consecutive rounds."""


@dataclass(frozen=True, eq=False)
class Curve:
    """Numbers over the rounds, in buckets of equal width but for the last."""

    last_round: npt.NDArray[np.int64]  # (m,) of each bucket, the first round being 1
    mean: FloatArray  # (m,) over the bucket; of a cumulative sum, its value at the end
    low: FloatArray  # (m,) the smallest in the bucket
    high: FloatArray  # (m,) the largest in the bucket

    def __len__(self) -> int:
        return len(self.last_round)


K = "levels_below(rounds, max_buckets)"
FULL = Condition(
    f"((0 <= buckets[COUNT]) & (buckets[COUNT] <= 2**{K})).all()",
    "nodes that count no more numbers than rounds",
)
DUE = Condition("has_due_nodes()", "the nodes pending after the rounds")


def levels_below(rounds: int, max_buckets: int) -> int:
    """k where buckets are of 2ᵏ rounds."""
    return (rounds // (max_buckets + 1)).bit_length()


class DownsamplerSnapshot(NamedTuple):
    """All that a downsampler remembers."""

    rounds: int  # how many were added, those without a number included
    # (4, m) nodes of 2ᵏ rounds
    buckets: Annotated[FloatArray, Array((4, f"rounds >> {K}"), may_be_nan=True), FULL]
    # (4, k) column j: a node of 2ʲ rounds, NaN where there is none
    pending: Annotated[FloatArray, Array((4, K), may_be_nan=True), DUE]

    def has_due_nodes(self) -> bool:
        """Whether the nodes pending are those after these rounds."""
        levels = np.arange(self.pending.shape[1])
        counts, is_due = self.pending[COUNT], (self.rounds >> levels) % 2 == 1
        # A node has a count, so that NaN there means that there is none.
        is_legal = (0 <= counts) & (counts <= 2.0**levels)
        return bool(np.where(is_due, is_legal, np.isnan(counts)).all())


SAME_ROUNDS = {"rounds": Count("rounds", "rounds")}
"""The rule of a curve of all rounds of the record that it is in."""


class Downsampler(Component):
    """Takes numbers as they come, and keeps a curve of them in constant memory.

    Also known as: min-max decimation, piecewise aggregate approximation. Buckets are as
    wide as a power of two of rounds and merge in pairs when there are more than
    ``2 * points``. Every sum is taken along the same binary tree over the rounds, so
    that the curve is the same to the last bit however the stream was cut. NaN stands
    for a round without a number: it is not counted.
    """

    Snapshot: ClassVar[Any] = DownsamplerSnapshot

    def __init__(self, points: int = POINTS) -> None:
        checks.require_argument("Downsampler", "points", points, "[1, inf)")
        self.max_buckets = 2 * points
        self.rounds = 0
        self.buckets: FloatArray = np.empty((4, 0))
        # Below buckets of width 2ᵏ there is for each j < k at most one node of 2ʲ
        # rounds, which waits for the node after it.
        self.pending: FloatArray = np.empty((4, 0))

    def add(self, values: Any) -> None:
        """Take the numbers of the next rounds, shape (T,)."""
        numbers = np.asarray(values, np.float64).reshape(-1)
        self.rounds += len(numbers)
        nodes: FloatArray = _leaves(numbers)
        pending = self.pending.copy()
        for level in range(pending.shape[1]):
            nodes, odd = _merge_pairs(np.hstack([_node(pending, level), nodes]))
            pending[:, level] = odd[:, 0] if odd.size else np.nan
            if not nodes.size:
                break
        buckets = np.hstack([self.buckets, nodes]) if nodes.size else self.buckets
        while buckets.shape[1] > self.max_buckets:
            buckets, odd = _merge_pairs(buckets)
            pending = np.hstack([pending, odd if odd.size else np.full((4, 1), np.nan)])
        self.buckets, self.pending = buckets, pending

    def count(self) -> int:
        """How many numbers were added."""
        return int(self._all_buckets()[COUNT].sum())

    def total(self) -> float:
        """Their sum, equal to the end of ``cumulative``."""
        return float(np.cumsum(np.append(0.0, self._all_buckets()[SUM]))[-1])

    def average(self) -> float:
        """Their mean; NaN where there is none."""
        count = self.count()
        return self.total() / count if count else float("nan")

    def curve(self) -> Curve:
        """The mean, the smallest and the largest number of each bucket."""
        total, count, low, high = self._all_buckets()
        mean = np.divide(total, count, out=np.full(len(count), np.nan), where=count > 0)
        # The mean of equal numbers may round past them.
        return Curve(self._last_rounds(), np.fmax(np.fmin(mean, high), low), low, high)

    def cumulative(self) -> Curve:
        """The sum of all numbers so far, at the end of each bucket.

        ``low`` and ``high`` are its values at the two ends of the bucket, and so its
        extremes where no number is negative.
        """
        sums = np.cumsum(np.append(0.0, self._all_buckets()[SUM]))
        before, after = sums[:-1], sums[1:]
        ends = np.minimum(before, after), np.maximum(before, after)
        return Curve(self._last_rounds(), after, *ends)

    def _all_buckets(self) -> FloatArray:
        """The buckets, with the nodes pending below them as the last."""
        last: FloatArray = np.empty((4, 0))
        for level in reversed(range(self.pending.shape[1])):
            node = _node(self.pending, level)
            if last.size and node.size:
                last = _merge(last, node)
            elif node.size:
                last = node
        return np.hstack([self.buckets, last])

    def _last_rounds(self) -> npt.NDArray[np.int64]:
        width = 2 ** self.pending.shape[1]
        ends = np.arange(width, self.rounds + width, width)
        return np.minimum(ends, self.rounds).astype(np.int64)


def downsample(values: FloatArray) -> Curve:
    """The curve of numbers that are all there, shape (T,)."""
    downsampler = Downsampler()
    downsampler.add(values)
    return downsampler.curve()


def _leaves(values: FloatArray) -> FloatArray:
    """(4, T): each number as a node of its own."""
    known = ~np.isnan(values)
    return np.array([np.where(known, values, 0.0), known, values, values])


def _node(pending: FloatArray, level: int) -> FloatArray:
    """(4, 1), or (4, 0) where no node is pending at this level."""
    column = pending[:, level : level + 1]
    return column[:, :0] if np.isnan(column[COUNT, 0]) else column


def _merge_pairs(nodes: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Neighbours merged two by two, and the odd one that is over, if any."""
    even = nodes.shape[1] // 2 * 2
    odd = nodes[:, even:].copy()  # a view would keep all of them
    return _merge(nodes[:, :even:2], nodes[:, 1:even:2]), odd


def _merge(earlier: FloatArray, later: FloatArray) -> FloatArray:
    return np.array(
        [
            earlier[SUM] + later[SUM],
            earlier[COUNT] + later[COUNT],
            np.fmin(earlier[LOW], later[LOW]),
            np.fmax(earlier[HIGH], later[HIGH]),
        ]
    )
