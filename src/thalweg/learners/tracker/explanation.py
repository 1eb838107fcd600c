"""Explanation of a forecast of the Tracker in words, and the names of its experts."""

from typing import Any, NamedTuple

import numpy as np

from thalweg.kernels.tracker import tracker_layout as layout
from thalweg.learners.tracker.definition_adashare import adashare_weights
from thalweg.learners.tracker.definition_curvature import (
    FULL_CONFIDENCE,
    IS_CANDIDATE,
)
from thalweg.learners.tracker.definition_rules import (
    IS_RULE,
    boa_weights,
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
    ExpertFamily("autoregressive", "the features and the last three values", True),
    ExpertFamily(
        "distributed lag", "the features, those of the row before, two values", True
    ),
    ExpertFamily("last value", "the last value itself", True),
)
# In the order of kernels/tracker/tracker_layout.py: four families are shrunk, two are
# anchored, one is autoregressive, one has distributed lags and memories of its own; the
# last value has no memory to choose.
_MEMORIES = [layout.MEMORIES] * (len(EXPERT_FAMILIES) - 2)
_MEMORIES += [layout.DISTRIBUTED_MEMORIES, np.ones(1)]
_SIZES = [len(memories) for memories in _MEMORIES]
FAMILY_OF_EXPERT = np.repeat(np.arange(len(EXPERT_FAMILIES)), _SIZES)
MEMORY_OF_EXPERT = np.concatenate(_MEMORIES)
assert len(FAMILY_OF_EXPERT) == layout.EXPERTS

EXPERT_NAMES = tuple(
    EXPERT_FAMILIES[family].name + (f", memory {memory:g}" if memory > 1 else "")
    for family, memory in zip(FAMILY_OF_EXPERT, MEMORY_OF_EXPERT, strict=True)
)
"""One name for each expert, as in the columns of recorded weights."""
MIN_WEIGHT = 0.05
"""Minimum share in the forecast of a family of experts, and of the correction for
curvature, that is mentioned."""


def explain(
    rounds: int, memory: float, season: int, weights: FloatArray, correction: float = 0
) -> str:
    """A few sentences on what the coming forecast is made of.

    ``correction`` is the part of the correction for curvature that is applied.
    """
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
    if correction >= MIN_WEIGHT:
        size = f"{100 * correction:.0f} %"
        lines.append(f"A correction for curvature is applied at {size} of its size.")
    return "\n".join(lines)


def correction_share(s: Any) -> float:
    """The part of the correction for curvature in the coming forecast, from 0 to 1.

    The committee's weight in the meta-rule, times the candidates' weights: that of all
    of the correction, and half of that of half of it. 0 as long as no correction was
    learnt, and without curvature. ``s`` are the views of the state.
    """
    if not s.curvature.theta.any():
        return 0.0
    weights = boa_weights(s.rules.correction, IS_CANDIDATE, FULL_CONFIDENCE)
    _, whole, half = weights[: layout.CANDIDATES]
    committee = adashare_weights(s.rules.meta, IS_RULE)[layout.COMMITTEE]
    return float(committee * (whole + half / 2))


def _memory_clause(memory: float, rounds: int) -> str:
    if memory > rounds / 2:
        return "nearly all of which still count."
    if memory < 2:
        return "only the last one counts."
    return f"about the last {memory:,.0f} count."
