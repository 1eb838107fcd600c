import copy

import numpy as np
import pytest

import thalweg as tw
from thalweg.errors import StreamError, ThalwegError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 3)) + [0.0, 5.0, -2.0]
Y = X @ [1.0, 2.0, 3.0] + 0.1 * RNG.normal(size=300)
GAPS = RNG.random((300, 3)) < 0.1
HOLED, UNTOLD = np.where(GAPS, np.nan, X), np.where(RNG.random(300) < 0.1, np.nan, Y)


def means_before(x):
    """The mean of what was seen of each feature before each round, by plain loops."""
    filled = x.copy()
    for t, k in zip(*np.nonzero(np.isnan(x)), strict=True):
        past = x[:t, k][~np.isnan(x[:t, k])]
        filled[t, k] = past.mean() if len(past) else 0.0
    return filled


@pytest.mark.parametrize("policy", ["skip", "impute"])
@pytest.mark.parametrize("learner", [None, tw.RecursiveLeastSquares()])
def test_gaps_are_predicted_from_means_and_learnt_by_policy(policy, learner):
    model = tw.Online(learner, missing=policy)
    trace = model.run(HOLED, UNTOLD)
    filled, untold = means_before(HOLED), np.isnan(UNTOLD)
    skipped = untold | (GAPS.any(axis=1) if policy == "skip" else False)
    reference, waited = tw.Online(learner), 0.0
    for t in range(300):
        np.testing.assert_allclose(
            trace.prediction[t], reference.predict(filled[t]), rtol=1e-9, atol=1e-9
        )
        waited += 1.0
        if not skipped[t]:
            reference.update(filled[t], UNTOLD[t], elapsed=waited)
            waited = 0.0
        elif learner is None:  # the Tracker sees such rounds pass
            reference.update(filled[t], 0.0, weight=0.0)
            waited = 0.0
    assert model.imputer.state.skipped == skipped.sum()
    assert model.imputer.state.imputed == GAPS.sum()
    assert np.isfinite(trace.prediction).all()


@pytest.mark.parametrize("policy", ["skip", "impute"])
@pytest.mark.parametrize("learner", [None, tw.RecursiveLeastSquares()])
def test_single_calls_fill_as_whole_runs_do(policy, learner):
    whole, single = (tw.Online(learner, missing=policy) for _ in range(2))
    trace = whole.run(HOLED, UNTOLD)
    for t in range(300):
        assert single.predict(HOLED[t]) == trace.prediction[t]
        single.update(HOLED[t], UNTOLD[t])
        if t % 50 == 0:  # a state that was taken stays as it was
            before = single.imputer.state, copy.deepcopy(single.imputer.state)
    same_state(single.imputer.state, whole.imputer.state)
    same_state(*before)
    for mine, others in zip(single.state, whole.state, strict=True):
        np.testing.assert_array_equal(mine, others)


def same_state(one, other):
    for mine, others in zip(one, other, strict=True):
        np.testing.assert_array_equal(mine, others)


def test_infinity_is_no_gap_and_a_refusal_counts_nothing():
    model = tw.Online(missing="skip")
    model.run(HOLED, UNTOLD)
    counted = (*model.imputer.state[2:4], model.rounds)
    with pytest.raises(StreamError, match="not finite"):
        model.update(np.array([np.inf, np.nan, 0.0]), 1.0)
    assert (*model.imputer.state[2:4], model.rounds) == counted


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


def test_filled_runs_can_be_cut_anywhere():
    whole, cut = (tw.Online(missing="impute") for _ in range(2))
    expected = whole.run(HOLED, UNTOLD).prediction
    found = [cut.run(HOLED[k : k + 50], UNTOLD[k : k + 50]) for k in range(0, 300, 50)]
    joined = np.concatenate([trace.prediction for trace in found])
    np.testing.assert_array_equal(joined, expected)


@pytest.mark.parametrize(
    "call",
    [
        lambda m: m.run(HOLED, UNTOLD, weight=np.ones(1)),
        lambda m: m.run(HOLED, UNTOLD[:-1]),
        lambda m: m.run(HOLED[:0], UNTOLD[:0]),
        lambda m: m.run(HOLED[:, :2], UNTOLD),
        lambda m: m.predict([1.0, np.nan]),
        lambda m: m.update(HOLED[0], np.nan, weight=-1.0),
        lambda m: m.run(HOLED, UNTOLD, record=("bogus",)),
    ],
)
def test_what_is_wrong_is_refused_under_every_policy_and_nothing_is_counted(call):
    model = tw.Online(missing="skip")
    model.run(HOLED, UNTOLD)
    before = (*model.imputer.state[2:4], model.rounds)
    with pytest.raises(ThalwegError):
        call(model)
    assert (*model.imputer.state[2:4], model.rounds) == before
