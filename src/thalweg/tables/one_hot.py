"""Text as features: one for each level, and one that all levels beyond share."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from thalweg.tables.cells import Coded
from thalweg.types import FloatArray


class OneHot(NamedTuple):
    """Features (T, slots + 1), NaN where text is missing, and what the slots are."""

    features: FloatArray
    levels: tuple[str, ...]  # by slot, in order of first appearance
    shared: npt.NDArray[np.bool_]  # (T,) whether the level has no slot


def one_hot(coded: Coded, levels: Sequence[str], slots: int) -> OneHot:
    """Encode some text, given the levels that have a slot already."""
    slot_of = {level: slot for slot, level in enumerate(levels)}
    for level in coded.levels:
        if len(slot_of) < slots:
            slot_of.setdefault(level, len(slot_of))
    # The last entry is what the code -1 of a missing text finds.
    slot = np.array([*(slot_of.get(level, slots) for level in coded.levels), slots])
    features = np.zeros((len(coded.codes), slots + 1))
    features[np.arange(len(features)), slot[coded.codes]] = 1.0
    features[coded.codes < 0] = np.nan
    shared = (coded.codes >= 0) & (slot[coded.codes] == slots)
    return OneHot(features, tuple(slot_of), shared)


def slot_names(column: str, levels: Sequence[str], slots: int) -> tuple[str, ...]:
    """What each feature of a column of text stands for."""
    unused = (f"{column}=(unused {slot + 1})" for slot in range(len(levels), slots))
    seen = (f"{column}={level}" for level in levels)
    return (*seen, *unused, f"{column}=(other)")
