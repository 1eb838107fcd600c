"""Cholesky factors of small matrices, LLᵀ = A, row by row in scalar arithmetic.

Rows of L replace those of A's lower triangle. A pivot up to a limit, where a column is
linearly dependent on those before it, becomes 0, and so do its column and the solution
there. Factors in SIMD vectors are elsewhere: one in each lane (tracker/solve.py), a
large one (tracker/curvature.py), and inverses of triangles (rls_blocked/triangular.py).
"""

import math

from thalweg.kernels.compiler.jit import inner_function


@inner_function
def factorise_row(lower, i, columns, limit):
    """Replace row i of A, in its first ``columns``, by that of L; the rows before are
    done. Its own pivot is 0 where it would not be above ``limit``."""
    for j in range(min(i + 1, columns)):
        rest = lower[i, j]
        for k in range(j):
            rest -= lower[i, k] * lower[j, k]
        if i == j:
            lower[i, i] = math.sqrt(rest) if rest > limit else 0.0
        else:
            lower[i, j] = rest / lower[j, j] if lower[j, j] > 0.0 else 0.0


@inner_function
def solve_row(lower, i, value, solution):
    """Entry i of L⁻¹b from b_i, ``value``, and the entries before it."""
    for k in range(i):
        value -= lower[i, k] * solution[k]
    return value / lower[i, i] if lower[i, i] > 0.0 else 0.0


@inner_function
def solve_column(lower, i, size, value, solution):
    """Entry i of L⁻ᵀb from b_i, ``value``, and the entries after it, below ``size``."""
    for k in range(i + 1, size):
        value -= lower[k, i] * solution[k]
    return value / lower[i, i] if lower[i, i] > 0.0 else 0.0
