"""Models of several targets, one call a round."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import thalweg as tw
from thalweg.errors import NonFiniteError, StreamError, ThalwegError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = X @ RNG.normal(size=(3, 4)) + 0.1 * RNG.normal(size=(60, 4))
SETTINGS = [{}, {"discount": 0.8, "floor": 0.1}, {"floor": 0.1, "leaky": True}]


def learnt(rounds=10, **settings):
    """A model after so many rounds, with a kernel for single calls."""
    model = tw.Online(tw.RecursiveLeastSquares(0.9), **settings)
    model.run(X[:rounds], Y[:rounds])
    return model


@pytest.mark.parametrize("targets", [1, 2, 4])
@pytest.mark.parametrize("settings", SETTINGS)
def test_single_calls_of_several_targets_give_the_bits_of_a_whole_run(
    settings, targets
):
    learner, y = tw.RecursiveLeastSquares(**settings), Y[:, :targets]
    weight, elapsed = RNG.uniform(0, 3, size=60), RNG.uniform(0, 2, size=60)
    weight[5] = 0.0
    whole, single = tw.Online(learner), tw.Online(learner)
    expected = whole.run(X, y, weight, elapsed).prediction
    for t in range(60):
        predictions = single.predict(X[t])
        if t:
            assert predictions.shape == (targets,)
            np.testing.assert_array_equal(predictions, expected[t])
        single.update(X[t], y[t], weight[t], elapsed[t])
    assert single.rounds == whole.rounds == 60
    for one, other in zip(single.state, whole.state, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(
        single.health().unexcited_rounds, whole.health().unexcited_rounds
    )


def test_each_target_is_learnt_as_if_it_were_the_only_one():
    together = learnt(rounds=1)
    alone = [tw.Online(tw.RecursiveLeastSquares(0.9)) for _ in range(4)]
    for model, y in zip(alone, Y.T, strict=True):
        model.update(X[0], y[0])
    for x, row in zip(X[1:], Y[1:], strict=True):
        expected = [model.predict(x) for model in alone]
        np.testing.assert_array_equal(together.predict(x), expected)
        together.update(x, row)
        for model, y in zip(alone, row, strict=True):
            model.update(x, y)


def test_predictions_of_several_targets_are_the_callers_own():
    model = learnt()
    first = model.predict(X[0])
    copy = first.copy()
    first += 1.0
    np.testing.assert_array_equal(model.predict(X[0]), copy)
    second = model.predict(X[0])
    model.predict(X[1])
    np.testing.assert_array_equal(second, copy)


def test_rows_of_targets_of_any_kind_are_learnt_in_place():
    model, whole = learnt(), learnt()
    frozen, strided = Y.copy(), np.asfortranarray(Y)
    frozen.flags.writeable = False
    kinds = (
        lambda t: frozen[t],
        lambda t: strided[t],
        lambda t: Y[t].tolist(),
        lambda t: tuple(Y[t]),
    )
    live = model._live_buffer()
    for t in range(10, 60):
        model.update(X[t].tolist() if t % 3 else X[t], kinds[t % 4](t))
    assert model._live_buffer() is live
    whole.run(X[10:], Y[10:])
    np.testing.assert_array_equal(model.coefficients, whole.coefficients)
    np.testing.assert_array_equal(frozen, Y)


@pytest.mark.parametrize(
    "x, y, weight, message",
    [
        (X[0], [1.0, np.nan, 0.0, 0.0], 1.0, "not finite"),
        (X[0], [1.0, np.inf, 0.0, 0.0], 1.0, "not finite"),
        (X[0], [1.0, 1e151, 0.0, 0.0], 1.0, "1e\\+150"),
        (X[0], [1.0, 1e150, 0.0, 0.0], 4.0, "1e\\+150"),
        (X[0], [1.0, 2.0, 3.0], 1.0, "shape"),
        (X[0], 1.0, 1.0, "shape"),
        (X[0], [["a", "b", "c", "d"]], 1.0, "number"),
        ([1.0, np.nan, 0.0], Y[0], 1.0, "not finite"),
        (X[0, :2], Y[0], 1.0, "3 features"),
        (X[0], Y[0], -1.0, "weight"),
        (X[0], Y[0], 10**400, "weight"),
    ],
)
def test_a_bad_round_of_several_targets_is_refused_and_leaves_no_trace(
    x, y, weight, message
):
    model = learnt()
    before = model.state
    with pytest.raises(ThalwegError, match=message):
        model.update(x, y, weight)
    assert (model.rounds, model.refusals) == (10, 1)
    for one, other in zip(before, model.state, strict=True):
        np.testing.assert_array_equal(one, other)
    model.update(X[10], Y[10])
    assert model.rounds == 11


def test_a_bad_row_to_predict_several_targets_at_is_refused():
    model = learnt()
    with pytest.raises(StreamError, match="3 features"):
        model.predict(X[0, :2])
    with pytest.raises(ThalwegError, match="not finite"):
        model.predict([1.0, np.inf, 0.0])


def test_a_model_of_several_targets_that_is_not_finite_predicts_and_learns_nothing():
    for target in (0, 3):
        model = learnt()
        model._live_buffer()._theta[1, target] = np.nan
        with pytest.raises(NonFiniteError):
            model.predict(X[0])
        with pytest.raises(NonFiniteError):
            model.update(X[0], Y[0])


@given(st.lists(st.sampled_from(["x", "y", "none", "run"]), max_size=12))
def test_gaps_in_rows_of_several_targets_are_what_they_are_in_a_run(gaps):
    """Complete rows go through the kernel, the others through the imputer."""
    x, y = X[: len(gaps)].copy(), Y[: len(gaps)].copy()
    for t, gap in enumerate(gaps):
        if gap == "x":
            x[t, 1] = np.nan
        elif gap == "y":
            y[t, 2] = np.nan
    for missing in ("skip", "impute"):
        whole, single = learnt(missing=missing), learnt(missing=missing)
        expected = whole.run(x, y).prediction if gaps else []
        for t, gap in enumerate(gaps):
            if gap == "run":
                single.run(x[t : t + 1], y[t : t + 1])
                continue
            np.testing.assert_array_equal(single.predict(x[t]), expected[t])
            single.update(x[t], y[t])
        np.testing.assert_array_equal(single.coefficients, whole.coefficients)
        one, other = single.imputer.state, whole.imputer.state
        np.testing.assert_array_equal(one.sums, other.sums)
        np.testing.assert_array_equal(one.counts, other.counts)
        assert one[2:] == other[2:]
