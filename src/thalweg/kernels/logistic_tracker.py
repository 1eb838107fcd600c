"""Inner loop of the logistic Tracker: experts on logistic loss, mixed by Bayes' rule.

The definition it is held to is ``LogisticTracker.update`` in
learners/logistic_tracker.py.
"""

import math

import numpy as np

from thalweg.kernels.compiler.jit import kernel
from thalweg.kernels.losses import sigmoid
from thalweg.kernels.ud_factor import forget, learn
from thalweg.kernels.windup import cap_covariance

MIN_CURVATURE = 1e-3
"""Lower limit of σ(1-σ): where labels are almost certain, a Newton step on almost no
curvature would be unbounded."""
RADIUS = 50.0
"""Upper limit of ‖θ‖ and of standardised features. Features have unit spread, so that a
longer θ says no more than certainty."""


@kernel(ieee_division=True, nogil=True)
def logistic_tracker(
    theta, factor, weights, scale, gamma, rate, certainty, x, y, weight, elapsed, out
):  # fmt: skip
    """Play the rounds (x, y), updating the first four in place; no y: only predict.

    Shapes: gamma (N,) of the Newton experts, rate (R,) of those that take gradient
    steps, theta (N+R, n+1), factor (N, n+4, n+1), weights (N+R,), scale (3, n): rounds
    seen, mean and summed squares of each feature; x (T, n), y, weight, elapsed (T,) or
    empty, out (T,): the probability of the label 1, within ``certainty`` of neither 0
    nor 1.
    """
    experts, size = theta.shape
    z, v, gain = np.empty(size), np.empty(size), np.empty(size)
    scores, expert_predictions = np.empty(experts), np.empty(experts)
    for t in range(len(x)):
        standardise(scale, x, t, z)
        out[t] = mix_predictions(
            theta, weights, certainty, z, scores, expert_predictions
        )
        if len(y) == 0:
            continue
        w = weight[t] if len(weight) else 1.0
        e = elapsed[t] if len(elapsed) else 1.0
        update_scale(scale, x, t)
        update_weights(weights, expert_predictions, y[t], w, scale[0, 0])
        move_experts(theta, factor, gamma, rate, z, scores, y[t], w, e, v, gain)


@kernel
def mix_predictions(theta, weights, certainty, z, scores, expert_predictions):
    """The probability of the label 1 at the standardised features z (n+1,).

    ``scores`` (K,) is filled with the experts' z·θ, ``expert_predictions`` (K,) with
    their probabilities.
    """
    probability = 0.0
    for k in range(scores.size):
        score = 0.0
        for i in range(z.size):
            score += theta[k, i] * z[i]
        scores[k] = score
        expert_predictions[k] = min(max(sigmoid(score), certainty), 1 - certainty)
        probability += weights[k] * expert_predictions[k]
    return probability


@kernel(ieee_division=True)
def move_experts(theta, factor, gamma, rate, z, scores, y, w, e, v, gain):
    """Let every expert learn the label y of weight w, ``e`` after the round before.

    v and gain are (n+1,) to work in.
    """
    for k in range(gamma.size):
        discount = gamma[k] ** e if e != 1 else gamma[k]
        newton_step(theta, factor, k, discount, z, scores[k], y, w, v, gain)
    for k in range(gamma.size, gamma.size + rate.size):
        # Gradient steps do better than Newton steps where θ is a random walk.
        length = rate[k - gamma.size] * w * (sigmoid(scores[k]) - y)
        move_point(theta, k, length, z)


@kernel(ieee_division=True)
def newton_step(theta, factor, k, discount, z, score, y, w, v, gain):
    """P ← γP + w max(σ(1-σ), 10⁻³) zzᵀ, θ ← θ - P⁻¹ w (σ - y) z, for expert k.

    v and gain are (n+1,) to work in.
    """
    slope = sigmoid(score) - y
    root = math.sqrt(w * max(sigmoid(score) * sigmoid(-score), MIN_CURVATURE))
    for i in range(z.size):
        v[i] = root * z[i]
    own = factor[k]
    forget(own, discount)
    learn(own, v, gain)
    move_point(theta, k, w * slope / root if root > 0 else 0.0, gain)
    cap_covariance(own, gain, v)


@kernel(ieee_division=True)
def move_point(theta, k, length, direction):
    """θ_k ← θ_k - length · direction, projected onto the ball of radius ``RADIUS``."""
    square = 0.0
    for i in range(direction.size):
        theta[k, i] -= length * direction[i]
        square += theta[k, i] * theta[k, i]
    if square > RADIUS * RADIUS:
        for i in range(direction.size):
            theta[k, i] *= RADIUS / math.sqrt(square)


@kernel
def update_weights(weights, expert_predictions, y, w, t):
    """Bayes' rule, w_k ← w_k times the probability that k gave to y, and fixed share.

    Of all weight 1/(t+1) is shared equally.

    ``expert_predictions`` is overwritten with the logarithms of those probabilities.
    """
    best = -math.inf
    for k in range(expert_predictions.size):
        p = expert_predictions[k]
        expert_predictions[k] = w * (y * math.log(p) + (1 - y) * math.log(1 - p))
        best = max(best, expert_predictions[k])
    total = 0.0
    for k in range(expert_predictions.size):
        weights[k] *= math.exp(expert_predictions[k] - best)
        total += weights[k]
    share = 1 / (t + 1)
    for k in range(expert_predictions.size):
        weights[k] = (1 - share) * weights[k] / total + share / weights.size


@kernel
def standardise(scale, x, t, z):
    """Standardise x by the mean and spread of earlier rounds; append a constant 1."""
    n = x.shape[1]
    for i in range(n):
        spread = math.sqrt(scale[2, i] / scale[0, i]) if scale[0, i] > 1 else 0.0
        z[i] = (x[t, i] - scale[1, i]) / spread if spread > 0 else 0.0
        z[i] = min(max(z[i], -RADIUS), RADIUS)
    z[n] = 1.0


@kernel
def update_scale(scale, x, t):
    """Update the running mean and summed squares of every feature (Welford)."""
    for i in range(x.shape[1]):
        scale[0, i] += 1
        deviation = x[t, i] - scale[1, i]
        scale[1, i] += deviation / scale[0, i]
        scale[2, i] += deviation * (x[t, i] - scale[1, i])
