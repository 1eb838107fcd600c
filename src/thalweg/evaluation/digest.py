"""A long stream in a thousand numbers, without losing its extremes."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from thalweg import checks
from thalweg.evaluation.kept import need, numbers
from thalweg.types import FloatArray

POINTS = 500
"""A curve has this many buckets to twice as many: about the dots of a wide chart."""
SUM, COUNT, LOW, HIGH = range(4)


@dataclass(frozen=True, eq=False)
class Curve:
    """Numbers over the rounds, in buckets of equal width but for the last."""

    at: npt.NDArray[np.int64]  # (m,) the last round of each bucket, the first being 1
    mean: FloatArray  # (m,) over the bucket; of a running sum, its value at the end
    low: FloatArray  # (m,) the least in the bucket
    high: FloatArray  # (m,) the largest in the bucket

    def __len__(self) -> int:
        return len(self.at)


class Digest:
    """Takes numbers as they come, and keeps a curve of them in constant memory.

    Buckets are as wide as a power of two of rounds and merge in pairs when there are
    more than ``2 * points``. Every sum is taken along the same binary tree over the
    rounds, so that the curve is the same to the last bit however the stream was cut.
    NaN stands for a round without a number: it is not counted.
    """

    def __init__(self, points: int = POINTS) -> None:
        checks.require_argument("Digest", "points", points, "[1, inf)")
        self._most = 2 * points
        self._rounds = 0
        self._buckets: FloatArray = np.empty((4, 0))
        # Below buckets of width 2ᵏ: for each j < k at most one node, of 2ʲ rounds,
        # that waits for the node after it.
        self._waiting: list[FloatArray] = []

    def add(self, values: Any) -> None:
        """Take the numbers of the next rounds, shape (T,)."""
        given = np.asarray(values, np.float64).reshape(-1)
        self._rounds += len(given)
        nodes: FloatArray = _leaves(given)
        for level, waiting in enumerate(self._waiting):
            if not nodes.size:
                return
            nodes, self._waiting[level] = _paired(np.hstack([waiting, nodes]))
        self._buckets = np.hstack([self._buckets, nodes])
        while self._buckets.shape[1] > self._most:
            self._buckets, odd = _paired(self._buckets)
            self._waiting.append(odd)

    @property
    def rounds(self) -> int:
        """How many rounds were added, those without a number included."""
        return self._rounds

    @property
    def count(self) -> int:
        """How many numbers were added."""
        return int(self._finished()[COUNT].sum())

    @property
    def total(self) -> float:
        """Their sum, equal to the end of ``running``."""
        return float(np.cumsum(np.append(0.0, self._finished()[SUM]))[-1])

    @property
    def average(self) -> float:
        """Their mean; NaN where there is none."""
        return self.total / self.count if self.count else float("nan")

    def curve(self) -> Curve:
        """The mean, the least and the largest number of each bucket."""
        total, count, low, high = self._finished()
        mean = np.divide(total, count, out=np.full(len(count), np.nan), where=count > 0)
        # The mean of equal numbers may round past them.
        return Curve(self._ends(), np.fmax(np.fmin(mean, high), low), low, high)

    def running(self) -> Curve:
        """The sum of all numbers so far, at the end of each bucket.

        ``low`` and ``high`` are its ends, and so its extremes where no number is
        negative.
        """
        so_far = np.cumsum(np.append(0.0, self._finished()[SUM]))
        before, after = so_far[:-1], so_far[1:]
        ends = np.minimum(before, after), np.maximum(before, after)
        return Curve(self._ends(), after, *ends)

    @property
    def kept(self) -> FloatArray:
        """All that it remembers as one array, for a file; ``resumed`` takes it."""
        clock = np.array([[self._most // 2], [self._rounds], [len(self._waiting)], [0]])
        empty = np.full((4, 1), np.nan)
        waiting = [node if node.size else empty for node in self._waiting]
        return np.hstack([clock, *waiting, self._buckets])

    @classmethod
    def resumed(cls, kept: Any, rounds: int, points: int = POINTS) -> "Digest":
        """The digest that ``kept`` was taken of; it continues to the last bit."""
        digest = cls(points)
        levels = digest._levels(rounds)
        found = numbers("curves", kept, (4, 1 + levels + (rounds >> levels)))
        need(found[:, 0].tolist() == [points, rounds, levels, 0], "curves")
        # A node has a count, so that NaN there means that none waits.
        waits = ~np.isnan(found[COUNT, 1 : 1 + levels])
        need((waits == (rounds >> np.arange(levels)) % 2).all(), "curves")
        width = 2.0 ** np.minimum(np.arange(found.shape[1] - 1), levels)
        counts = found[COUNT, 1:]
        right = (0 <= counts) & (counts <= width)
        right[:levels] |= ~waits
        need(right.all(), "curves")
        digest._rounds = rounds
        digest._waiting = [
            found[:, [1 + k]] if waits[k] else np.empty((4, 0)) for k in range(levels)
        ]
        digest._buckets = found[:, 1 + levels :].copy()
        return digest

    def _levels(self, rounds: int) -> int:
        """How many levels there are below the buckets after so many rounds."""
        levels = 0
        while rounds >> levels > self._most:
            levels += 1
        return levels

    def _finished(self) -> FloatArray:
        """The buckets, with what waits below them as the last."""
        last: FloatArray = np.empty((4, 0))
        for node in reversed(self._waiting):
            if last.size and node.size:
                last = _joined(last, node)
            elif node.size:
                last = node
        return np.hstack([self._buckets, last])

    def _ends(self) -> npt.NDArray[np.int64]:
        width = 2 ** len(self._waiting)
        ends = np.arange(width, self._rounds + width, width)
        return np.minimum(ends, self._rounds).astype(np.int64)


def _leaves(values: FloatArray) -> FloatArray:
    """(4, T): each number as a node of its own."""
    known = ~np.isnan(values)
    return np.array([np.where(known, values, 0.0), known, values, values])


def _paired(nodes: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Neighbours joined two by two, and the odd one left over, if any."""
    even = nodes.shape[1] // 2 * 2
    odd = nodes[:, even:].copy()  # a view would keep all of them
    return _joined(nodes[:, :even:2], nodes[:, 1:even:2]), odd


def _joined(earlier: FloatArray, later: FloatArray) -> FloatArray:
    return np.array(
        [
            earlier[SUM] + later[SUM],
            earlier[COUNT] + later[COUNT],
            np.fmin(earlier[LOW], later[LOW]),
            np.fmax(earlier[HIGH], later[HIGH]),
        ]
    )
