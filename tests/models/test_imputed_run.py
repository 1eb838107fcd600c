import copy

import numpy as np
import pytest

import thalweg as tw
from thalweg.errors import StreamError, ThalwegError
from thalweg.imputer import SKIPPED_WEIGHT

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 3)) + [0.0, 5.0, -2.0]
Y = X @ [1.0, 2.0, 3.0] + 0.1 * RNG.normal(size=300)
MISSING = RNG.random((300, 3)) < 0.1
X_MISSING, Y_UNKNOWN = (
    np.where(MISSING, np.nan, X),
    np.where(RNG.random(300) < 0.1, np.nan, Y),
)


def means_before(x):
    """Each missing value as the mean of its feature before the round, by loops."""
    imputed = x.copy()
    for t, k in zip(*np.nonzero(np.isnan(x)), strict=True):
        past = x[:t, k][~np.isnan(x[:t, k])]
        imputed[t, k] = past.mean() if len(past) else 0.0
    return imputed


def count_rows(model):
    """All that a round with missing values would count."""
    state = model.imputer.state
    return state.imputed, state.skipped, model.rounds


@pytest.mark.parametrize("policy", ["skip", "impute"])
@pytest.mark.parametrize("learner", [None, tw.RecursiveLeastSquares()])
def test_missing_values_are_predicted_from_means_and_learnt_by_policy(policy, learner):
    model = tw.Online(learner, missing=policy)
    trace = model.run(X_MISSING, Y_UNKNOWN)
    imputed, is_unknown = means_before(X_MISSING), np.isnan(Y_UNKNOWN)
    skipped = is_unknown | (MISSING.any(axis=1) if policy == "skip" else False)
    reference, waited = tw.Online(learner), 0.0
    for t in range(300):
        np.testing.assert_allclose(
            trace.prediction[t], reference.predict(imputed[t]), rtol=1e-9, atol=1e-9
        )
        waited += 1.0
        if not skipped[t]:
            reference.update(imputed[t], Y_UNKNOWN[t], elapsed=waited)
            waited = 0.0
        elif learner is None:  # the Tracker sees such rounds pass, and their labels
            label = 0.0 if is_unknown[t] else Y_UNKNOWN[t]
            weight = 0.0 if is_unknown[t] else SKIPPED_WEIGHT
            reference.update(imputed[t], label, weight=weight)
            waited = 0.0
    assert model.imputer.state.skipped == skipped.sum()
    assert model.imputer.state.imputed == MISSING.sum()
    assert np.isfinite(trace.prediction).all()


@pytest.mark.parametrize("policy", ["skip", "impute"])
@pytest.mark.parametrize("learner", [None, tw.RecursiveLeastSquares()])
def test_single_calls_impute_as_runs_do(policy, learner):
    whole, single = (tw.Online(learner, missing=policy) for _ in range(2))
    trace = whole.run(X_MISSING, Y_UNKNOWN)
    for t in range(300):
        assert single.predict(X_MISSING[t]) == trace.prediction[t]
        single.update(X_MISSING[t], Y_UNKNOWN[t])
        if t % 50 == 0:  # a state that was taken stays as it was
            before = single.imputer.state, copy.deepcopy(single.imputer.state)
    assert_same_state(single.imputer.state, whole.imputer.state)
    assert_same_state(*before)
    for mine, others in zip(single.state, whole.state, strict=True):
        np.testing.assert_array_equal(mine, others)


def assert_same_state(one, other):
    for mine, others in zip(one, other, strict=True):
        np.testing.assert_array_equal(mine, others)


def test_infinity_is_not_missing_and_a_refusal_counts_nothing():
    model = tw.Online(missing="skip")
    model.run(X_MISSING, Y_UNKNOWN)
    counted = count_rows(model)
    with pytest.raises(StreamError, match="not finite"):
        model.update(np.array([np.inf, np.nan, 0.0]), 1.0)
    assert count_rows(model) == counted


def test_a_policy_that_does_not_exist_is_refused():
    with pytest.raises(ThalwegError, match="'missing' .* 'refuse', 'skip', 'impute'"):
        tw.Online(missing="drop")


@pytest.mark.parametrize(
    "learner",
    [tw.SlidingWindow(20), tw.OnlineGradientDescent(), tw.RestartExperts(9.0)],
)
def test_a_skipped_round_leaves_every_learner_as_it_was(learner):
    model = tw.Online(learner, intercept=False, missing="skip")
    model.run(X[:50], Y[:50])
    before = model.predict(X[0])
    model.run(X[50:80], np.full(30, np.nan))
    assert model.predict(X[0]) == before


def test_runs_with_missing_values_can_be_cut_anywhere():
    whole, cut = (tw.Online(missing="impute") for _ in range(2))
    expected = whole.run(X_MISSING, Y_UNKNOWN).prediction
    traces = [
        cut.run(X_MISSING[k : k + 50], Y_UNKNOWN[k : k + 50]) for k in range(0, 300, 50)
    ]
    predictions = np.concatenate([trace.prediction for trace in traces])
    np.testing.assert_array_equal(predictions, expected)


@pytest.mark.parametrize(
    "call",
    [
        lambda m: m.run(X_MISSING, Y_UNKNOWN, weight=np.ones(1)),
        lambda m: m.run(X_MISSING, Y_UNKNOWN[:-1]),
        lambda m: m.run(X_MISSING[:0], Y_UNKNOWN[:0]),
        lambda m: m.run(X_MISSING[:, :2], Y_UNKNOWN),
        lambda m: m.predict([1.0, np.nan]),
        lambda m: m.update(X_MISSING[0], np.nan, weight=-1.0),
        lambda m: m.run(X_MISSING, Y_UNKNOWN, record=("bogus",)),
    ],
)
def test_wrong_arguments_are_refused_under_a_policy_and_count_nothing(call):
    model = tw.Online(missing="skip")
    model.run(X_MISSING, Y_UNKNOWN)
    before = count_rows(model)
    with pytest.raises(ThalwegError):
        call(model)
    assert count_rows(model) == before


@pytest.mark.parametrize("single", [False, True])
def test_skipped_rows_may_take_as_long_as_any_time_that_is_legal(single):
    model = tw.Online(tw.LastValue(), missing="skip")
    x, y = np.ones((4, 2)), np.array([1.0, np.nan, np.nan, 2.0])
    elapsed = np.full(4, 9e149)
    if single:
        for row in zip(x, y, np.ones(4), elapsed, strict=True):
            model.update(*row)
    else:
        model.run(x, y, None, elapsed)
    assert model.rounds == 4
    with pytest.raises(StreamError, match="larger than 1e"):
        model.update(x[0], np.nan, 1.0, 1e151)
