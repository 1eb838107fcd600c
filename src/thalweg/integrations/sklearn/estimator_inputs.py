"""Rows, targets and weights as scikit-learn checks them, and how models take them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array, validate_data

from thalweg.errors import StreamError
from thalweg.imputer import POLICY_RULES, MissingPolicy
from thalweg.types import FloatArray


def finite_rule(missing: MissingPolicy) -> bool | str:
    """``ensure_all_finite`` of scikit-learn's checks: infinities are always refused."""
    rule = POLICY_RULES.get(missing)
    return "allow-nan" if rule is not None and rule.accepts else True


def check_queries(estimator: Any, X: Any) -> FloatArray:
    """Rows to predict at, (T, n); their names and number are those of the fit."""
    rule = finite_rule(estimator.missing)
    rows = validate_data(
        estimator, X, reset=False, dtype=np.float64, ensure_all_finite=rule
    )
    return np.asarray(rows)


def check_rounds(
    estimator: Any, X: Any, y: Any, reset: bool, **target_rules: bool
) -> tuple[FloatArray, Any]:
    """Rows (T, n) and targets; with ``reset`` their number and names are new."""
    rule = finite_rule(estimator.missing)
    rows, targets = validate_data(
        estimator, X, y, reset=reset, dtype=np.float64, ensure_all_finite=rule,
        **target_rules,
    )  # fmt: skip
    return np.asarray(rows), targets


def check_weights(
    estimator: Any, sample_weight: Any, allow_zeros: bool
) -> FloatArray | None:
    """The rows' weights, (T,), or None; the model refuses those below zero."""
    if sample_weight is None:
        return None
    weights = np.asarray(
        check_array(
            sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight"
        )
    )
    if not allow_zeros and not weights.any():
        raise StreamError(
            f"The sample weights of {type(estimator).__name__}.fit must not be all "
            f"zero. Got {len(weights)} zeros instead."
        )
    return weights


def learn_rounds(
    model: Any, rows: FloatArray, targets: Any, weights: FloatArray | None
) -> None:
    """Let a model learn the rounds; a single one by one compiled call, not a run."""
    if len(rows) == 1 and (weights is None or weights.shape == (1,)):
        weight = 1.0 if weights is None else float(weights[0])
        model.update(rows[0], targets[0], weight)
    else:
        model.run(rows, targets, weights)


def usable_names(estimator: Any) -> Sequence[str] | None:
    """The names of the features, if they are different and not empty, else None."""
    names = getattr(estimator, "feature_names_in_", None)
    if names is None or len(set(names)) < len(names) or not all(names):
        return None
    return [str(name) for name in names]
