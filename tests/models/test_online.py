import contextlib
import pickle

import numpy as np
import pytest

import thalweg as tw
from tests.contracts.examples import example_learners
from thalweg.errors import (
    InvalidParameterError,
    StreamError,
    ThalwegError,
    UnsupportedLossError,
)
from thalweg.learners.tracker.workspace import TrackerWorkspace
from thalweg.losses import LinearLoss

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3))
Y = X @ [1.0, -2.0, 0.5] + 0.3 + 0.1 * RNG.normal(size=80)
LEARNERS = [
    example for example in example_learners() if isinstance(example[1], LinearLoss)
]


def labels_for(loss):
    return 1.0 * (Y > 0) if isinstance(loss, tw.Logistic) else Y


@pytest.mark.parametrize("learner, loss", LEARNERS, ids=lambda e: type(e).__name__)
def test_single_calls_and_whole_arrays_agree_to_the_last_bit(learner, loss):
    whole, single = tw.Online(learner, loss), tw.Online(learner, loss)
    trace = whole.run(X, labels_for(loss))
    for t, (x, y) in enumerate(zip(X, labels_for(loss), strict=True)):
        assert single.predict(x) == trace.prediction[t]
        single.update(x, y)
    if learner.plays_points or isinstance(learner, tw.Tracker):
        np.testing.assert_array_equal(single.coefficients, whole.coefficients)
    else:
        assert single.coefficients is None
    assert single.rounds == whole.rounds == 80


@pytest.mark.parametrize(
    "learner",
    [
        tw.LogisticTracker(),
        tw.DiscountedNewton(0.99),
        tw.DiscountedGradient(0.99),
        tw.Experts((tw.DiscountedNewton(0.9), tw.DiscountedNewton(0.99))),
    ],
    ids=lambda learner: type(learner).__name__,
)
@pytest.mark.parametrize("missing", ["refuse", "skip"])
def test_of_logistic_loss_a_model_predicts_probabilities(learner, missing):
    """Single calls and runs alike; the learner's own prediction is the log-odds."""
    loss, labels = tw.Logistic(), 1.0 * (Y > 0)
    model, whole = (
        tw.Online(learner, loss, intercept=True, missing=missing) for _ in range(2)
    )
    assert model.predict(X[0]) == pytest.approx(0.5, rel=1e-15)
    trace = whole.run(X, labels)
    for t in range(40):
        assert model.predict(X[t]) == trace.prediction[t]
        model.update(X[t], labels[t])
    row = np.append(X[40], 1.0)
    log_odds = learner.predict(model.state, row)
    probability = model.predict(X[40])
    assert probability == trace.prediction[40] == model.predict(X[40].astype(">f8"))
    np.testing.assert_allclose(probability, 1 / (1 + np.exp(-log_odds)), rtol=1e-14)
    p = np.where(labels == 1, trace.prediction, 1 - trace.prediction)
    # 1 - p is rounded to 1e-16, and is as small as 1e-5 here.
    np.testing.assert_allclose(trace.loss, -np.log(p), rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("kind", [list, tuple, np.float32, np.asfortranarray])
def test_features_of_other_kinds_are_taken_as_they_are(kind):
    whole, single = tw.Online(), tw.Online()
    if kind is np.float32:
        rows = X.astype(np.float32)
    elif kind is np.asfortranarray:
        rows = np.asfortranarray(np.repeat(X, 2, axis=1))[:, ::2]
    else:
        rows = X
    trace = whole.run(rows, Y)
    for t, (x, y) in enumerate(zip(rows, Y, strict=True)):
        given = kind(x) if kind in (list, tuple) else x
        assert single.predict(given) == trace.prediction[t]
        single.update(given, float(y), weight=1.0)
    np.testing.assert_array_equal(single.coefficients, whole.coefficients)


def test_single_and_whole_calls_may_alternate():
    whole, mixed = tw.Online(), tw.Online()
    weights, elapsed = RNG.uniform(0, 2, size=(2, 80))
    trace = whole.run(X, Y, weights, elapsed)
    first = mixed.run(X[:30], Y[:30], weights[:30], elapsed[:30])
    predictions = list(first.prediction)
    for t in range(30, 60):
        predictions.append(mixed.predict(X[t]))
        mixed.update(X[t], Y[t], weights[t], elapsed[t])
    predictions += list(
        mixed.run(X[60:], Y[60:], weights[60:], elapsed[60:]).prediction
    )
    np.testing.assert_array_equal(predictions, trace.prediction)
    for a, b in zip(mixed.state, whole.state, strict=True):
        np.testing.assert_array_equal(a, b)


def test_an_intercept_is_learnt_unless_it_is_switched_off():
    model = tw.Online(tw.RecursiveLeastSquares(1.0, ridge=1e-9))
    model.run(X, X @ [1.0, -2.0, 0.5] + 0.3)
    np.testing.assert_allclose(model.coefficients, [1.0, -2.0, 0.5, 0.3], atol=1e-6)
    assert tw.Online(intercept=False).run(X, Y).prediction.shape == (80,)
    plain = tw.Online(tw.RecursiveLeastSquares(), intercept=False)
    plain.update(X[0], Y[0])
    assert plain.coefficients.shape == (3,)


def test_predicts_zero_before_it_has_learnt_and_does_not_settle_on_a_size():
    model = tw.Online()
    assert model.predict([1.0, 2.0]) == 0.0
    assert model.predict([1.0, 2.0, 3.0]) == 0.0
    assert model.state is None and model.coefficients is None


def test_weights_elapsed_time_and_targets_reach_the_learner():
    model = tw.Online(tw.RecursiveLeastSquares(), intercept=False)
    model.update(X[0], [1.0, 2.0], weight=2.0, elapsed=3.0)
    learner = tw.RecursiveLeastSquares()
    block = tw.Block(X[:1], np.array([[1.0, 2.0]]), [2.0], [3.0])
    state, _ = learner.run(learner.init(np.zeros((3, 2))), tw.SquaredError(), block)
    np.testing.assert_array_equal(model.coefficients, state.theta)
    assert model.predict(X[1]).shape == (2,)


@pytest.mark.parametrize("missing", ["refuse", "skip", "impute"])
def test_the_first_update_of_a_tracker_builds_one_workspace(monkeypatch, missing):
    built = []
    initialise = TrackerWorkspace.__init__

    def count_and_initialise(workspace, *given):
        built.append(workspace)
        initialise(workspace, *given)

    monkeypatch.setattr(TrackerWorkspace, "__init__", count_and_initialise)
    model = tw.Online(missing=missing)
    model.update(X[0], Y[0])
    assert len(built) == 1
    model.update(X[1], Y[1])
    assert len(built) == 1 and model.rounds == 2


SIGNED_ZEROS = np.array([0.0, -0.0, 3.0])
FIRST_ROWS = [
    (X[0], False), (X[0], True), (SIGNED_ZEROS, False), (SIGNED_ZEROS, True),
    (np.array([]), True),
]  # fmt: skip


@pytest.mark.parametrize("learner", [tw.Tracker(), tw.RecursiveLeastSquares()])
@pytest.mark.parametrize("missing", ["refuse", "skip", "impute"])
@pytest.mark.parametrize("row, intercept", FIRST_ROWS)
def test_the_first_update_leaves_the_snapshot_that_a_run_leaves(
    learner, missing, intercept, row
):
    single, whole = (tw.Online(learner, None, intercept, missing) for _ in range(2))
    single.update(row, Y[0], 0.5, 2.0)
    whole.run(row[None], Y[:1], [0.5], [2.0])
    assert pickle.dumps(single) == pickle.dumps(whole)


FIRST_REFUSALS = {
    "NaN in x": (np.array([np.nan, 0.0, 0.0]), 1.0, 1.0),
    "NaN in y": (X[0], np.nan, 1.0),
    "a negative weight": (X[0], 1.0, -1.0),
    "an int beyond float64": (X[0], 10**400, 1.0),
    "too large by its weight": (np.full(3, 1e150), 1.0, 100.0),
    "no features": (np.array([]), 1.0, 1.0),
}


@pytest.mark.parametrize("learner", [tw.Tracker(), tw.RecursiveLeastSquares()])
@pytest.mark.parametrize("x, y, weight", FIRST_REFUSALS.values(), ids=FIRST_REFUSALS)
def test_a_refused_first_update_says_what_a_run_says_and_leaves_no_trace(
    learner, x, y, weight
):
    single, whole = (tw.Online(learner, intercept=False) for _ in range(2))
    with pytest.raises(ThalwegError) as expected:
        whole.run(x[None], np.array([np.inf if y == 10**400 else y]), [weight])
    with pytest.raises(type(expected.value)) as caught:
        single.update(x, y, weight)
    assert str(caught.value) == str(expected.value)
    assert single.state is None and single.rounds == 0 and single.refusals == 1
    single.update(X[0, :2], Y[0])  # the number of features is still open
    assert single.rounds == 1


BAD = {
    "NaN in x": ([np.nan, 0, 0], 1.0, "x[0, 0] is nan"),
    "infinity in x": ([0, np.inf, 0], 1.0, "x[0, 1] is inf"),
    "NaN in y": ([0, 0, 0], np.nan, "y[0] is nan"),
    "too large": ([0, 1e200, 0], 1.0, "larger than 1e+150"),
    "too few features": ([0, 0], 1.0, "learnt from 3 features a round. Got 2"),
    "too many features": ([0, 0, 0, 0], 1.0, "from 3 features a round. Got 4"),
    "a number for x": (3.0, 1.0, "one row of features a round"),
    "a matrix for x": (np.zeros((2, 3)), 1.0, "one row of features a round"),
    "text in x": (["a", "b", "c"], 1.0, "must hold numbers"),
    "objects in x": (np.array([None, 1, 2], object), 1.0, "must hold numbers"),
    "text in y": ([0, 0, 0], "high", "must hold numbers"),
    "a vector for y": ([0, 0, 0], [1.0, 2.0], "needs y of shape (1)"),
    "no y": ([0, 0, 0], None, "must hold numbers"),
    "ragged x": ([[1], [1, 2], [3]], 1.0, ""),
}


@pytest.mark.parametrize("x, y, message", BAD.values(), ids=BAD)
def test_a_bad_round_is_refused_and_leaves_no_trace(x, y, message):
    model = tw.Online()
    model.run(X, Y)
    before = [part.tobytes() for part in model.state]
    with pytest.raises(ThalwegError) as caught:
        model.update(x, y)
    assert message in str(caught.value)
    assert [part.tobytes() for part in model.state] == before
    assert model.rounds == 80


@pytest.mark.parametrize("weight, elapsed", [(-1.0, 1.0), (1.0, -1.0), (np.nan, 1.0)])
def test_a_bad_rate_is_refused(weight, elapsed):
    with pytest.raises(StreamError, match="Round 0"):
        tw.Online().update(X[0], Y[0], weight, elapsed)


def test_a_bad_row_to_predict_is_refused():
    model = tw.Online()
    model.run(X, Y)
    with pytest.raises(StreamError, match=r"x\[0, 2\] is nan"):
        model.predict([0.0, 0.0, np.nan])


def test_a_loss_that_is_not_of_a_linear_prediction_is_refused():
    with pytest.raises(UnsupportedLossError, match="linear prediction"):
        tw.Online(tw.DiscountedGradient(), tw.Tracking())
    with pytest.raises(UnsupportedLossError, match="learns from SquaredError"):
        tw.Online(loss=tw.Logistic())


def test_the_representation_names_the_settings():
    text = repr(tw.Online(tw.RecursiveLeastSquares()))
    assert "RecursiveLeastSquares(discount=0.99" in text and "intercept=True" in text


def test_a_tracker_reports_its_memory_explanation_and_interval():
    model = tw.Online()
    assert model.memory == 0.0 and "No rows learnt yet" in model.explain()
    model.run(X, Y)
    assert 1 <= model.memory <= 80
    assert "After 80 rows" in model.explain()
    interval = model.predict(X[0], interval=0.9)
    assert isinstance(interval, tw.Interval)
    assert interval.low < interval.mean < interval.high
    assert interval.mean == model.predict(X[0])


@pytest.mark.parametrize(
    "ask",
    [
        lambda model: model.memory,
        lambda model: model.explain(),
    ],
)
def test_methods_of_the_tracker_are_refused_for_other_learners(ask):
    model = tw.Online(tw.RecursiveLeastSquares())
    model.run(X, Y)
    with pytest.raises(ThalwegError, match="known of a Tracker"):
        ask(model)


@pytest.mark.parametrize("learner, loss", LEARNERS, ids=lambda e: type(e).__name__)
def test_a_saved_model_continues_to_the_last_bit(learner, loss, tmp_path):
    model, y = tw.Online(learner, loss), labels_for(loss)
    model.run(X[:40], y[:40])
    model.save(tmp_path / "m.thalweg")
    loaded, cloned = tw.Online.load(tmp_path / "m.thalweg"), model.clone()
    expected = model.run(X[40:], y[40:]).prediction
    for other in (loaded, cloned):
        assert other.rounds == 40
        np.testing.assert_array_equal(other.run(X[40:], y[40:]).prediction, expected)


def test_a_model_that_has_learnt_nothing_can_be_saved(tmp_path):
    tw.Online(intercept=False).save(tmp_path / "m.thalweg")
    loaded = tw.Online.load(tmp_path / "m.thalweg")
    assert loaded.state is None and not loaded.intercept


@pytest.mark.parametrize("learner", [tw.Tracker(), tw.RecursiveLeastSquares()])
@pytest.mark.parametrize(
    "weight, elapsed", [("2", 1.0), (1.0, "3"), ([1.0], 1.0), (1j, 1.0), (10**400, 1.0)]
)
def test_single_calls_refuse_the_rates_that_runs_refuse(learner, weight, elapsed):
    model = tw.Online(learner)
    model.run(X, Y)
    before = [part.tobytes() for part in model.state]
    with pytest.raises(ThalwegError):
        model.update(X[0], 1.0, weight, elapsed)
    assert [part.tobytes() for part in model.state] == before


@pytest.mark.parametrize("learner", [tw.Tracker(), tw.RecursiveLeastSquares()])
def test_single_calls_refuse_what_a_weight_makes_too_large(learner):
    model = tw.Online(learner)
    model.run(X, Y)
    before = [part.tobytes() for part in model.state]
    with pytest.raises(StreamError, match="√weight"):
        model.update(np.array([1e150, 0.0, 0.0]), 1.0, 100.0)
    assert [part.tobytes() for part in model.state] == before


def test_a_blocked_run_predicts_the_same_and_goes_on_round_by_round():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(300, 40)), rng.normal(size=300)
    plain, blocked = (tw.Online(tw.RecursiveLeastSquares(0.99)) for _ in range(2))
    expected = plain.run(x, y).prediction
    first = blocked.run(x[:250], y[:250], blocked=True).prediction
    rest = blocked.run(x[250:], y[250:]).prediction
    np.testing.assert_allclose(np.append(first, rest), expected, rtol=0, atol=1e-9)


def test_a_blocked_run_is_refused_where_it_cannot_be():
    with pytest.raises(InvalidParameterError, match="'blocked' .* Tracker"):
        tw.Online().run(np.ones((3, 1)), np.ones(3), blocked=True)
    model = tw.Online(tw.RecursiveLeastSquares(), missing="skip")
    with pytest.raises(InvalidParameterError, match="missing is 'skip'"):
        model.run(np.ones((3, 1)), np.ones(3), blocked=True)


def test_the_raw_path_is_the_models_own_state():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(50, 3)), rng.normal(size=50)
    for learner in (tw.RecursiveLeastSquares(0.9), tw.Tracker()):
        model, raw = tw.Online(learner), tw.Online(learner)
        assert raw._live_buffer() is None  # before any round
        model.update(x[0], y[0])
        raw.update(x[0], y[0])
        live = raw._live_buffer()
        call, buffer = live.call, live.buffer
        for row, label in zip(x[1:], y[1:], strict=True):
            assert call(buffer, row, 0.0, 1.0, 1.0, False) == model.predict(row)
            model.update(row, label)
            call(buffer, row, label, 1.0, 1.0, True)
        assert raw.rounds == model.rounds == 50
        assert raw.predict(x[0]) == model.predict(x[0])
        assert np.isnan(call(buffer, np.full(3, np.nan), 0.0, 1.0, 1.0, False))
        assert np.isnan(call(buffer, x[0], np.inf, 1.0, 1.0, True))
        raw.run(x, y)
        assert np.isnan(call(buffer, x[0], 0.0, 1.0, 1.0, False))  # it has moved on


@pytest.mark.parametrize("learner", [tw.RecursiveLeastSquares(0.9), tw.Tracker()])
def test_single_calls_take_any_row(learner):
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(30, 3)), rng.normal(size=30)
    model, expected = tw.Online(learner), tw.Online(learner).run(x, y).prediction
    frozen, strided = x.copy(), np.asfortranarray(x)
    frozen.flags.writeable = False
    kinds = (lambda t: frozen[t], lambda t: strided[t], lambda t: x[t].tolist())
    for t in range(30):
        row = kinds[t % 3](t)
        assert model.predict(row) == (expected[t] if t else 0.0)
        model.update(row, y[t] if t % 2 else np.array(y[t]))
    assert model.rounds == 30


@pytest.mark.parametrize("learner", [tw.RecursiveLeastSquares(0.9), tw.Tracker()])
@pytest.mark.parametrize("kind", ["i8", ">f8", "f4", "u8", ">i8", "f2"])
def test_single_calls_read_numbers_of_other_kinds_as_whole_runs_do(learner, kind):
    rng = np.random.default_rng(4)
    x, y = rng.integers(0, 9, size=(20, 3)).astype(kind), rng.normal(size=20)
    model, whole = tw.Online(learner), tw.Online(learner)
    expected = whole.run(x.astype(np.float64), y).prediction
    for t in range(20):
        assert model.predict(x[t]) == expected[t]
        model.update(x[t], y[t])
    np.testing.assert_array_equal(model.coefficients, whole.coefficients)


@pytest.mark.parametrize("learner", [tw.RecursiveLeastSquares(0.9), tw.Tracker()])
@pytest.mark.parametrize("kind", [*"?bhilqBHILQefd", int, bool])
def test_labels_and_rates_of_any_kind_stay_on_the_fast_path(learner, kind):
    number = np.dtype(kind).type if isinstance(kind, str) else kind
    model, whole = tw.Online(learner), tw.Online(learner)
    for one in (model, whole):
        one.run(X, Y)
    live = model._live_buffer()
    for k in (1, 0, 1):
        model.update(X[k], number(k), number(k), number(1))
    assert model._live_buffer() is live
    whole.run(X[[1, 0, 1]], [1.0, 0.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 1.0])
    np.testing.assert_array_equal(model.state[0], whole.state[0])


@pytest.mark.parametrize("large", [2**64, 10**30, -(10**140)])
def test_whole_numbers_of_any_legal_size_are_learnt_in_every_round(large):
    model = tw.Online(tw.RecursiveLeastSquares())
    for _ in range(3):
        model.update(X[0], large)
    assert model.rounds == 3


class Meddling:
    """A label that has its model learn while it is read."""

    def __init__(self, model):
        self.model = model

    def __array__(self, dtype=None, copy=None):
        self.model.update([1.0, 2.0, 3.0], 4.0)
        return np.array(1.0)


@pytest.mark.parametrize("missing", ["refuse", "impute"])
def test_a_model_does_not_learn_in_the_middle_of_learning(missing):
    model = tw.Online(missing=missing)
    model.run(X, Y)
    with pytest.raises(ThalwegError, match="in the middle of another call"):
        model.update(X[0], Meddling(model))
    assert model.rounds == 80
    assert model.health().refusals == 2  # the inner call, and so the outer one
    model.update(X[0], Y[0])
    assert model.rounds == 81


@pytest.mark.parametrize("learner", [tw.RecursiveLeastSquares(0.9), tw.Tracker()])
@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize("text", ["3", "3.5", b"3", np.str_("3"), [[1.0]], 1j])
def test_text_and_other_objects_are_not_read_as_numbers(learner, place, text):
    model = tw.Online(learner)
    model.run(X, Y)
    before = [part.tobytes() for part in model.state]
    given = [1.0, 1.0, 1.0]
    given[place] = text
    with pytest.raises(ThalwegError):
        model.update(X[0], *given)
    assert [part.tobytes() for part in model.state] == before


def test_a_refused_round_leaves_no_prediction_for_its_features():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(60, 3))
    y = x @ [1.0, 2.0, 3.0]
    model = tw.Online()
    model.run(x, y)
    untouched = model.clone()
    near, far = np.array([1.0, 0.0, 0.0]), np.array([0.0, 5.0, 5.0])
    model.predict(near)
    with pytest.raises(StreamError, match="not finite"):
        model.update(far, np.nan)
    assert model.predict(far) == untouched.predict(far)
    model.update(far, 3.0)
    untouched.update(far, 3.0)
    np.testing.assert_array_equal(model.state.packed, untouched.state.packed)


@pytest.mark.parametrize("size", [1e-100, 1e-78, 1e-77])
def test_tiny_features_are_learnt_without_a_prior(size):
    model = tw.Online(tw.RecursiveLeastSquares(ridge=0), intercept=False)
    for row, label in (([1, 0], 1.0), ([0, 1], 1.0), ([1, 1], 2.0)):
        model.update(size * np.array(row, float), label)
    assert model.rounds == 3
    assert model.predict(size * np.ones(2)) == pytest.approx(2.0, rel=1e-9)


def test_features_too_tiny_for_a_ridge_of_zero_stay_finite():
    model = tw.Online(tw.RecursiveLeastSquares(ridge=0), intercept=False)
    for row in ([1e-150, 0.0], [0.0, 1e-150]):
        model.update(np.array(row), 1e150)
    assert model.rounds == 2
    assert np.isfinite(model.coefficients).all()


def test_messages_name_the_rule_and_the_value():
    model = tw.Online()
    with pytest.raises(StreamError, match="as many rounds of x as of y. Got 80 and 79"):
        model.run(X, Y[:-1])
    with pytest.raises(
        StreamError, match=r"one row of features a round. Got shape \(1, 3"
    ):
        model.update([[1.0, 2.0, 3.0]], 1.0)
    with pytest.raises(
        StreamError, match=r"must hold numbers. Got None \(dtype object"
    ):
        model.update([1.0, None, 2.0], 1.0)
    with pytest.raises(InvalidParameterError, match="memory is known of a Tracker"):
        _ = tw.Online(tw.RecursiveLeastSquares()).memory


@pytest.mark.parametrize("learner", [tw.RecursiveLeastSquares(0.9), tw.Tracker()])
def test_the_kernel_takes_calls_again_after_a_look_at_the_model(learner):
    model, x = tw.Online(learner), np.array([1.0, 2.0])
    model.update(x, 1.0)
    for look in (model.health, lambda: model.state, lambda: model.predict("row")):
        with contextlib.suppress(StreamError):
            look()
        live = model._live_buffer()
        predicted = live.call(live.buffer, x, 0.0, 1.0, 1.0, False)
        assert predicted == model.predict(x)
