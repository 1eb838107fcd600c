"""What the Tracker's experts are called, and what each kind does, in words."""

from typing import NamedTuple

import numpy as np

from thalweg.kernels.tracker.layout import (
    EXPERTS,
    LANES,
    LEVEL_LANES,
    MEMORIES,
    MEMORY_COUNT,
)


class Kind(NamedTuple):
    """A family of experts that differ in memory only."""

    name: str
    words: str
    needs_labels: bool  # whether it sees a past label or round, as a fixed RLS does not


KINDS = (
    Kind("level", "the level of late and what the features add to it", False),
    Kind("level, heavy ridge", "the level of late, the features trusted little", False),
    Kind("step", "the last label and how the features have changed since", True),
    Kind("season", "the label a season ago and how the features differ", True),
    Kind("free level", "the features, with coefficients held, not shrunk", False),
    Kind("free level, heavy ridge", "the features, coefficients held firmly", False),
    Kind("labelled", "the features with the last label as one of them", True),
    Kind("last value", "the last label itself", True),
)
# In the order of kernels/tracker/layout.py: four families pulled, two not, one with
# the last label, then the last label itself, which has no memory to choose.
KIND_OF = np.append(np.repeat(np.arange(len(KINDS) - 1), MEMORY_COUNT), len(KINDS) - 1)
MEMORY_OF = np.append(np.tile(MEMORIES, len(KINDS) - 1), 1.0)
assert len(KIND_OF) == EXPERTS == LANES + LEVEL_LANES + MEMORY_COUNT + 1

NAMES = tuple(
    KINDS[kind].name + (f", memory {memory:g}" if memory > 1 else "")
    for kind, memory in zip(KIND_OF, MEMORY_OF, strict=True)
)
"""One name for each expert, as in the columns of recorded weights."""
