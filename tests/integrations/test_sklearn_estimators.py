"""The estimators beside the models that they hold, and in scikit-learn's own tools."""

import pickle
import subprocess
import sys
from types import SimpleNamespace

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import thalweg as tw
from thalweg.integrations.sklearn import (
    RLSRegressor,
    TrackerClassifier,
    TrackerRegressor,
)
from thalweg.integrations.sklearn.estimator_inputs import usable_names

ROWS = 120
RNG = np.random.default_rng(3)
X = RNG.normal(size=(ROWS, 3))
TRUTH = np.linspace([1.0, 2.0, -1.0], [2.0, 0.0, -1.0], ROWS)
Y = (X * TRUTH).sum(axis=1) + 0.5 + 0.1 * RNG.normal(size=ROWS)
LABELS = np.array(["low", "mid", "top"])[np.digitize(Y, [-1.0, 1.5])]
WEIGHTS = RNG.uniform(0.5, 2.0, ROWS)

REGRESSORS = [
    (RLSRegressor(), tw.RecursiveLeastSquares()),
    (RLSRegressor(half_life=20, floor=0.1), None),
    (TrackerRegressor(), tw.Tracker(information="features")),
    (TrackerRegressor("all", False, random_state=5), None),
]
LEARNERS = [
    learner or estimator._new_model().learner for estimator, learner in REGRESSORS
]
CASES = [
    (regressor, learner)
    for (regressor, _), learner in zip(REGRESSORS, LEARNERS, strict=True)
]


@pytest.mark.parametrize("estimator, learner", CASES)
def test_a_fit_is_one_run_of_the_model(estimator, learner):
    model = tw.Online(learner)
    model.run(X, Y, WEIGHTS)
    fitted = clone(estimator).fit(X, Y, sample_weight=WEIGHTS)
    np.testing.assert_array_equal(fitted.predict(X), model.predict(X))
    for mine, its in zip(
        fitted.predict(X, interval=0.8), model.predict(X, 0.8), strict=True
    ):
        np.testing.assert_array_equal(mine, its)


@pytest.mark.parametrize("estimator, learner", CASES)
def test_many_predictions_are_those_of_single_calls(estimator, learner):
    model = tw.Online(learner)
    for x, y in zip(X, Y, strict=True):
        model.update(x, y)
    fitted = clone(estimator).fit(X, Y)
    single = [model.predict(x) for x in X[:20]]
    np.testing.assert_array_equal(fitted.predict(X[:20]), single)


cuts = st.lists(st.integers(1, ROWS - 1), max_size=6, unique=True).map(sorted)


@settings(max_examples=12)
@given(cuts, st.booleans())
def test_chunks_of_partial_fit_equal_one_fit(places, has_weights):
    chunks = list(zip([0, *places], [*places, ROWS], strict=True))
    for estimator, _ in REGRESSORS:
        weights = WEIGHTS if has_weights else None
        whole, cut = clone(estimator).fit(X, Y, weights), clone(estimator)
        for a, b in chunks:
            cut.partial_fit(X[a:b], Y[a:b], weights[a:b] if has_weights else None)
        np.testing.assert_array_equal(cut.predict(X), whole.predict(X))
        np.testing.assert_array_equal(cut.coef_, whole.coef_)
        np.testing.assert_array_equal(
            np.array(cut.predict(X, interval=0.9)),
            np.array(whole.predict(X, interval=0.9)),
        )


@settings(max_examples=12)
@given(cuts, st.booleans())
def test_chunks_of_partial_fit_equal_one_fit_of_a_classifier(places, are_known):
    whole, cut = TrackerClassifier().fit(X, LABELS, WEIGHTS), TrackerClassifier()
    classes = np.unique(LABELS) if are_known else None
    for a, b in zip([0, *places], [*places, ROWS], strict=True):
        cut.partial_fit(X[a:b], LABELS[a:b], classes, WEIGHTS[a:b])
    np.testing.assert_array_equal(cut.classes_, ["low", "mid", "top"])
    np.testing.assert_array_equal(cut.predict_proba(X), whole.predict_proba(X))


@pytest.mark.parametrize("has_weights", [False, True])
def test_rows_one_by_one_equal_one_fit(has_weights):
    weights = WEIGHTS if has_weights else None
    cases = [(estimator, Y) for estimator, _ in REGRESSORS]
    cases += [(TrackerClassifier(), LABELS), (RLSRegressor(), X[:, :2])]
    for estimator, target in cases:
        whole, single = clone(estimator).fit(X, target, weights), clone(estimator)
        for t in range(ROWS):
            chunk = slice(t, t + 1)
            weight = weights[chunk] if has_weights else None
            single.partial_fit(X[chunk], target[chunk], sample_weight=weight)
        one_by_one = np.concatenate([single.predict(X[t : t + 1]) for t in range(9)])
        np.testing.assert_array_equal(one_by_one, whole.predict(X[:9]))
    with pytest.raises(ValueError, match="weight"):
        single.partial_fit(X[:1], X[:1, :2], sample_weight=[1.0, 1.0])


def test_a_classifier_is_one_run_of_the_model():
    model = tw.Classifier()
    model.run(X, LABELS)
    fitted = TrackerClassifier().fit(X, LABELS)
    columns = [model.classes.index(label) for label in fitted.classes_]
    np.testing.assert_array_equal(fitted.predict_proba(X), model.predict(X)[:, columns])
    assert fitted.predict(X).tolist() == model.classify(X)
    assert fitted.score(X, LABELS) == np.mean(fitted.predict(X) == LABELS) > 0.7


def test_classes_given_beforehand_have_probabilities_and_others_may_follow():
    estimator = TrackerClassifier().partial_fit(
        X[:5], [1, 2, 1, 2, 1], classes=[1, 2, 7]
    )
    assert estimator.predict_proba(X).shape == (ROWS, 3)
    estimator.partial_fit(X[:1], [4])
    np.testing.assert_array_equal(estimator.classes_, [1, 2, 4, 7])
    np.testing.assert_allclose(estimator.predict_proba(X).sum(axis=1), 1.0)


def test_without_forgetting_it_is_ridge_regression():
    estimator = RLSRegressor(discount=1.0, ridge=2.0, fit_intercept=False)
    estimator.fit(X, Y, sample_weight=WEIGHTS)
    theirs = Ridge(alpha=2.0, fit_intercept=False).fit(X, Y, sample_weight=WEIGHTS)
    np.testing.assert_allclose(estimator.coef_, theirs.coef_, rtol=1e-10)
    assert estimator.intercept_ == 0.0
    without_prior = RLSRegressor(discount=1.0, ridge=0.0).fit(X, Y)
    theirs = LinearRegression().fit(X, Y)
    np.testing.assert_allclose(without_prior.coef_, theirs.coef_, rtol=1e-10)
    assert without_prior.intercept_ == pytest.approx(theirs.intercept_, rel=1e-10)


def test_forgetting_is_least_squares_with_faded_weights():
    fading = 0.9 ** np.arange(ROWS)[::-1]
    estimator = RLSRegressor(discount=0.9, ridge=0.0).fit(X, Y)
    theirs = LinearRegression().fit(X, Y, sample_weight=fading)
    np.testing.assert_allclose(estimator.coef_, theirs.coef_, rtol=1e-8)


def test_least_squares_takes_several_targets():
    targets = np.column_stack([Y, -2 * Y])
    estimator = RLSRegressor().fit(X, targets)
    single = RLSRegressor().fit(X, Y)
    assert estimator.coef_.shape == (2, 3) and estimator.intercept_.shape == (2,)
    np.testing.assert_allclose(estimator.coef_[0], single.coef_, rtol=1e-12)
    prediction = X @ estimator.coef_.T + estimator.intercept_
    np.testing.assert_allclose(estimator.predict(X), prediction, rtol=1e-9, atol=1e-12)
    assert [part.shape for part in estimator.predict(X, 0.9)] == [(ROWS, 2)] * 3
    no_constant = RLSRegressor(fit_intercept=False).fit(X, targets)
    np.testing.assert_array_equal(no_constant.intercept_, np.zeros(2))


def test_of_several_targets_each_has_a_tracker_of_its_own():
    targets = np.column_stack([Y, np.cumsum(Y)])
    both = TrackerRegressor().fit(X, targets, WEIGHTS)
    assert both.predict(X).shape == (ROWS, 2)
    assert both.coef_.shape == (2, 3) and both.intercept_.shape == (2,)
    for k in range(2):
        own = TrackerRegressor().fit(X, targets[:, k], WEIGHTS)
        np.testing.assert_array_equal(both.predict(X)[:, k], own.predict(X))
        np.testing.assert_array_equal(both.coef_[k], own.coef_)
        assert both.intercept_[k] == own.intercept_
        for mine, its in zip(both.predict(X, 0.9), own.predict(X, 0.9), strict=True):
            np.testing.assert_array_equal(mine[:, k], its)


def test_how_many_targets_there_are_is_that_of_the_fit():
    estimator = RLSRegressor().fit(X, Y)
    with pytest.raises(ValueError, match=r"needs y of shape \(120\).*\(120, 2\)"):
        estimator.partial_fit(X, np.column_stack([Y, Y]))


def test_the_slope_of_a_tracker_and_its_forecast_at_zero():
    estimator = TrackerRegressor().fit(X, Y)
    np.testing.assert_allclose(estimator.coef_, TRUTH[-1], atol=0.15)
    assert estimator.intercept_ == estimator.predict(np.zeros((1, 3)))[0]


@pytest.mark.parametrize("estimator", [RLSRegressor(), TrackerRegressor()])
def test_what_the_model_learns_the_estimator_knows(estimator):
    estimator = clone(estimator).fit(X[:100], Y[:100])
    for x, y in zip(X[100:], Y[100:], strict=True):
        estimator.model_.update(x, y)
    whole = clone(estimator).fit(X, Y)
    np.testing.assert_array_equal(estimator.predict(X), whole.predict(X))
    np.testing.assert_array_equal(estimator.coef_, whole.coef_)


def test_a_random_state_that_is_no_number_draws_the_seed():
    draws = [TrackerRegressor(random_state=np.random.RandomState(k)) for k in (1, 1, 2)]
    seeds = [draw._new_model().learner.seed for draw in draws]
    assert seeds[0] == seeds[1] != seeds[2]
    assert TrackerRegressor(random_state=7)._new_model().learner.seed == 7


def test_a_refused_fit_leaves_the_earlier_one():
    estimator = RLSRegressor().fit(X, Y)
    before = estimator.predict(X)
    for settings_, weight, message in [
        ({"discount": 1.5}, None, "'discount' parameter of RecursiveLeastSquares"),
        ({"discount": 0.9, "half_life": 3}, None, "half_life"),
        ({"discount": 0.9, "half_life": None}, -np.ones(ROWS), "weight"),
        ({}, np.zeros(ROWS), "must not be all zero"),
        ({}, np.ones((ROWS, 2)), "weight"),
    ]:
        with pytest.raises(ValueError, match=message):
            estimator.set_params(**settings_).fit(X, Y, sample_weight=weight)
    np.testing.assert_array_equal(estimator.predict(X), before)


def test_missing_values_follow_the_policy():
    gaps = X.copy()
    gaps[::7, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        RLSRegressor().fit(gaps, Y)
    for missing in ("skip", "impute"):
        model = tw.Online(tw.RecursiveLeastSquares(), missing=missing)
        model.run(gaps, Y)
        fitted = RLSRegressor(missing=missing).fit(gaps, Y)
        np.testing.assert_array_equal(fitted.predict(gaps), model.predict(gaps))
    with pytest.raises(ValueError, match="infinity"):
        fitted.predict([[np.inf, 0.0, 0.0]])


@pytest.mark.parametrize("estimator", [RLSRegressor(), TrackerClassifier()])
def test_names_of_columns_are_known_and_reordered_ones_refused(estimator):
    frame = pd.DataFrame(X, columns=["load", "wind", "sun"])
    target = Y if isinstance(estimator, RLSRegressor) else LABELS
    fitted = clone(estimator).fit(frame, target)
    assert fitted.feature_names_in_.tolist() == ["load", "wind", "sun"]
    with pytest.raises(ValueError, match="same order"):
        fitted.predict(frame[["wind", "load", "sun"]])
    assert fitted.model_.feature_names == ("load", "wind", "sun")
    row = {"sun": X[0, 2], "wind": X[0, 1], "load": X[0, 0]}
    if isinstance(estimator, TrackerClassifier):
        probabilities = [fitted.model_.predict(row)[label] for label in fitted.classes_]
        assert probabilities == fitted.predict_proba(frame[:1])[0].tolist()
    else:
        assert fitted.model_.predict(row) == fitted.predict(frame[:1])[0]
        names = [*frame, "intercept"]
        by_name = dict(zip(names, [*fitted.coef_, fitted.intercept_], strict=True))
        assert fitted.model_.coefficients == by_name


def test_a_column_may_be_called_intercept():
    frame = pd.DataFrame(X, columns=["intercept", "a", "b"])
    fitted, unnamed = RLSRegressor().fit(frame, Y), RLSRegressor().fit(X, Y)
    np.testing.assert_array_equal(fitted.coef_, unnamed.coef_)
    assert fitted.intercept_ == unnamed.intercept_


@pytest.mark.parametrize("names", [["a", "a"], ["a", ""]])
def test_names_that_a_model_cannot_tell_apart_are_left_to_scikit_learn(names):
    frame = SimpleNamespace(feature_names_in_=np.array(names))
    assert usable_names(frame) is None


@pytest.mark.parametrize(
    "estimator, target",
    [(RLSRegressor(), Y), (TrackerRegressor(), Y), (TrackerClassifier(), LABELS)],
)
def test_a_pickle_learns_on(estimator, target):
    fitted = clone(estimator).fit(X[:60], target[:60])
    copy = pickle.loads(pickle.dumps(fitted))
    for each in (fitted, copy):
        each.partial_fit(X[60:], target[60:])
    np.testing.assert_array_equal(copy.predict(X), fitted.predict(X))


@pytest.mark.parametrize(
    "estimator, target",
    [(RLSRegressor(), Y), (TrackerRegressor(), Y), (TrackerClassifier(), LABELS)],
)
def test_what_joblib_maps_from_a_file_learns_on(estimator, target, tmp_path):
    fitted = clone(estimator).fit(X[:60], target[:60])
    joblib.dump(fitted, tmp_path / "estimator")
    mapped = joblib.load(tmp_path / "estimator", mmap_mode="r")
    for each in (fitted, mapped):
        each.partial_fit(X[60:], target[60:])
        each.partial_fit(X[:1], target[:1])
    np.testing.assert_array_equal(mapped.predict(X), fitted.predict(X))


def half_life_score(half_life, train, test):
    """R² of a model of thalweg's own, fed with rows that are standardised by hand."""
    mean, scale = X[train].mean(axis=0), X[train].std(axis=0)
    model = tw.Online(tw.RecursiveLeastSquares(half_life=half_life))
    model.run((X[train] - mean) / scale, Y[train])
    residuals = Y[test] - model.predict((X[test] - mean) / scale)
    return 1 - (residuals**2).mean() / Y[test].var()


def test_it_works_in_pipelines_splits_and_searches():
    pipeline = make_pipeline(StandardScaler(), RLSRegressor())
    folds = TimeSeriesSplit(4)
    grid = {"rlsregressor__half_life": [1.0, 5.0, 5000.0]}
    search = GridSearchCV(pipeline, grid, cv=folds).fit(X, Y)
    means = [
        np.mean([half_life_score(half_life, *fold) for fold in folds.split(X)])
        for half_life in grid["rlsregressor__half_life"]
    ]
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], means, rtol=1e-9)
    best = grid["rlsregressor__half_life"][np.argmax(means)]
    assert search.best_params_ == {"rlsregressor__half_life": best}
    scores = cross_val_score(TrackerRegressor(), X, Y, cv=folds)
    assert scores.shape == (4,) and scores[-1] > 0.8


def test_sample_weights_are_routed():
    with sklearn.config_context(enable_metadata_routing=True):
        estimator = RLSRegressor().set_fit_request(sample_weight=True)
        estimator.set_score_request(sample_weight=False)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        pipeline = make_pipeline(scaler, estimator)
        pipeline.fit(X, Y, sample_weight=WEIGHTS)
        rows = StandardScaler().fit_transform(X)
        direct = RLSRegressor().fit(rows, Y, WEIGHTS)
        np.testing.assert_array_equal(pipeline[-1].coef_, direct.coef_)
        request = TrackerClassifier().set_partial_fit_request(classes=True)
        assert request.get_metadata_routing().partial_fit.requests["classes"] is True


def test_only_the_adapter_imports_scikit_learn():
    code = (
        "import sys, thalweg, thalweg.models.online, thalweg.integrations\n"
        "print('sklearn' in sys.modules)"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert shown.stdout == "False\n"
