"""How the cost grows with the features n, the experts N or the rounds T."""

from collections.abc import Sequence

import numpy as np

from benchmarks.bench.bench_results import Timing
from thalweg.paper.claim_result import fit_growth_rate

MIN_FEATURES = 32
"""Exponents in n are fitted from here on: below it overheads dominate."""


def exponent_in_features(timings: Sequence[Timing]) -> float | None:
    """e where a round costs nᵉ; None where there are fewer than three sizes."""
    large = [timing for timing in timings if timing.n >= MIN_FEATURES]
    return _exponent([timing.n for timing in large], [timing.ns for timing in large])


def exponent_in_experts(timings: Sequence[Timing]) -> float | None:
    """e where a round costs Nᵉ."""
    sizes = [timing.size for timing in timings]
    return _exponent(sizes, [timing.ns for timing in timings])


def exponent_in_rounds(timings: Sequence[Timing]) -> float | None:
    """e where all rounds together cost Tᵉ: 1 where each costs the same."""
    sizes = [timing.size for timing in timings]
    return _exponent(sizes, [timing.size * timing.ns for timing in timings])


def _exponent(sizes: Sequence[int], values: Sequence[float]) -> float | None:
    fit = fit_growth_rate(np.array(sizes), np.array(values), np.zeros(len(sizes)))
    return None if fit is None else fit.exponent
