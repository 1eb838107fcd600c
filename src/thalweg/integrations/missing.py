"""What to do where a number is missing, that is NaN."""

from typing import Any, Literal

import numpy as np

from thalweg.types import Block, FloatArray

Missing = Literal["refuse", "skip", "impute"]


class Filling:
    """Fills gaps in features with their means so far, and counts what it did.

    The filled features are good for a prediction. Whether they are learnt from is the
    policy: ``"impute"`` does, ``"skip"`` does not. A round without its target teaches
    nothing under either.
    """

    def __init__(self, policy: Missing) -> None:
        self.policy = policy
        self.skipped = 0  # rounds not learnt from
        self.imputed = 0  # features filled in
        self._sum: Any = 0.0
        self._count: Any = 0.0

    def filled(self, block: Block) -> Block:
        """The block with nothing missing, rounds to be skipped at weight and time 0."""
        x, y = np.asarray(block.x, np.float64), np.asarray(block.y, np.float64)
        gaps, unknown = np.isnan(x), np.isnan(y).reshape(len(y), -1).any(axis=1)
        self.imputed += int(gaps.sum())
        skipped = unknown | (gaps.any(axis=1) & (self.policy == "skip"))
        self.skipped += int(skipped.sum())
        known = np.isfinite(x)  # what is infinite stays, and will be refused
        x = np.where(gaps, self._means(np.where(known, x, 0.0), known), x)
        y = np.where(skipped.reshape(-1, *[1] * (y.ndim - 1)), 0.0, y)
        return Block(x, y, *(self._rates(part, skipped) for part in _rates_of(block)))

    def question(self, x: FloatArray) -> FloatArray:
        """One round's features with its gaps filled, nothing counted or kept."""
        gaps = np.isnan(x)
        if not gaps.any():
            return x
        means = self._sum / np.maximum(self._count, 1.0) + np.zeros(x.shape)
        return np.asarray(np.where(gaps, means, x))

    def _means(self, values: FloatArray, known: Any) -> FloatArray:
        """The mean of each feature before each round; 0 where none was seen."""
        sums = self._sum + np.cumsum(values, axis=0)
        counts = self._count + np.cumsum(known, axis=0)
        before = (sums - values) / np.maximum(counts - known, 1.0)
        self._sum, self._count = sums[-1], counts[-1]
        return np.asarray(before)

    @staticmethod
    def _rates(rates: FloatArray, skipped: Any) -> FloatArray:
        return np.asarray(np.where(skipped, 0.0, rates))


def _rates_of(block: Block) -> list[FloatArray]:
    ones = np.ones(len(block))
    return [
        ones if part is None else np.asarray(part, np.float64)
        for part in (block.weight, block.elapsed)
    ]
