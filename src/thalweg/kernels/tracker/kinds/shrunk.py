"""Ridge regression about the origin: where little is known, the origin's y is said.

θ = (S + ridge)⁻¹ b, p = origin + θ·(x - origin). One expert in every lane: about the
recent mean with a light and a heavy ridge, about the last round, about a season ago.
"""

from thalweg.kernels.jit import inner_function
from thalweg.kernels.simd import WIDTH, fused, load, store
from thalweg.kernels.tracker.solve import back_substitute


@inner_function
def predict(theta, u, origin, predictions, first):
    """Set the predictions of all lanes of θ (n, lanes), from index ``first`` on."""
    for lane in range(0, theta.shape[1], WIDTH):
        expected = load(origin, lane)
        for j in range(len(theta)):
            expected = fused(load(theta, (j, lane)), load(u, (j, lane)), expected)
        store(predictions, first + lane, expected)


@inner_function
def learn(theta, lower):
    """The exact solution, from this round's factors."""
    n, lanes = theta.shape
    back_substitute(lower, n + 1, n, lanes, theta)
