"""Count which of scikit-learn's own estimator checks our estimators pass.

    python -m benchmarks.sklearn_checks

An expected failure is printed with its reason; any other ends the script with status 1.
"""

import sys
import warnings

import sklearn
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import check_estimator

from thalweg.integrations.sklearn import (
    RLSRegressor,
    TrackerClassifier,
    TrackerRegressor,
)

ORDER_MATTERS = {
    "check_sample_weight_equivalence_on_dense_data": (
        "A weight of 2 is not a row twice: time passes between two rows, and the past "
        "fades. To least squares with discount=1 it is, and the check passes."
    )
}
ESTIMATORS: list[tuple[BaseEstimator, dict[str, str]]] = [
    (RLSRegressor(), ORDER_MATTERS),
    (RLSRegressor(discount=1.0), {}),
    (RLSRegressor(missing="impute"), ORDER_MATTERS),
    (TrackerRegressor(), ORDER_MATTERS),
    (TrackerRegressor("all", curvature=False, missing="skip"), ORDER_MATTERS),
    (TrackerClassifier(), ORDER_MATTERS),
]


def main() -> int:
    """Run all checks, print the counts and return how many failed unexpectedly."""
    print(f"scikit-learn {sklearn.__version__}")
    failures = 0
    for estimator, expected in ESTIMATORS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results = check_estimator(
                estimator, expected_failed_checks=expected, on_fail=None, on_skip=None
            )
        by_status: dict[str, list[dict[str, object]]] = {}
        for result in results:
            by_status.setdefault(str(result["status"]), []).append(result)
        counts = ", ".join(f"{len(found)} {name}" for name, found in by_status.items())
        print(f"{estimator}: {len(results)} checks, {counts}")
        for status in ("xfail", "skipped", "failed"):
            for result in by_status.get(status, []):
                is_expected = status == "xfail"
                key = "expected_to_fail_reason" if is_expected else "exception"
                print(f"  {status}: {result['check_name']}: {result[key]}")
        failures += len(by_status.get("failed", []))
    return failures


if __name__ == "__main__":
    sys.exit(main() > 0)
