"""What to do where a number is missing, that is NaN."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from thalweg.preprocessing.imputer import Missing, fill
from thalweg.types import Block, FloatArray


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
        x: FloatArray = np.asarray(block.x, np.float64)
        y = np.asarray(block.y, np.float64)
        gaps, unknown = np.isnan(x), np.isnan(y).reshape(len(y), -1).any(axis=1)
        skipped = unknown | (gaps.any(axis=1) & (self.policy == "skip"))
        self.imputed += int(gaps.sum())
        self.skipped += int(skipped.sum())
        x, self.sums, self.counts = fill(x, self.sums, self.counts)
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


def without_gaps(block: Block) -> Block:
    """The block with zeros for NaN in x and y, to check all else about it."""
    x, y = (np.where(np.isnan(part), 0.0, part) for part in (block.x, block.y))
    return Block(x, y, block.weight, block.elapsed)
