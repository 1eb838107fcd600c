"""Ridge regression whose ridge holds θ where it is instead of pulling it to zero.

θ += c (S + ridge)⁻¹ x̃ (ỹ - θ·x̃), for the two families about the recent mean.
It predicts as ``shrunk`` does.
"""

from thalweg.kernels.jit import inner_function
from thalweg.kernels.simd import WIDTH, above, fused, load, size, store
from thalweg.kernels.tracker.solve import back_substitute

LARGEST = 1.7e308


@inner_function
def learn(theta, u, outer_weight, lower, gain):
    """One step along this round's gain; shapes theta (n, lanes), solved (z, LANES)."""
    n, lanes = theta.shape
    back_substitute(lower, n + 2, n, lanes, gain)
    for lane in range(0, lanes, WIDTH):
        error = load(u, (n + 1, lane))
        for j in range(n):
            held = -1.0 * load(theta, (j, lane))
            error = fused(held, load(u, (j, lane)), error)
        step = load(outer_weight, lane) * error
        # θ·x̃ may be beyond float64: such a θ is no use, and begins again from zero.
        for j in range(n):
            moved = fused(step, load(gain, (j, lane)), load(theta, (j, lane)))
            usable = above(LARGEST, size(error), moved, 0.0)
            store(theta, (j, lane), usable)
