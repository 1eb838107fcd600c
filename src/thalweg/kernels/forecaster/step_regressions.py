r"""Ridge regressions of one step ahead, one in every SIMD lane.

Also known as: direct multi-step forecasting. In every lane, with x the features known h
rounds before and z the label, less the level and in units of the scale as they were,

.. math:: S \gets \gamma S + w\, x x^T, \quad
          b \gets \gamma b + w\, x (z - \theta_0\cdot x), \quad
          \theta = \theta_0 + (S + \delta I)^{-1} b

The lanes differ in the forgetting factor γ, and in how soon an error counts as an
outlier: one that exceeds k mean errors has weight w = k mean errors / |error|, which
makes it Huber's M-estimator in one pass. θ₀ is ``PRIOR``.
"""

from thalweg.kernels.compiler.jit import inner_function
from thalweg.kernels.compiler.simd import WIDTH, broadcast, fma, load, store
from thalweg.kernels.forecaster import forecaster_layout as layout
from thalweg.kernels.tracker.solve import back_substitute, factorise

RIDGE = 10.0
"""δ: features are of the order of one, so it counts as ten rounds."""
COVARIATE_RIDGE = 40.0
"""δ of covariates, which may be irrelevant."""
MEAN_ERROR_SHARE = 0.005
"""Minimum share of a new error in the mean: about 200 count."""
LEVERAGE_LIMIT = 20.0
"""Limit of features in scales: larger ones reduce the weight of their row (Mallows
weights)."""
TRUSTED_ERRORS = 20
"""Minimum number of errors before one can be an outlier."""


@inner_function
def predict_lanes(theta, row, predictions):
    """Set predictions[lane] = Σ_j θ_j row_j for all lanes."""
    for lane in range(0, layout.LANES, WIDTH):
        total = broadcast(0.0)
        for j in range(row.size):
            total = fma(load(theta, (j, lane)), row[j], total)
        store(predictions, lane, total)


@inner_function
def set_outlier_weights(errors, mean_errors, count, weights):
    """Set the weight of each lane's error, and learn its size; errors are |error|."""
    for lane in range(layout.LANES):
        error, limit = errors[lane], layout.OUTLIER_LIMIT[lane] * mean_errors[lane]
        weight = limit / error if count >= TRUSTED_ERRORS and error > limit else 1.0
        weights[lane] = max(weight, 1e-9)
        share = max(1 / (count + 1), MEAN_ERROR_SHARE)
        mean_errors[lane] += share * (weights[lane] * error - mean_errors[lane])


@inner_function
def limit_leverage(row, weights):
    """Reduce the weights of a row whose features are beyond ``LEVERAGE_LIMIT``, so that
    one outlier among them does not outweigh all other rows."""
    size = LEVERAGE_LIMIT
    for j in range(row.size):
        size = max(size, abs(row[j]))
    if size > LEVERAGE_LIMIT:
        for lane in range(layout.LANES):
            weights[lane] *= (LEVERAGE_LIMIT / size) ** 2


@inner_function
def learn_moments(moments, row, label, weights):
    """Update the discounted moments (n + 1, n, LANES) with one round."""
    n = row.size
    for lane in range(0, layout.LANES, WIDTH):
        gamma, w = load(layout.DISCOUNT, lane), load(weights, lane)
        for i in range(n + 1):
            factor = w * (row[i] if i < n else label)
            for j in range(min(i + 1, n)):
                updated = fma(gamma, load(moments, (i, j, lane)), factor * row[j])
                store(moments, (i, j, lane), updated)


@inner_function
def learn_lanes(moments, theta, row, label, weights, workspace):
    """Update the moments (n + 1, n, LANES) with one round, and solve for θ."""
    n = row.size
    rest = label
    for j in range(layout.OWN_FEATURES):
        rest -= layout.PRIOR[j] * row[j]
    learn_moments(moments, row, rest, weights)
    factorise(moments, workspace.ridge, workspace.lower, workspace.work)
    back_substitute(workspace.lower, n, n, layout.LANES, theta)
    for j in range(layout.OWN_FEATURES):
        for lane in range(0, layout.LANES, WIDTH):
            store(theta, (j, lane), load(theta, (j, lane)) + layout.PRIOR[j])
