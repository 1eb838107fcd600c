"""Prequential evaluation (test-then-train) of anything that predicts and learns."""

import numpy as np
import pytest

from thalweg import (
    Block,
    DiscountedNewton,
    Logistic,
    Online,
    RecursiveLeastSquares,
    Tracker,
    evaluation,
)
from thalweg.errors import InvalidParameterError, StreamError, UnsupportedLossError
from thalweg.evaluation import PrequentialResult, prequential
from thalweg.evaluation.prequential import predictions
from thalweg.evaluation.simple_baselines import SimpleBaselines

T = 150
RNG = np.random.default_rng(2)
X = RNG.normal(size=(T, 3))
Y = X @ [1.0, -2.0, 0.5] + 0.3 * RNG.normal(size=T).cumsum()
BLOCK = Block(X, Y)
WITH_MISSING_FEATURES = np.where(RNG.random((T, 3)) < 0.1, np.nan, X)
WITH_MISSING_LABELS = np.where(RNG.random(T) < 0.1, np.nan, Y)
RLS = RecursiveLeastSquares(0.98)


class SlowModel:
    """The definition: every row is kept, and learnt again for each prediction."""

    def __init__(self):
        self.rows, self.labels = [], []

    def predict(self, x):
        if not self.rows:
            return 0.0
        model = Online(RLS, intercept=False)
        model.run(np.array(self.rows), np.array(self.labels))
        return model.predict(x)

    def update(self, x, y):
        self.rows.append(x)
        self.labels.append(y)


@pytest.mark.parametrize("delay", [0, 1, 7])
def test_a_learner_predicts_from_the_labels_that_are_known(delay):
    expected = predictions(SlowModel(), BLOCK, delay)
    np.testing.assert_array_equal(predictions(RLS, BLOCK, delay), expected)
    model = Online(RLS, intercept=False)
    np.testing.assert_array_equal(predictions(model, BLOCK, delay), expected)


@pytest.mark.parametrize("delay", [0, 1, 7])
def test_errors_are_means_beside_those_of_persistence(delay):
    result = prequential(RLS, BLOCK, delay=delay, burn_in=20)
    assert isinstance(result, PrequentialResult)
    scored = slice(max(20, delay + 1), T)
    known = [Y[t - delay - 1] if t > delay else np.nan for t in range(T)]
    np.testing.assert_array_equal(SimpleBaselines(delay).play(Y)[:, 0], known)
    for forecast, squared, absolute in (
        (result.prediction, result.squared, result.absolute),
        (known, result.persistence_squared, result.persistence_absolute),
    ):
        errors = (forecast - Y)[scored]
        assert squared == pytest.approx(np.mean(errors**2), rel=1e-12)
        assert absolute == pytest.approx(np.mean(np.abs(errors)), rel=1e-12)
    assert (result.rounds, result.scored_rounds) == (T, T - scored.start)
    assert result.ratio == result.squared / result.persistence_squared


def test_the_tracker_is_told_of_the_delay():
    expected = Online(Tracker(delay=5), intercept=False).run(X, Y).prediction
    np.testing.assert_array_equal(predictions(Tracker(), BLOCK, 5), expected)
    np.testing.assert_array_equal(predictions(Tracker(delay=5), BLOCK, 5), expected)
    with pytest.raises(InvalidParameterError, match="Got 5 and 3 instead"):
        prequential(Tracker(delay=5), BLOCK, delay=3)


@pytest.mark.parametrize("missing", ["skip", "impute"])
@pytest.mark.parametrize("learner", [RLS, Tracker()], ids=["RLS", "Tracker"])
def test_missing_values_are_those_of_online(learner, missing):
    model = Online(learner, intercept=False, missing=missing)
    expected = model.run(WITH_MISSING_FEATURES, WITH_MISSING_LABELS).prediction
    block = Block(WITH_MISSING_FEATURES, WITH_MISSING_LABELS)
    result = prequential(learner, block, missing=missing)
    np.testing.assert_array_equal(result.prediction, expected)
    known = ~np.isnan(
        WITH_MISSING_LABELS - SimpleBaselines().play(WITH_MISSING_LABELS)[:, 0]
    )
    assert result.scored_rounds == known.sum()
    late = prequential(learner, block, missing=missing, delay=4)
    assert np.isfinite(late.prediction).all() and late.squared > 0


def test_missing_features_are_refused_unless_a_policy_is_given():
    with pytest.raises(StreamError, match="not finite: x"):
        prequential(RLS, Block(WITH_MISSING_FEATURES, Y))


def test_river_models_and_functions_are_learners_too():
    linear = pytest.importorskip("river.linear_model")
    expected, model = [], linear.LinearRegression()
    for x, y in zip(X.tolist(), Y.tolist(), strict=True):
        expected.append(model.predict_one(dict(enumerate(x))))
        model.learn_one(dict(enumerate(x)), y)
    result = prequential(linear.LinearRegression(), BLOCK)
    assert result.name == "LinearRegression"
    np.testing.assert_array_equal(result.prediction, expected)

    def zero(block, delay):
        return np.zeros(len(block))

    result = prequential(zero, BLOCK)
    assert (result.name, result.squared) == ("zero", np.mean(Y[1:] ** 2))


def test_a_model_that_breaks_down_predicts_nan_from_there_on():
    class Fragile:
        def __init__(self):
            self.rounds = 0

        def predict(self, x):
            return 1.0

        def update(self, x, y):
            self.rounds += 1
            if self.rounds == 10:
                raise OverflowError

    result = prequential(Fragile(), BLOCK)
    assert (result.prediction[:10] == 1).all() and np.isnan(
        result.prediction[10:]
    ).all()
    assert np.isnan(result.squared)


def test_a_loss_that_the_learner_cannot_minimise_is_refused():
    labels = np.where(Y > 0, 1.0, -1.0)
    result = evaluation.prequential(RLS, Block(X, labels), name="least squares")
    assert result.name == "least squares"
    with pytest.raises(UnsupportedLossError, match="Logistic"):
        prequential(RecursiveLeastSquares(), Block(X, labels), loss=Logistic())


@pytest.mark.parametrize("delay", [0, 3])
def test_with_logistic_loss_the_squared_error_is_that_of_probabilities(delay):
    labels = 1.0 * (Y > 0)
    learner = DiscountedNewton(0.99)
    result = prequential(learner, Block(X, labels), loss=Logistic(), delay=delay)
    p = result.prediction
    assert (p >= 0).all() and (p <= 1).all()
    brier = np.mean((p - labels)[delay + 1 :] ** 2)
    assert result.squared == pytest.approx(brier, rel=1e-12)
    assert result.squared < 0.25


def test_a_result_prints_as_a_sentence():
    text = str(prequential(RLS, BLOCK, burn_in=40))
    assert text.startswith("RecursiveLeastSquares: mean squared error ")
    assert "of persistence's" in text and text.endswith("110 of 150 rounds scored")


def test_nothing_to_score_is_nan_and_no_error_is_no_ratio():
    result = prequential(RLS, BLOCK[:1])
    assert result.scored_rounds == 0 and np.isnan(result.squared)
    constant = prequential(RLS, Block(X, np.zeros(T)))
    assert constant.ratio == 1.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"delay": -1}, "'delay' parameter of prequential"),
        ({"burn_in": -1}, "'burn_in' parameter of prequential"),
        ({"missing": "drop"}, "'missing' parameter of prequential"),
        ({"learner": 3}, "'learner' parameter of prequential"),
    ],
)
def test_wrong_arguments_are_refused_by_name(arguments, message):
    given = {"learner": RLS, "block": BLOCK} | arguments
    with pytest.raises(InvalidParameterError, match=message):
        prequential(given.pop("learner"), given.pop("block"), **given)


@pytest.mark.parametrize("delay", [0, 3])
def test_a_result_has_the_errors_of_simple_baselines_in_the_same_rounds(delay):
    rng = np.random.default_rng(5)
    y = np.tile([1.0, 4.0, 2.0, 8.0, 5.0, 7.0], 50) + 0.1 * rng.normal(size=300)
    y[::17] = np.nan
    block = Block(rng.normal(size=(300, 2)), y)
    result = prequential(RLS, block, delay=delay, burn_in=150, missing="skip")
    by_name = {one.name: one for one in result.baselines}
    season, scored = "seasonal mean (6 rows)", ~np.isnan(y) & (np.arange(300) >= 150)
    simple = SimpleBaselines(delay)
    forecasts = simple.play(y)
    names = [info and info.name for info in simple.display_infos()]
    for name, forecast in zip(names, forecasts.T, strict=True):
        if name is not None:
            errors = (forecast - y)[scored]
            assert by_name[name].squared == pytest.approx(np.mean(errors**2))
            assert by_name[name].absolute == pytest.approx(np.mean(np.abs(errors)))
    assert result.best_baseline.name == season
    assert by_name["persistence"].squared == result.persistence_squared
    squares = [one.squared for one in result.baselines]
    assert squares == sorted(squares)
    assert result.baseline_ratio == result.squared / squares[0] > result.ratio
    assert f"of {season}'s" in str(result)
