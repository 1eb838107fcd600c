r"""Curvature: what a linear model of the label leaves over, learnt on random hinges.

Also known as: random features, extreme learning machine, ridge regression on a fixed
random layer of rectified linear units.

The context z is (x_t, y_{t-1}, y_{t-1} - y_{t-2}), standardised by the rounds before
and clipped. Each hinge sees two of its coordinates, drawn at the start:

.. math:: \phi_j = \sqrt{2/D}\, \max(0,\, a_j z_{k_j} + b_j z_{l_j} - c_j)

With e the committee's error, winsorised at four times its recent mean size,

.. math:: A \gets \lambda A + \phi\phi^T, \quad b \gets \lambda b + \phi e, \quad
          \theta = (A + 0.01 I)^{-1} b

is solved every 32nd round. The correction θ·φ, clipped at three times that size,
is offered to the committee whole, by half and not at all; BOA weighs the three.

A is stored by rows from the diagonal on, each from the start of its SIMD vector:
``row_start``.
"""

import math

from thalweg.kernels.compiler.jit import inline_function, inner_function
from thalweg.kernels.compiler.simd import WIDTH, broadcast, fma, load, reduce_sum, store
from thalweg.kernels.tracker import boa
from thalweg.kernels.tracker import tracker_layout as layout
from thalweg.kernels.tracker.prediction_interval import SCALE_MEMORY
from thalweg.kernels.tracker.ridge_experts import MIN_SPREAD, update_variance
from thalweg.kernels.tracker.solve import MAX_FLOAT, MIN_RELATIVE_PIVOT

CURVATURE_DISCOUNT, CURVATURE_RIDGE = 0.9995, 0.01
"""λ, and the ridge, which is not discounted."""
SOLUTION_INTERVAL = 32
"""Rounds between two solutions: at four, eight and sixteen the error on the public
streams is the same to 0.1 %."""
MIN_GRAM_SCALE = 0.5
"""A smaller scale of A is multiplied in at once: a long time may have elapsed."""
MAX_LEARNT_ERROR, MAX_CORRECTION = 4.0, 3.0
"""Limits of the error that is learnt and of the correction, in units of mean errors."""
MAX_WEIGHT = 1e100
"""Limit of a round's weight here, to keep sums of products finite."""
MAX_CONTEXT = 5.0
"""Limit of a coordinate of the context, in standard deviations."""
MIN_RELATIVE_DEVIATION = 1e-12
"""Minimum standard deviation, in units of the mean: a smaller one is rounding."""


@inline_function
def set_context(s, x, labels, context):
    """Set the context (n + 2,); ``labels`` are the past ones, newest first."""
    n, experts, lags = x.size, s.experts, s.lags
    for j in range(n):
        context[j] = standardise(x[j], experts.overall_mean[j], experts.spread[0, j])
    context[n] = standardise(labels[0], lags.overall_mean[0], lags.spread[0])
    change, mean = labels[0] - labels[1], s.curvature.change_mean[0]
    context[n + 1] = standardise(change, mean, s.curvature.change_spread[0])


@inner_function
def standardise(value, mean, variance):
    """The value in standard deviations from the mean, clipped; 0 if it never varied."""
    if variance <= MIN_SPREAD:
        return 0.0
    deviation = math.sqrt(variance)
    if deviation <= MIN_RELATIVE_DEVIATION * abs(mean):
        return 0.0
    return min(max((value - mean) / deviation, -MAX_CONTEXT), MAX_CONTEXT)


@inner_function
def set_hinges(curvature, context, features):
    """Set the features φ (D,) of this context."""
    scale = math.sqrt(2 / features.size)
    for k in range(features.size):
        first, second = curvature.coordinates[0, k], curvature.coordinates[1, k]
        ahead = curvature.directions[0, k] * context[int(first)]
        ahead += curvature.directions[1, k] * context[int(second)]
        features[k] = scale * max(ahead - curvature.biases[k], 0.0)


@inline_function
def correct(s, workspace, rules, low, high):
    """Correct the committee's prediction; what it was is in ``workspace.committee``.

    The corrected prediction stays within [low, high], as the experts' do.
    """
    candidates, mean = workspace.candidates, workspace.committee[layout.COMMITTEE_MEAN]
    correction = dot(s.curvature.theta, workspace.features)
    limit = MAX_CORRECTION * s.counters[layout.CORRECTION_SCALE]
    correction = min(max(correction, -limit), limit)
    candidates[0] = 0.0
    candidates[1] = min(max(correction, low - mean), high - mean)
    candidates[2] = min(max(0.5 * correction, low - mean), high - mean)
    weights, mask = workspace.candidate_weights, workspace.candidate_mask
    boa.set_weights(s.rules.correction, mask, rules.full_confidence, weights)
    mixed = 0.0
    for k in range(1, layout.CANDIDATES):
        mixed += weights[k] * candidates[k]
    workspace.committee[layout.CORRECTION] = mixed
    rules.rule_predictions[layout.COMMITTEE] = mean + mixed


@inline_function
def learn_curvature(s, workspace, y, w, elapsed):
    """Learn the committee's error in the round of ``workspace.features``."""
    counters, curvature = s.counters, s.curvature
    error = y - workspace.committee[layout.COMMITTEE_MEAN]
    scale = counters[layout.CORRECTION_SCALE]
    learnt = min(max(error, -MAX_LEARNT_ERROR * scale), MAX_LEARNT_ERROR * scale)
    decay, features = CURVATURE_DISCOUNT**elapsed, workspace.features
    gram, target, weight = curvature.gram, curvature.target, min(w, MAX_WEIGHT)
    update_gram(counters, gram, target, features, decay, weight, learnt)
    if int(counters[layout.ROUNDS]) % SOLUTION_INTERVAL == 0:
        fold_scale(counters, gram, target)
        solve_gram(gram, target, workspace, curvature.theta)
    counters[layout.CORRECTION_COUNT] += 1
    memory = min(counters[layout.CORRECTION_COUNT], SCALE_MEMORY)
    counters[layout.CORRECTION_SCALE] += (abs(error) - scale) / memory


@inline_function
def learn_correction(rule_state, workspace, rules, y, w, t):
    """Let BOA over the candidates learn the committee's error, if they differ."""
    candidates, committee = workspace.candidates, workspace.committee
    low = min(candidates[0], candidates[1], candidates[2])
    high = max(candidates[0], candidates[1], candidates[2])
    if low < high:
        boa.learn(
            rule_state, candidates, workspace.candidate_mask, rules.full_confidence,
            layout.CANDIDATES, committee[layout.CORRECTION], high - low,
            y - committee[layout.COMMITTEE_MEAN], w, t,
        )  # fmt: skip


@inline_function
def update_change(curvature, labels, share):
    """Update the mean and the variance of the label's last change."""
    change = labels[0] - labels[1]
    update_variance(curvature.change_mean, curvature.change_spread, 0, change, share)


@inline_function
def row_start(i, size):
    """Where column 0 of row i would be; the row begins at column i - i % WIDTH."""
    block = i // WIDTH
    before = WIDTH * block * size - WIDTH * WIDTH // 2 * block * (block - 1)
    return before + i % WIDTH * (size - WIDTH * block) - WIDTH * block


@inner_function
def update_gram(counters, gram, target, features, decay, w, learnt):
    """A ← λA + w φφᵀ from the diagonal on, b ← λb + w φ e.

    Both are stored divided by ``GRAM_SCALE``, so that a round changes only the rows of
    hinges that are not 0, about half of them.
    """
    size = features.size
    counters[layout.GRAM_SCALE] *= decay
    if counters[layout.GRAM_SCALE] < MIN_GRAM_SCALE:
        fold_scale(counters, gram, target)
    weight = w / counters[layout.GRAM_SCALE]
    for i in range(size):
        if features[i] > 0:
            here, start = weight * features[i], row_start(i, size)
            target[i] += here * learnt
            for j in range(i - i % WIDTH, size, WIDTH):
                entry = fma(here, load(features, j), load(gram, start + j))
                store(gram, start + j, entry)


@inner_function
def fold_scale(counters, gram, target):
    """Multiply A and b by the scale they are stored without, which becomes 1."""
    scale = counters[layout.GRAM_SCALE]
    for i in range(0, gram.size, WIDTH):
        store(gram, i, scale * load(gram, i))
    for i in range(0, target.size, WIDTH):
        store(target, i, scale * load(target, i))
    counters[layout.GRAM_SCALE] = 1.0


@inner_function
def solve_gram(gram, target, workspace, theta):
    """Set θ to (A + ridge)⁻¹b, by the factors Uᵀ D U of A + ridge.

    U_ij D_i = A_ij - Σ_{k<i} U_ki D_k U_kj, two rows i at a time. Entries left of the
    diagonal are no part of U.
    """
    factor, pivots, scaled = workspace.factor, workspace.pivots, workspace.scaled
    size = theta.size
    for i in range(0, size, 2):
        for k in range(i):
            scaled[0, k] = -pivots[k] * factor[k, i]
            scaled[1, k] = -pivots[k] * factor[k, i + 1]
        first, second = row_start(i, size), row_start(i + 1, size)
        for j in range(i - i % WIDTH, size, WIDTH):
            a, b = load(gram, first + j), load(gram, second + j)
            for k in range(i):
                above = load(factor, (k, j))
                a, b = fma(scaled[0, k], above, a), fma(scaled[1, k], above, b)
            store(factor, (i, j), a)
            store(factor, (i + 1, j), b)
        pivots[i] = _pivot(factor[i, i], gram[first + i])
        _finish_row(factor, i, 1 / pivots[i], 0.0)
        between = -pivots[i] * factor[i, i + 1]
        here = between * factor[i, i + 1] + factor[i + 1, i + 1]
        pivots[i + 1] = _pivot(here, gram[second + i + 1])
        _finish_row(factor, i + 1, 1 / pivots[i + 1], between)
    for i in range(size):
        theta[i] = target[i]
    _substitute(factor, pivots, theta)


@inline_function
def _pivot(entry, diagonal):
    """The pivot, or a small part of its diagonal entry, below which it is rounding."""
    floor = MIN_RELATIVE_PIVOT * (diagonal + CURVATURE_RIDGE)
    return max(entry + CURVATURE_RIDGE, floor)


@inline_function
def _finish_row(factor, i, inverse, between):
    """Add ``between`` times the row before, and divide by the pivot."""
    for j in range(i - i % WIDTH, factor.shape[1], WIDTH):
        entry = load(factor, (i, j))
        if between != 0:
            entry = fma(between, load(factor, (i - 1, j)), entry)
        store(factor, (i, j), inverse * entry)


@inner_function
def _substitute(factor, pivots, theta):
    """Solve Uᵀ D U θ = b, with b given in θ; 0 where that is beyond float64."""
    size = theta.size
    for i in range(size):
        known, first = -theta[i], i - i % WIDTH + WIDTH
        for j in range(i + 1, min(first, size)):
            theta[j] += known * factor[i, j]
        for j in range(first, size, WIDTH):
            store(theta, j, fma(known, load(factor, (i, j)), load(theta, j)))
    for i in range(size - 1, -1, -1):
        first = i - i % WIDTH + WIDTH
        sums, entry = broadcast(0.0), theta[i] / pivots[i]
        for j in range(first, size, WIDTH):
            sums = fma(load(factor, (i, j)), load(theta, j), sums)
        for j in range(i + 1, min(first, size)):
            entry -= factor[i, j] * theta[j]
        entry -= reduce_sum(sums)
        theta[i] = entry if abs(entry) < MAX_FLOAT else 0.0


@inner_function
def dot(a, b):
    """Σ a_i b_i."""
    sums = broadcast(0.0)
    for i in range(0, a.size, WIDTH):
        sums = fma(load(a, i), load(b, i), sums)
    return reduce_sum(sums)
