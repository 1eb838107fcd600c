"""What to do where a number is missing, that is NaN."""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from thalweg.types import Block, FloatArray

Missing = Literal["refuse", "skip", "impute"]


class Filled(NamedTuple):
    """A block without gaps, and which of its rounds are not to be learnt from."""

    block: Block
    skipped: Any  # (T,) of bool


@dataclass(eq=False)
class Filling:
    """Fills gaps in features with their means so far, and counts what it did.

    The filled features are good for a prediction. Whether they are learnt from is the
    policy: ``"impute"`` does, ``"skip"`` does not. A round without its target teaches
    nothing under either.
    """

    policy: Missing
    skipped: int = 0  # rounds not learnt from
    imputed: int = 0  # features filled in
    sums: Any = 0.0  # (n,) of what was seen of each feature; 0.0 before any round
    counts: Any = 0.0  # (n,) how often it was seen
    waited: float = 0.0  # time that skipped rounds took since one was learnt

    def fill(self, block: Block) -> Filled:
        """The rounds with their gaps filled, and how long each comes after the last.

        The time that skipped rounds took is added to that of the next one learnt.
        """
        x, y = np.asarray(block.x, np.float64), np.asarray(block.y, np.float64)
        gaps, unknown = np.isnan(x), np.isnan(y).reshape(len(y), -1).any(axis=1)
        skipped = unknown | (gaps.any(axis=1) & (self.policy == "skip"))
        self.imputed += int(gaps.sum())
        self.skipped += int(skipped.sum())
        x = np.where(gaps, self._means(np.where(gaps, 0.0, x), ~gaps), x)
        elapsed = self._elapsed(block, skipped)
        return Filled(Block(x, np.nan_to_num(y), block.weight, elapsed), skipped)

    def note(self, x: FloatArray) -> None:
        """One round without gaps was learnt."""
        # New arrays: whoever has a copy of this keeps the old ones.
        self.sums, self.counts, self.waited = self.sums + x, self.counts + 1.0, 0.0

    def question(self, x: FloatArray) -> FloatArray:
        """One round's features with its gaps filled, nothing counted or kept."""
        gaps = np.isnan(x)
        means = self.sums / np.maximum(self.counts, 1.0) + np.zeros(x.shape)
        return np.asarray(np.where(gaps, means, x)) if gaps.any() else x

    def _elapsed(self, block: Block, skipped: Any) -> FloatArray:
        given = block.elapsed
        elapsed = np.ones(len(block)) if given is None else np.array(given, np.float64)
        for t in range(len(block)):
            self.waited += float(elapsed[t])
            if not skipped[t]:
                elapsed[t], self.waited = self.waited, 0.0
        return elapsed

    def _means(self, values: FloatArray, known: Any) -> FloatArray:
        """The mean of each feature before each round; 0 where none was seen."""
        n = values.shape[1]
        # One running sum from the first round on, so that blocks may be cut anywhere.
        first = [np.broadcast_to(part, (1, n)) for part in (self.sums, self.counts)]
        sums = np.cumsum(np.vstack([first[0], values]), axis=0)
        counts = np.cumsum(np.vstack([first[1], known]), axis=0)
        # Copies: a view of the last row would keep all of them.
        self.sums, self.counts = sums[-1].copy(), counts[-1].copy()
        return np.asarray(sums[:-1] / np.maximum(counts[:-1], 1.0))


def without_gaps(block: Block) -> Block:
    """The block with zeros for NaN in x and y, to check all else about it."""
    x, y = (np.where(np.isnan(part), 0.0, part) for part in (block.x, block.y))
    return Block(x, y, block.weight, block.elapsed)
