"""scikit-learn's own checks of estimators: benchmarks/sklearn_checks.py counts them."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from thalweg.integrations.sklearn import (
    RLSRegressor,
    TrackerClassifier,
    TrackerRegressor,
)

REPEATED_ROWS = "check_sample_weight_equivalence_on_dense_data"


def expected_failures(estimator):
    if getattr(estimator, "discount", None) == 1.0:
        return {}
    return {REPEATED_ROWS: "Time passes between two rows: they are not one twice."}


@parametrize_with_checks(
    [
        RLSRegressor(),
        RLSRegressor(discount=1.0, missing="impute"),
        TrackerRegressor(),
        TrackerClassifier(missing="skip"),
    ],
    expected_failed_checks=expected_failures,
)
def test_it_passes_what_scikit_learn_asks_of_estimators(estimator, check):
    check(estimator)
