"""Explanation of a forecast of the Tracker in words, and the names of its experts."""

from typing import NamedTuple

import numpy as np

from thalweg.kernels.tracker.tracker_layout import (
    EXPERTS,
    LANES,
    LEVEL_LANES,
    MEMORIES,
    MEMORY_COUNT,
)
from thalweg.types import FloatArray


class Kind(NamedTuple):
    """Experts that differ in their memory only."""

    name: str
    description: str  # what such an expert predicts
    needs_labels: bool  # whether it sees a past label or row, as a fixed RLS does not


KINDS = (
    Kind("level", "the recent level and what the features add to it", False),
    Kind("level, heavy ridge", "the recent level, features trusted little", False),
    Kind("step", "the last value and how the features have changed since", True),
    Kind("season", "the value a season ago and how the features differ", True),
    Kind("anchored level", "the features, coefficients held and not shrunk", False),
    Kind(
        "anchored level, heavy ridge", "the features, coefficients held firmly", False
    ),
    Kind("autoregressive", "the features with the last value as one of them", True),
    Kind("last value", "the last value itself", True),
)
# In the order of kernels/tracker/tracker_layout.py: four families are shrunk, two are
# anchored, one is autoregressive; the last value has no memory to choose.
KIND_OF_EXPERT = np.append(
    np.repeat(np.arange(len(KINDS) - 1), MEMORY_COUNT), len(KINDS) - 1
)
MEMORY_OF_EXPERT = np.append(np.tile(MEMORIES, len(KINDS) - 1), 1.0)
assert len(KIND_OF_EXPERT) == EXPERTS == LANES + LEVEL_LANES + MEMORY_COUNT + 1

EXPERT_NAMES = tuple(
    KINDS[kind].name + (f", memory {memory:g}" if memory > 1 else "")
    for kind, memory in zip(KIND_OF_EXPERT, MEMORY_OF_EXPERT, strict=True)
)
"""One name for each expert, as in the columns of recorded weights."""
MIN_WEIGHT = 0.05
"""Kinds with a smaller part in the forecast are not mentioned."""


def explain(rounds: int, memory: float, season: int, weights: FloatArray) -> str:
    """A few sentences on what the coming forecast is made of."""
    if rounds == 0:
        return "No rows learnt yet: the first forecast is 0."
    lines = [f"After {rounds:,} rows, {_memory_clause(memory, rounds)}"]
    lines.append("The forecast is made of")
    by_kind = np.bincount(KIND_OF_EXPERT, weights, len(KINDS))
    for kind in np.argsort(-by_kind):
        if by_kind[kind] >= MIN_WEIGHT:
            lines.append(f"  {by_kind[kind]:4.0%}  {KINDS[kind].description}")
    seasonal = by_kind[[kind.name == "season" for kind in KINDS]].sum()
    if season > 1 and seasonal >= MIN_WEIGHT:
        lines.append(f"The season is {season} rows long.")
    return "\n".join(lines)


def _memory_clause(memory: float, rounds: int) -> str:
    if memory > rounds / 2:
        return "nearly all of which still count."
    if memory < 2:
        return "only the last one counts."
    return f"about the last {memory:,.0f} count."
