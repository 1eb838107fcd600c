r"""The light level experts with the last labels as further features.

Also known as: ARX, autoregression with exogenous inputs.

Their system is that of the light levels (ridge_experts.py), bordered by a few rows: the
factors of the features serve both, and only the rows of the past labels are computed
here. With x̃ first and the past labels behind, a prediction is that of the light level
plus what the past labels add, and so is its leverage.
"""

from thalweg.kernels.jit import inline_function, inner_function
from thalweg.kernels.simd import WIDTH, fma, load, maximum, store
from thalweg.kernels.tracker.ridge_experts import (
    MIN_SPREAD,
    UNVARIED_RIDGE,
    finite_leverage,
    past_lag,
    update_variance,
)
from thalweg.kernels.tracker.seasonality import newest_label
from thalweg.kernels.tracker.solve import (
    MIN_RELATIVE_PIVOT,
    NEGATIVE_D,
    finite_or_zero,
)
from thalweg.kernels.tracker.tracker_layout import (
    AUTOREGRESSIVE,
    AUTOREGRESSIVE_LANES,
    LAGS,
    RIDGE,
)

LAG_RIDGE = RIDGE[0]
"""The ridge of a past label, in units of one observation of its own spread."""


@inner_function
def set_lag_deviations(counters, past_y, mean, labels, u, age):
    """Set the past labels, (LAGS,), and their deviations from means, (LAGS, lanes)."""
    now = newest_label(counters)
    for i in range(LAGS):
        y = labels[i] = past_y[now + past_lag(counters, age, i) - 1]
        for lane in range(0, AUTOREGRESSIVE_LANES, WIDTH):
            store(u, (i, lane), y - load(mean, (i, lane)))


@inner_function
def predict_autoregressive(lags, experts, predictions):
    """Add to the light levels' predictions and leverages what past labels add.

    ``lags`` and ``experts`` are the workspaces of both. In every lane, with rows of
    past labels i behind those of features k, w_i = u_i - Σ_k L_ik w_k, prediction
    += v_i w_i and leverage += w_i²/D_i.
    """
    n, lower = len(experts.projection), lags.lower
    for lane in range(0, AUTOREGRESSIVE_LANES, WIDTH):
        expected, h = load(predictions, lane), load(experts.leverage, lane)
        for i in range(LAGS):
            w = load(lags.deviations, (i, lane))
            for k in range(n):
                known = -1.0 * load(experts.projection, (k, lane))
                w = fma(load(lower, (i, k, lane)), known, w)
            for k in range(i):
                known = -1.0 * load(lags.projection, (k, lane))
                w = fma(load(lower, (i, n + k, lane)), known, w)
            store(lags.projection, (i, lane), w)
            h = fma(w * load(lower, (i, n + i, lane)), w, h)
            expected = fma(load(lower, (LAGS, n + i, lane)), w, expected)
        store(lags.leverage, lane, finite_leverage(h))
        store(predictions, AUTOREGRESSIVE + lane, expected)


@inner_function
def learn_lags(lags, u, weight, outer_weight, decay, labels, lag_u, w, share):
    """Update the means, moments and spreads of the past labels.

    u (n + 1, LANES) are the deviations of x and y, ``labels`` and ``lag_u`` the past
    labels and their deviations; ``weight`` is that of the means, this round's included.
    As in ridge_experts.py.
    """
    moments, n = lags.moments, len(u) - 1
    for i in range(LAGS):
        update_variance(lags.overall_mean, lags.spread, i, labels[i], share)
    for lane in range(0, AUTOREGRESSIVE_LANES, WIDTH):
        c, gamma = load(outer_weight, lane), load(decay, lane)
        step = w / load(weight, lane)
        for i in range(LAGS):
            u_i = load(lag_u, (i, lane))
            moved = fma(step, u_i, load(lags.mean, (i, lane)))
            store(lags.mean, (i, lane), moved)
            for j in range(n):
                product = c * (u_i * load(u, (j, lane)))
                updated = fma(gamma, load(moments, (i, j, lane)), product)
                store(moments, (i, j, lane), updated)
            for j in range(i + 1):
                product = c * (u_i * load(lag_u, (j, lane)))
                updated = fma(gamma, load(moments, (i, n + j, lane)), product)
                store(moments, (i, n + j, lane), updated)
            product = c * (load(u, (n, lane)) * u_i)
            updated = fma(gamma, load(moments, (LAGS, n + i, lane)), product)
            store(moments, (LAGS, n + i, lane), updated)


@inline_function
def set_lag_factors(lags, workspace, experts):
    """Compute the rows of L for the past labels, below those of the features.

    ``workspace`` is that of the past labels, ``experts`` that of the features, whose
    factors have been set. -D is in the row ``NEGATIVE_D`` of its ``work``.
    """
    _set_feature_columns(lags.moments, workspace.lower, experts.lower, experts.work)
    _set_lag_columns(lags, workspace, experts.lower, experts.work)


@inner_function
def _set_feature_columns(moments, lower, feature_lower, work):
    """L[i, j] = (S[i, j] - Σ_{k<j} D_k L[i, k] L[j, k]) / D_j for past labels i."""
    n = feature_lower.shape[1]
    for lane in range(0, AUTOREGRESSIVE_LANES, WIDTH):
        for j in range(n):
            a_0, a_1 = load(moments, (0, j, lane)), load(moments, (1, j, lane))
            a_2 = load(moments, (2, j, lane))
            for k in range(j):
                scaled = load(feature_lower, (j, k, lane))
                scaled = scaled * load(work, (NEGATIVE_D, k, lane))
                a_0 = fma(load(lower, (0, k, lane)), scaled, a_0)
                a_1 = fma(load(lower, (1, k, lane)), scaled, a_1)
                a_2 = fma(load(lower, (2, k, lane)), scaled, a_2)
            inverse = load(feature_lower, (j, j, lane))
            store(lower, (0, j, lane), a_0 * inverse)
            store(lower, (1, j, lane), a_1 * inverse)
            store(lower, (2, j, lane), a_2 * inverse)


@inner_function
def _set_lag_columns(lags, workspace, feature_lower, work):
    """The columns of the past labels: those of L below the diagonal, 1/D on it, and
    those of D⁻¹L⁻¹b.
    """
    moments, lower, negative_d = lags.moments, workspace.lower, workspace.negative_d
    n = feature_lower.shape[1]
    for lane in range(0, AUTOREGRESSIVE_LANES, WIDTH):
        for j in range(LAGS):
            ridge = LAG_RIDGE * lags.spread[j]
            ridge = ridge if ridge > MIN_SPREAD else UNVARIED_RIDGE
            diagonal = load(moments, (j, n + j, lane)) + ridge
            pivot = diagonal
            for k in range(n):
                l_j = load(lower, (j, k, lane))
                pivot = fma(l_j * load(work, (NEGATIVE_D, k, lane)), l_j, pivot)
            for k in range(j):
                l_j = load(lower, (j, n + k, lane))
                pivot = fma(l_j * load(negative_d, (k, lane)), l_j, pivot)
            pivot = maximum(pivot, MIN_RELATIVE_PIVOT * diagonal)
            inverse = 1.0 / pivot
            store(negative_d, (j, lane), -1.0 * pivot)
            for i in range(j + 1, LAGS + 1):
                entry = load(moments, (i, n + j, lane))
                for k in range(n):
                    l_i = load(lower, (i, k, lane))
                    if i == LAGS:  # b: its part for the features is with theirs
                        l_i = load(feature_lower, (n, k, lane))
                    scaled = load(lower, (j, k, lane))
                    scaled = scaled * load(work, (NEGATIVE_D, k, lane))
                    entry = fma(l_i, scaled, entry)
                for k in range(j):
                    scaled = load(lower, (j, n + k, lane)) * load(negative_d, (k, lane))
                    entry = fma(load(lower, (i, n + k, lane)), scaled, entry)
                store(lower, (i, n + j, lane), entry * inverse)
            store(lower, (j, n + j, lane), inverse)


@inner_function
def solve_autoregressive(lower, feature_lower, theta):
    """Set θ (n + LAGS, lanes), of the features and the past labels: for diagnostics.

    Lᵀθ = D⁻¹L⁻¹b, from the last coordinate up; or 0 where that is beyond float64.
    """
    n = feature_lower.shape[1]
    for lane in range(0, AUTOREGRESSIVE_LANES, WIDTH):
        for i in range(LAGS - 1, -1, -1):
            entry = load(lower, (LAGS, n + i, lane))
            for k in range(i + 1, LAGS):
                known = -1.0 * load(theta, (n + k, lane))
                entry = fma(load(lower, (k, n + i, lane)), known, entry)
            store(theta, (n + i, lane), finite_or_zero(entry))
        for i in range(n - 1, -1, -1):
            entry = load(feature_lower, (n, i, lane))
            for k in range(LAGS):
                known = -1.0 * load(theta, (n + k, lane))
                entry = fma(load(lower, (k, i, lane)), known, entry)
            for k in range(i + 1, n):
                known = -1.0 * load(theta, (k, lane))
                entry = fma(load(feature_lower, (k, i, lane)), known, entry)
            store(theta, (i, lane), finite_or_zero(entry))
