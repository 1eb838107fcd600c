r"""The light level experts with the last labels as further features.

Also known as: ARX, autoregression with exogenous inputs.

Their system is that of the light levels (ridge_experts.py), bordered by a few rows: the
factors of the features serve both, and only the rows of the past labels are computed
here. With x̃ first and the past labels behind, a prediction is that of the light level
plus what the past labels add, and so is its leverage.
"""

from thalweg.kernels.compiler.jit import inline_function, inner_function
from thalweg.kernels.compiler.simd import WIDTH, fma, load, maximum, store
from thalweg.kernels.tracker import tracker_layout as layout
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

LAG_RIDGE = layout.RIDGE[0]
"""The ridge of a past label, in units of one observation of its own spread."""


@inner_function
def set_lag_deviations(counters, past_y, mean, labels, u, age):
    """Set the past labels, (LAGS,), and their deviations from means, (LAGS, lanes)."""
    now = newest_label(counters)
    for i in range(layout.LAGS):
        y = labels[i] = past_y[now + past_lag(counters, age, i) - 1]
        for lane in range(0, layout.AUTOREGRESSIVE_LANES, WIDTH):
            store(u, (i, lane), y - load(mean, (i, lane)))


@inner_function
def predict_autoregressive(lags, experts, predictions):
    """Add to the light levels' predictions and leverages what past labels add.

    ``lags`` and ``experts`` are the workspaces of both. In every lane, with rows of
    past labels i behind those of features k, w_i = u_i - Σ_k L_ik w_k, prediction
    += v_i w_i and leverage += w_i²/D_i.
    """
    n, lower = len(experts.projection), lags.lower
    for lane in range(0, layout.AUTOREGRESSIVE_LANES, WIDTH):
        expected, h = load(predictions, lane), load(experts.leverage, lane)
        for i in range(layout.LAGS):
            w = load(lags.deviations, (i, lane))
            for k in range(n):
                known = -1.0 * load(experts.projection, (k, lane))
                w = fma(load(lower, (i, k, lane)), known, w)
            for k in range(i):
                known = -1.0 * load(lags.projection, (k, lane))
                w = fma(load(lower, (i, n + k, lane)), known, w)
            store(lags.projection, (i, lane), w)
            h = fma(w * load(lower, (i, n + i, lane)), w, h)
            expected = fma(load(lower, (layout.LAGS, n + i, lane)), w, expected)
        store(lags.leverage, lane, finite_leverage(h))
        store(predictions, layout.AUTOREGRESSIVE + lane, expected)


@inner_function
def learn_lags(lags, u, weight, outer_weight, decay, labels, lag_u, w, share):
    """Update the means, moments and spreads of the past labels.

    u (n + 1, LANES) are the deviations of x and y, ``labels`` and ``lag_u`` the past
    labels and their deviations; ``weight`` is that of the means, this round's included.
    As in ridge_experts.py.
    """
    moments, n = lags.moments, len(u) - 1
    for i in range(layout.LAGS):
        update_variance(lags.overall_mean, lags.spread, i, labels[i], share)
    for lane in range(0, layout.AUTOREGRESSIVE_LANES, WIDTH):
        c, gamma = load(outer_weight, lane), load(decay, lane)
        step = w / load(weight, lane)
        for i in range(layout.LAGS):
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
            updated = fma(gamma, load(moments, (layout.LAGS, n + i, lane)), product)
            store(moments, (layout.LAGS, n + i, lane), updated)


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
    for lane in range(0, layout.AUTOREGRESSIVE_LANES, WIDTH):
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
    those of D⁻¹L⁻¹b, the last row.

    First what is left of the moments without the features' part, S - Σ_k D_k L_k L_kᵀ:
    nine entries, which stay in registers. Then the columns, one after the other.
    """
    moments, lower, negative_d = lags.moments, workspace.lower, workspace.negative_d
    n, spread = feature_lower.shape[1], lags.spread
    for lane in range(0, layout.AUTOREGRESSIVE_LANES, WIDTH):
        d_0 = load(moments, (0, n, lane)) + _lag_ridge(spread[0])
        d_1 = load(moments, (1, n + 1, lane)) + _lag_ridge(spread[1])
        d_2 = load(moments, (2, n + 2, lane)) + _lag_ridge(spread[2])
        s_00, s_11, s_22 = d_0, d_1, d_2
        s_10, s_20 = load(moments, (1, n, lane)), load(moments, (2, n, lane))
        s_21, b_0 = (
            load(moments, (2, n + 1, lane)),
            load(moments, (layout.LAGS, n, lane)),
        )
        b_1, b_2 = (
            load(moments, (layout.LAGS, n + 1, lane)),
            load(moments, (layout.LAGS, n + 2, lane)),
        )
        for k in range(n):
            minus_d = load(work, (NEGATIVE_D, k, lane))
            l_0, l_1 = load(lower, (0, k, lane)), load(lower, (1, k, lane))
            l_2, l_b = load(lower, (2, k, lane)), load(feature_lower, (n, k, lane))
            scaled = l_0 * minus_d
            s_00, s_10 = fma(scaled, l_0, s_00), fma(l_1, scaled, s_10)
            s_20, b_0 = fma(l_2, scaled, s_20), fma(l_b, scaled, b_0)
            scaled = l_1 * minus_d
            s_11, s_21 = fma(scaled, l_1, s_11), fma(l_2, scaled, s_21)
            b_1 = fma(l_b, scaled, b_1)
            scaled = l_2 * minus_d
            s_22, b_2 = fma(scaled, l_2, s_22), fma(l_b, scaled, b_2)
        pivot = maximum(s_00, MIN_RELATIVE_PIVOT * d_0)
        inverse = 1.0 / pivot
        _store_pivot(lower, negative_d, 0, lane, pivot, inverse)
        l_10, l_20, v_0 = s_10 * inverse, s_20 * inverse, b_0 * inverse
        scaled = l_10 * (-1.0 * pivot)
        s_11, s_21 = fma(scaled, l_10, s_11), fma(l_20, scaled, s_21)
        b_1 = fma(v_0, scaled, b_1)
        scaled = l_20 * (-1.0 * pivot)
        s_22, b_2 = fma(scaled, l_20, s_22), fma(v_0, scaled, b_2)
        pivot = maximum(s_11, MIN_RELATIVE_PIVOT * d_1)
        inverse = 1.0 / pivot
        _store_pivot(lower, negative_d, 1, lane, pivot, inverse)
        l_21, v_1 = s_21 * inverse, b_1 * inverse
        scaled = l_21 * (-1.0 * pivot)
        s_22, b_2 = fma(scaled, l_21, s_22), fma(v_1, scaled, b_2)
        pivot = maximum(s_22, MIN_RELATIVE_PIVOT * d_2)
        inverse = 1.0 / pivot
        _store_pivot(lower, negative_d, 2, lane, pivot, inverse)
        store(lower, (1, n, lane), l_10)
        store(lower, (2, n, lane), l_20)
        store(lower, (2, n + 1, lane), l_21)
        store(lower, (layout.LAGS, n, lane), v_0)
        store(lower, (layout.LAGS, n + 1, lane), v_1)
        store(lower, (layout.LAGS, n + 2, lane), b_2 * inverse)


@inline_function
def _lag_ridge(spread):
    """The ridge of a past label of this spread."""
    ridge = LAG_RIDGE * spread
    return ridge if ridge > MIN_SPREAD else UNVARIED_RIDGE


@inline_function
def _store_pivot(lower, negative_d, j, lane, pivot, inverse):
    """Store D and 1/D of past label j."""
    store(negative_d, (j, lane), -1.0 * pivot)
    store(lower, (j, lower.shape[1] - layout.LAGS + j, lane), inverse)


@inner_function
def solve_autoregressive(lower, feature_lower, theta):
    """Set θ (n + LAGS, lanes), of the features and the past labels: for diagnostics.

    Lᵀθ = D⁻¹L⁻¹b, from the last coordinate up; or 0 where that is beyond float64.
    """
    n = feature_lower.shape[1]
    for lane in range(0, layout.AUTOREGRESSIVE_LANES, WIDTH):
        for i in range(layout.LAGS - 1, -1, -1):
            entry = load(lower, (layout.LAGS, n + i, lane))
            for k in range(i + 1, layout.LAGS):
                known = -1.0 * load(theta, (n + k, lane))
                entry = fma(load(lower, (k, n + i, lane)), known, entry)
            store(theta, (n + i, lane), finite_or_zero(entry))
        for i in range(n - 1, -1, -1):
            entry = load(feature_lower, (n, i, lane))
            for k in range(layout.LAGS):
                known = -1.0 * load(theta, (n + k, lane))
                entry = fma(load(lower, (k, i, lane)), known, entry)
            for k in range(i + 1, n):
                known = -1.0 * load(theta, (k, lane))
                entry = fma(load(feature_lower, (k, i, lane)), known, entry)
            store(theta, (i, lane), finite_or_zero(entry))
