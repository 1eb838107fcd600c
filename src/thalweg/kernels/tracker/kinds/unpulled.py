"""Ridge regression whose ridge holds θ where it is instead of pulling it to zero.

θ += c (S + ridge)⁻¹ x̃ (ỹ - θ·x̃), for the two families about the recent mean.
It predicts as ``pulled`` does.
"""

from thalweg.kernels.jit import inner_function
from thalweg.kernels.simd import WIDTH, above, fused, load, size, store
from thalweg.kernels.tracker.solve import back

LARGEST = 1.7e308


@inner_function
def learn(theta, u, gain, lower, solved):
    """One step along this round's gain; shapes theta (n, lanes), solved (z, LANES)."""
    n, lanes = theta.shape
    back(lower, n + 2, n, lanes, solved)
    for lane in range(0, lanes, WIDTH):
        error = load(u, (n + 1, lane))
        for j in range(n):
            held = -1.0 * load(theta, (j, lane))
            error = fused(held, load(u, (j, lane)), error)
        step = load(gain, lane) * error
        # θ·x̃ may be beyond float64: such a θ is no use, and begins again from zero.
        for j in range(n):
            moved = fused(step, load(solved, (j, lane)), load(theta, (j, lane)))
            usable = above(LARGEST, size(error), moved, 0.0)
            store(theta, (j, lane), usable)
