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


class ExpertFamily(NamedTuple):
    """Experts that differ in their memory only."""

    name: str
    description: str  # what such an expert predicts
    needs_labels: bool  # whether it sees a past label or row, as a fixed RLS does not


EXPERT_FAMILIES = (
    ExpertFamily("level", "the recent level and what the features add to it", False),
    ExpertFamily(
        "level, heavy ridge", "the recent level, features trusted little", False
    ),
    ExpertFamily(
        "step", "the last value and how the features have changed since", True
    ),
    ExpertFamily("season", "the value a season ago and how the features differ", True),
    ExpertFamily(
        "anchored level", "the features, coefficients held and not shrunk", False
    ),
    ExpertFamily(
        "anchored level, heavy ridge", "the features, coefficients held firmly", False
    ),
    ExpertFamily(
        "autoregressive", "the features with the last value as one of them", True
    ),
    ExpertFamily("last value", "the last value itself", True),
)
# In the order of kernels/tracker/tracker_layout.py: four families are shrunk, two are
# anchored, one is autoregressive; the last value has no memory to choose.
FAMILY_OF_EXPERT = np.append(
    np.repeat(np.arange(len(EXPERT_FAMILIES) - 1), MEMORY_COUNT),
    len(EXPERT_FAMILIES) - 1,
)
MEMORY_OF_EXPERT = np.append(np.tile(MEMORIES, len(EXPERT_FAMILIES) - 1), 1.0)
assert len(FAMILY_OF_EXPERT) == EXPERTS == LANES + LEVEL_LANES + MEMORY_COUNT + 1

EXPERT_NAMES = tuple(
    EXPERT_FAMILIES[family].name + (f", memory {memory:g}" if memory > 1 else "")
    for family, memory in zip(FAMILY_OF_EXPERT, MEMORY_OF_EXPERT, strict=True)
)
"""One name for each expert, as in the columns of recorded weights."""
MIN_WEIGHT = 0.05
"""Families with a smaller part in the forecast are not mentioned."""


def explain(rounds: int, memory: float, season: int, weights: FloatArray) -> str:
    """A few sentences on what the coming forecast is made of."""
    if rounds == 0:
        return "No rows learnt yet: the first forecast is 0."
    lines = [f"After {rounds:,} rows, {_memory_clause(memory, rounds)}"]
    lines.append("The forecast is made of")
    by_family = np.bincount(FAMILY_OF_EXPERT, weights, len(EXPERT_FAMILIES))
    for family in np.argsort(-by_family):
        if by_family[family] >= MIN_WEIGHT:
            lines.append(
                f"  {by_family[family]:4.0%}  {EXPERT_FAMILIES[family].description}"
            )
    seasonal = by_family[[family.name == "season" for family in EXPERT_FAMILIES]].sum()
    if season > 1 and seasonal >= MIN_WEIGHT:
        lines.append(f"The season is {season} rows long.")
    return "\n".join(lines)


def _memory_clause(memory: float, rounds: int) -> str:
    if memory > rounds / 2:
        return "nearly all of which still count."
    if memory < 2:
        return "only the last one counts."
    return f"about the last {memory:,.0f} count."
