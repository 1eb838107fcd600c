"""What the Tracker does now, in words."""

import numpy as np

from thalweg.learners.tracker.names import KIND_OF, KINDS
from thalweg.types import FloatArray

WORTH_NAMING = 0.05
"""Kinds with a smaller part of the forecast are not mentioned."""


def explain(rounds: int, memory: float, season: int, weights: FloatArray) -> str:
    """A few sentences on what the coming forecast is made of."""
    if rounds == 0:
        return "Nothing seen yet: the first forecast is 0."
    lines = [f"After {rounds:,} rounds, {_memory(memory, rounds)}", "It listens to"]
    by_kind = np.bincount(KIND_OF, weights, len(KINDS))
    for kind in np.argsort(-by_kind):
        if by_kind[kind] >= WORTH_NAMING:
            lines.append(f"  {by_kind[kind]:4.0%}  {KINDS[kind].words}")
    seasonal = by_kind[[kind.name == "season" for kind in KINDS]].sum()
    if season > 1 and seasonal >= WORTH_NAMING:
        lines.append(f"The season it sees is {season} rounds long.")
    return "\n".join(lines)


def _memory(memory: float, rounds: int) -> str:
    if memory > rounds / 2:
        return "nearly all of which still count."
    if memory < 2:
        return "only the last one counts."
    return f"about the last {memory:,.0f} count."
