"""How the cost grows with the features n, the experts N or the rounds T."""

from collections.abc import Sequence

import numpy as np

from thalweg.lab.bench.found import Row
from thalweg.lab.growth_rate import fit_growth_rate

ASYMPTOTIC = 32
"""Exponents in n are fitted from here on: below it overheads rule."""


def in_features(rows: Sequence[Row]) -> float | None:
    """e where a round costs nᵉ; None where fewer than three sizes are there."""
    large = [row for row in rows if row.n >= ASYMPTOTIC]
    return _fit([row.n for row in large], [row.ns for row in large])


def in_experts(rows: Sequence[Row]) -> float | None:
    """e where a round costs Nᵉ."""
    return _fit([row.size for row in rows], [row.ns for row in rows])


def in_rounds(rows: Sequence[Row]) -> float | None:
    """e where all rounds together cost Tᵉ: 1 where each costs the same."""
    return _fit([row.size for row in rows], [row.size * row.ns for row in rows])


def _fit(sizes: Sequence[int], values: Sequence[float]) -> float | None:
    fit = fit_growth_rate(np.array(sizes), np.array(values), np.zeros(len(sizes)))
    return None if fit is None else fit.exponent
