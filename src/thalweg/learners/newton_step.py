"""The linear algebra of a Newton step on a factorised matrix."""

import numpy as np

from thalweg.kernels.ud_factor import learn, solve
from thalweg.types import FloatArray


def learn_and_solve(
    factor: FloatArray, rows: FloatArray, grad: FloatArray
) -> FloatArray:
    """P ← P + Σ vvᵀ over the rows v, in place; P⁻¹∇ for the new P is returned."""
    # Where P has all but vanished, its inverse is known along what is learnt only.
    # With ∇ = Σ r_i v_i, P⁻¹∇ is least squares of r on v, done row by row.
    r = np.linalg.lstsq(rows.T, grad)[0]
    step, image = np.zeros_like(grad), np.empty_like(grad)
    for v, r_i in zip(rows, r, strict=True):
        learn(factor, v, image)
        step += image * (r_i - v @ step)
    rest = grad - rows.T @ r
    rounding = np.sqrt(np.finfo(grad.dtype).eps) * np.linalg.norm(grad)
    if np.linalg.norm(rest) > rounding:
        solve(factor, rest, image)
        step += image
    return step
