"""All linear systems of a round at once, one in each lane."""

from numba import njit

from thalweg.kernels.tracker.layout import LANES

LEAST_PIVOT = 1e-14
"""Of the diagonal entry it came from: below that a pivot is rounding only."""


# Pivots are positive; the numpy error model spares the check for zero that would keep
# the loop from being a vector operation.
@njit(cache=True, error_model="numpy")
def factorise(moments, ridge, deviation, lower, scaled, entry):
    """L D Lᵀ = S + ridge, with two right-hand sides riding along as further rows.

    ``lower`` holds L with 1/D on its diagonal, below it D⁻¹L⁻¹b for b = S's last row
    and then D⁻¹L⁻¹u; ``scaled`` the same rows times D. Only ``back`` is left to solve
    for both. Leading coordinates come first, so the same L serves their system alone.
    """
    z = moments.shape[1]
    for j in range(z):
        for lane in range(LANES):
            entry[lane] = moments[j, j, lane] + ridge[j, lane]
        _eliminate(entry, scaled, lower, j, j)
        for lane in range(LANES):
            least = LEAST_PIVOT * (moments[j, j, lane] + ridge[j, lane])
            lower[j, j, lane] = 1 / max(entry[lane], least)
        for i in range(j + 1, z + 2):
            for lane in range(LANES):
                entry[lane] = moments[i, j, lane] if i <= z else deviation[j, lane]
            _eliminate(entry, scaled, lower, i, j)
            for lane in range(LANES):
                scaled[i, j, lane] = entry[lane]
                lower[i, j, lane] = entry[lane] * lower[j, j, lane]


@njit(cache=True)
def _eliminate(entry, scaled, lower, i, j):
    """Entry (i, j) minus what the columns before j account for."""
    for k in range(j):
        for lane in range(LANES):
            entry[lane] -= scaled[i, k, lane] * lower[j, k, lane]


@njit(cache=True)
def back(lower, which, size, lanes, out):
    """Solve Lᵀ out = row ``which`` of ``lower`` in the leading ``size`` coordinates."""
    for j in range(size):
        for lane in range(lanes):
            out[j, lane] = lower[which, j, lane]
    for i in range(size - 1, 0, -1):
        for j in range(i):
            for lane in range(lanes):
                out[j, lane] -= lower[i, j, lane] * out[i, lane]
