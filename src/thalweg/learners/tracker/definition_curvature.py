"""The correction for curvature, in the Tracker's definition.

The kernel's twin is kernels/tracker/curvature.py, which has the formulas.
"""

import math
from typing import Any

import numpy as np

from thalweg.kernels.tracker import tracker_layout as layout
from thalweg.kernels.tracker.curvature import (
    CURVATURE_DISCOUNT,
    CURVATURE_RIDGE,
    MAX_CONTEXT,
    MAX_CORRECTION,
    MAX_LEARNT_ERROR,
    MAX_WEIGHT,
    MIN_GRAM_SCALE,
    MIN_RELATIVE_DEVIATION,
    SOLUTION_INTERVAL,
    row_start,
)
from thalweg.kernels.tracker.prediction_interval import SCALE_MEMORY
from thalweg.kernels.tracker.ridge_experts import MIN_SPREAD
from thalweg.learners.tracker.definition_experts import (
    update_variance,
)
from thalweg.learners.tracker.definition_rules import boa_weights, learn_boa
from thalweg.learners.tracker.definition_solve import (
    back_substitute,
    factorise,
    forward,
)
from thalweg.types import FloatArray

IS_CANDIDATE = layout.CANDIDATE_MASK > 0
FULL_CONFIDENCE = np.ones(layout.PADDED_RULES)


def context(s: Any, x: FloatArray, labels: FloatArray) -> FloatArray:
    """(x, the last label, its change) in standard deviations; labels newest first."""
    curvature, change = s.curvature, labels[0] - labels[1]
    values = np.concatenate([x, [labels[0], change]])
    means = np.concatenate(
        [s.experts.overall_mean, s.lags.overall_mean[:1], curvature.change_mean]
    )
    variances = np.concatenate(
        [s.experts.spread[0], s.lags.spread[:1], curvature.change_spread]
    )
    return standardise(values, means, variances)


def standardise(
    values: FloatArray, means: FloatArray, variances: FloatArray
) -> FloatArray:
    """Values in standard deviations from the mean, clipped; 0 if they never varied."""
    deviations = np.sqrt(variances)
    varied = variances > MIN_SPREAD
    varied &= deviations > MIN_RELATIVE_DEVIATION * abs(means)
    scores = (values - means) / np.where(varied, deviations, 1.0)
    return np.where(varied, np.clip(scores, -MAX_CONTEXT, MAX_CONTEXT), 0.0)


def hinges(curvature: Any, z: FloatArray) -> FloatArray:
    """The features φ of this context, (D,)."""
    seen = z[curvature.coordinates.astype(int)]
    ahead = (curvature.directions * seen).sum(axis=0) - curvature.biases
    return np.asarray(math.sqrt(2 / len(ahead)) * np.maximum(ahead, 0.0))


def correct(
    s: Any, mean: float, z: FloatArray, low: float, high: float
) -> tuple[float, FloatArray]:
    """The correction of the committee's prediction ``mean``, and its candidates, (3,).

    The corrected prediction stays within [low, high].
    """
    candidates = np.zeros(layout.CANDIDATES)
    if s.counters[layout.HINGE_COUNT] == 0:
        return 0.0, candidates
    correction = s.curvature.theta @ hinges(s.curvature, z)
    limit = MAX_CORRECTION * s.counters[layout.CORRECTION_SCALE]
    correction = min(max(correction, -limit), limit)
    candidates[1:] = np.clip([correction, correction / 2], low - mean, high - mean)
    weights = boa_weights(s.rules.correction, IS_CANDIDATE, FULL_CONFIDENCE)
    return float(weights[: layout.CANDIDATES] @ candidates), candidates


def learn_correction(
    s: Any, candidates: FloatArray, correction: float, error: float, w: float
) -> None:
    """Let BOA over the candidates learn the committee's error, if they differ."""
    spread, q = float(np.ptp(candidates)), np.zeros(layout.PADDED_RULES)
    q[: layout.CANDIDATES] = candidates
    if spread > 0:
        learn_boa(
            s.rules.correction, IS_CANDIDATE, FULL_CONFIDENCE, layout.CANDIDATES, q,
            correction, spread, error, w, s.counters[layout.ROUNDS],
        )  # fmt: skip


def learn_curvature(
    s: Any, z: FloatArray, error: float, w: float, elapsed: float
) -> None:
    """Learn the committee's error in the context z.

    It is winsorised; θ is solved for now and then.
    """
    counters = s.counters
    curvature = s.curvature
    scale = s.counters[layout.CORRECTION_SCALE]
    learnt = min(max(error, -MAX_LEARNT_ERROR * scale), MAX_LEARNT_ERROR * scale)
    features, decay = hinges(curvature, z), CURVATURE_DISCOUNT**elapsed
    update_gram(s, features, decay, min(w, MAX_WEIGHT), learnt)
    if counters[layout.ROUNDS] % SOLUTION_INTERVAL == 0:
        fold_scale(s)
        curvature.theta[:] = solve_gram(curvature)
    counters[layout.CORRECTION_COUNT] += 1
    memory = min(counters[layout.CORRECTION_COUNT], SCALE_MEMORY)
    counters[layout.CORRECTION_SCALE] += (abs(error) - scale) / memory


def update_gram(
    s: Any, features: FloatArray, decay: float, w: float, learnt: float
) -> None:
    """A ← λA + w φφᵀ, by rows from the start of the diagonal's vector; b ← λb + w φ e.

    Both are stored divided by ``GRAM_SCALE``.
    """
    size, curvature = len(features), s.curvature
    s.counters[layout.GRAM_SCALE] *= decay
    if s.counters[layout.GRAM_SCALE] < MIN_GRAM_SCALE:
        fold_scale(s)
    weighted = w / s.counters[layout.GRAM_SCALE] * features
    curvature.target[:] += weighted * learnt
    for i in range(size):
        start, first = row_start(i, size), i - i % 8
        row = curvature.gram[start + first : start + size]
        row += weighted[i] * features[first:]


def fold_scale(s: Any) -> None:
    """Multiply A and b by the scale they are stored without, which becomes 1."""
    s.curvature.gram[:] *= s.counters[layout.GRAM_SCALE]
    s.curvature.target[:] *= s.counters[layout.GRAM_SCALE]
    s.counters[layout.GRAM_SCALE] = 1.0


def solve_gram(curvature: Any) -> FloatArray:
    """(A + ridge)⁻¹b, as one lane of the experts' systems."""
    ridge = np.full((len(curvature.target), 1), CURVATURE_RIDGE)
    lower, pivots = factorise(dense_gram(curvature)[..., None], ridge)
    half = forward(lower, pivots, curvature.target[:, None])
    return back_substitute(lower, half)[:, 0]


def dense_gram(curvature: Any) -> FloatArray:
    """A as a matrix."""
    size = len(curvature.target)
    gram = np.zeros((size, size))
    for i in range(size):
        start = row_start(i, size)
        gram[i, i:] = gram[i:, i] = curvature.gram[start + i : start + size]
    return gram


def update_change(s: Any, labels: FloatArray, share: float) -> None:
    """The mean and the variance of the label's last change."""
    change, curvature = np.array([labels[0] - labels[1]]), s.curvature
    update_variance(curvature.change_mean, curvature.change_spread, change, share)
