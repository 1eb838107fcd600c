"""Prediction intervals of models whose learner has none of its own."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import thalweg as tw
from benchmarks.accuracy.accuracy_streams import SYNTHETIC
from benchmarks.accuracy.interval_accuracy import measure_intervals
from tests.contracts.examples import example_learners
from thalweg import persistence
from thalweg.errors import (
    InvalidParameterError,
    PersistenceError,
    UnsupportedLossError,
)
from thalweg.kernels.error_intervals import ERROR_WINDOW
from thalweg.models.error_intervals import interval_at

RNG = np.random.default_rng(0)
X = RNG.normal(size=(700, 2))
Y = X @ [1.0, -2.0] + 0.3 + np.exp(0.1 * RNG.normal(size=700).cumsum())
MANY = np.column_stack([Y, 10 * Y**2, RNG.normal(size=700)])
RLS = tw.RecursiveLeastSquares(0.95)
SQUARED = [
    (learner, loss)
    for learner, loss in example_learners()
    if isinstance(loss, tw.SquaredError) and not isinstance(learner, tw.Tracker)
]
ACTIONS = ["update", "run", "chunk", "save", "pickle", "clone"]


def errors_of(model):
    """The errors that the model stores, oldest first."""
    with model._suspend() as live:
        return live.copy_errors()


def test_an_interval_is_infinite_before_any_error_is_known():
    model = tw.Online(RLS)
    assert model.predict([1.0, 2.0], interval=0.9) == (0.0, -np.inf, np.inf)
    recorded = model.run(X[:2], Y[:2], record=("interval",)).extras["interval"]
    assert recorded[0].tolist() == [-np.inf, np.inf]
    assert np.isfinite(recorded[1]).all()


@pytest.mark.parametrize("learner, loss", SQUARED, ids=lambda e: type(e).__name__)
def test_every_learner_of_squared_error_has_intervals(learner, loss):
    whole, single = tw.Online(learner, loss), tw.Online(learner, loss)
    x, y = X[:30], Y[:30]
    trace = whole.run(x, y, record="interval")
    for t in range(30):
        mean, low, high = single.predict(x[t], interval=0.9)
        assert mean == trace.prediction[t]
        assert [low, high] == trace.extras["interval"][t].tolist()
        assert low <= mean <= high
        single.update(x[t], y[t])
    np.testing.assert_array_equal(errors_of(single)[:, 0], y - trace.prediction)
    wide, narrow = (single.predict(x[0], interval=level) for level in (0.99, 0.5))
    assert wide.high - wide.low > narrow.high - narrow.low


@pytest.mark.parametrize(
    "learner, y",
    [(RLS, Y), (RLS, MANY), (tw.LastValue(), Y), (tw.LastValue(), MANY)],
    ids=["rls-one", "rls-three", "last_value-one", "last_value-three"],
)
@given(actions=st.lists(st.sampled_from(ACTIONS), max_size=25))
def test_intervals_have_the_same_bits_however_a_stream_is_cut(
    tmp_path_factory, learner, y, actions
):
    model, whole, t = tw.Online(learner), tw.Online(learner), 0
    path = tmp_path_factory.mktemp("models") / "model.thalweg"
    for action in actions:
        if action == "update":
            model.update(X[t], y[t])
            t += 1
        elif action in ("run", "chunk"):
            rows = slice(t, t + (3 if action == "chunk" else 150))
            t = min(rows.stop, len(X))
            model.run(X[rows], y[rows])
        elif action == "save":
            model.save(path)
            model = tw.Online.load(path)
        elif action == "pickle":
            model = pickle.loads(pickle.dumps(model))
        else:
            model = model.clone()
        if t > 600:
            break
    if t:
        whole.run(X[:t], y[:t])
        errors = errors_of(model)
        assert len(errors) == min(t, ERROR_WINDOW)
        np.testing.assert_array_equal(errors, errors_of(whole))
    for one, other in zip(
        model.predict(X[0], interval=0.8), whole.predict(X[0], interval=0.8),
        strict=True,
    ):  # fmt: skip
        np.testing.assert_array_equal(one, other)


def test_several_targets_have_an_interval_each():
    together = tw.Online(RLS)
    trace = together.run(MANY[:, :2], MANY, record=("interval", "theta"))
    assert trace.extras["interval"].shape == (700, 3, 2) and trace.theta is not None
    mean, low, high = together.predict([1.0, 2.0], interval=0.9)
    for k, y in enumerate(MANY.T):
        alone = tw.Online(RLS)
        recorded = alone.run(MANY[:, :2], y, record=("interval",)).extras["interval"]
        np.testing.assert_array_equal(trace.extras["interval"][:, k], recorded)
        assert alone.predict([1.0, 2.0], 0.9) == (mean[k], low[k], high[k])


@pytest.mark.parametrize("learner", [RLS, tw.DiscountedGradient()])
def test_a_round_of_weight_zero_adds_no_error(learner):
    model, weight = tw.Online(learner), np.ones(60)
    weight[[0, 7, 59]] = 0.0
    trace = model.run(X[:60], Y[:60], weight, record="interval")
    expected = (Y[:60] - trace.prediction)[weight > 0]
    np.testing.assert_array_equal(errors_of(model)[:, 0], expected)
    recorded = trace.extras["interval"] - trace.prediction[:, None]
    np.testing.assert_allclose(recorded[7], recorded[8], rtol=1e-12)
    single = tw.Online(learner)
    for t in range(60):
        single.update(X[t], Y[t], weight[t])
    np.testing.assert_array_equal(errors_of(single), errors_of(model))


@pytest.mark.parametrize("missing", ["skip", "impute"])
@pytest.mark.parametrize("learner", [RLS, tw.DiscountedNewton()])
def test_rows_that_are_not_learnt_add_no_error(learner, missing):
    x, y = X[:60].copy(), Y[:60].copy()
    y[[3, 20, 21]], x[[10, 30], 1] = np.nan, np.nan
    whole = tw.Online(learner, missing=missing)
    trace = whole.run(x, y, record="interval")
    is_learnt = ~np.isnan(y)
    if missing == "skip":
        is_learnt &= ~np.isnan(x).any(axis=1)
    expected = (y - trace.prediction)[is_learnt]
    np.testing.assert_array_equal(errors_of(whole)[:, 0], expected)
    single = tw.Online(learner, missing=missing)
    for t in range(60):
        interval = single.predict(x[t], interval=0.9)
        assert [*interval[1:]] == trace.extras["interval"][t].tolist()
        single.update(x[t], y[t])
    np.testing.assert_array_equal(errors_of(single), errors_of(whole))


@given(st.lists(st.sampled_from([0.0, 1.0, -1e150, 1e150, 1e-300]), min_size=4))
def test_legal_numbers_never_give_an_interval_of_nan(numbers):
    model, rounds = tw.Online(RLS), len(numbers) // 2
    x, y = np.array(numbers[:rounds])[:, None], np.array(numbers[-rounds:])
    low, high = model.run(x, y, record="interval").extras["interval"].T
    assert (low <= high).all()
    mean, low, high = model.predict(x[0], interval=0.9)
    assert low <= mean <= high


def test_an_interval_may_be_around_several_predictions():
    errors = RNG.normal(size=(100, 2))
    rows = RNG.normal(size=(5, 2))
    for around in (rows, rows[:, 0]):
        known = errors if around.ndim == 2 else errors[:, :1]
        _, low, high = interval_at(around, known, 0.9)
        alone = [interval_at(row, known, 0.9) for row in around]
        np.testing.assert_array_equal(low, [interval.low for interval in alone])
        np.testing.assert_array_equal(high, [interval.high for interval in alone])


def test_a_blocked_run_records_intervals_too():
    model = tw.Online(RLS)
    trace = model.run(X, Y, record=("interval",), blocked=True)
    np.testing.assert_array_equal(
        errors_of(model)[:, 0], (Y - trace.prediction)[-ERROR_WINDOW:]
    )
    assert trace.extras["interval"].shape == (700, 2)


def test_a_refused_round_adds_no_error():
    model = tw.Online(RLS)
    model.run(X[:10], Y[:10])
    for bad in (np.nan, np.inf, 1e200):
        with pytest.raises(tw.errors.StreamError):
            model.update(X[10], bad)
    assert len(errors_of(model)) == 10


def test_asking_for_an_interval_leaves_the_kernel_in_place():
    model = tw.Online(RLS)
    model.run(X[:50], Y[:50])
    live = model._live_buffer()
    model.predict(X[0], interval=0.9)
    model.update(X[50], Y[50])
    assert model._live_buffer() is live and len(errors_of(model)) == 51


@pytest.mark.parametrize("loss", [tw.Huber(), tw.Logistic()], ids=["huber", "logistic"])
def test_intervals_of_other_losses_are_refused_by_name(loss):
    model, y = tw.Online(tw.DiscountedGradient(), loss), 1.0 * (Y > 1)
    model.run(X, y)
    with pytest.raises(
        UnsupportedLossError, match=f"SquaredError.*{type(loss).__name__}"
    ):
        model.predict(X[0], interval=0.9)
    with pytest.raises(UnsupportedLossError, match=f"record=.*{type(loss).__name__}"):
        model.run(X, y, record=("interval",))
    assert errors_of(model) is None


@pytest.mark.parametrize("learner", [RLS, tw.Tracker()], ids=["rls", "tracker"])
@pytest.mark.parametrize("level", [0.0, 1.0, -1, np.nan, "0.9", True])
def test_a_level_outside_its_range_is_refused(level, learner):
    with pytest.raises(InvalidParameterError, match="'interval' parameter"):
        tw.Online(learner).predict(X[0], interval=level)


@pytest.mark.parametrize("generate", SYNTHETIC, ids=lambda g: g.__name__)
def test_intervals_cover_as_often_as_they_say(generate):
    """88 to 92 % of 3,900 scored rounds: four standard deviations are 2 %.

    On a trend nearly all errors are on one side. An interval reaches to the prediction
    all the same, so that nothing is outside on the other side: up to 95 %.
    """
    x, y = generate(np.random.default_rng(0), 4000)
    trace = tw.Online(RLS).run(x, y, record=("interval",))
    most = 0.95 if generate.__name__ == "trend" else 0.92
    assert 0.88 < measure_intervals(trace, y, 0.9).covered < most


def save_with_errors(path, loss=None, **errors):
    """Save a model with other errors than its own, or none."""
    model = tw.Online(RLS) if loss is None else tw.Online(tw.DiscountedGradient(), loss)
    model.run(X[:20], Y[:20])
    model.save(path)
    saved = persistence.load(path)
    extra = {name: saved.extra[name] for name in saved.extra if name != "errors"}
    persistence.save(path, saved._replace(extra=extra | errors))
    return model


def test_a_file_from_before_there_were_intervals_knows_no_errors(tmp_path):
    path = tmp_path / "model.thalweg"
    before = save_with_errors(path)
    model = tw.Online.load(path)
    assert errors_of(model) is None
    assert model.predict(X[0], interval=0.9)[1:] == (-np.inf, np.inf)
    model.update(X[20], Y[20])
    before.update(X[20], Y[20])
    np.testing.assert_array_equal(errors_of(model), errors_of(before)[-1:])


@pytest.mark.parametrize(
    "loss, errors, message",
    [
        (None, np.zeros((0, 1)), "1 to 512 rows, at most as many"),
        (None, np.zeros((21, 1)), "1 to 512 rows, at most as many"),
        (None, np.zeros((3, 2)), "any×1 finite numbers"),
        (None, np.zeros(3), "any×1 finite numbers"),
        (None, np.full((3, 1), np.nan), "any×1 finite numbers"),
        (None, np.zeros((3, 1), np.float32), "float64"),
        (None, 1.0, "float64"),
        (tw.Huber(), np.zeros((3, 1)), "None where no errors are stored"),
    ],
)
def test_errors_that_no_model_could_have_stored_are_refused(
    tmp_path, loss, errors, message
):
    path = tmp_path / "model.thalweg"
    save_with_errors(path, loss, errors=errors)
    with pytest.raises(PersistenceError, match=message):
        tw.Online.load(path)
