"""Regret: how far a trace was from the best comparators in hindsight."""

from thalweg.lazy import exported_names
from thalweg.regret.adaptive import AdaptiveRegret as AdaptiveRegret
from thalweg.regret.adaptive import adaptive as adaptive
from thalweg.regret.decomposition import ClippedBound as ClippedBound
from thalweg.regret.decomposition import Decomposition as Decomposition
from thalweg.regret.decomposition import clipped_bound as clipped_bound
from thalweg.regret.decomposition import decomposition as decomposition
from thalweg.regret.dynamic import Minimisers as Minimisers
from thalweg.regret.dynamic import Regret as Regret
from thalweg.regret.dynamic import dynamic as dynamic
from thalweg.regret.dynamic import minimisers as minimisers
from thalweg.regret.dynamic import path_length as path_length
from thalweg.regret.dynamic import static as static
from thalweg.regret.frontier import Frontier as Frontier
from thalweg.regret.frontier import frontier as frontier
from thalweg.regret.functional_variation import (
    FunctionalVariation as FunctionalVariation,
)
from thalweg.regret.functional_variation import (
    functional_variation as functional_variation,
)
from thalweg.regret.path_budget import HindsightPath as HindsightPath
from thalweg.regret.path_budget import best_path as best_path

__all__ = exported_names(__name__)
