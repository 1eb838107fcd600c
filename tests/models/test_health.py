import numpy as np
import pytest

import thalweg as tw
from thalweg.errors import ThalwegError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(2000, 3))
X[500:, 1] = 0.0
Y = X @ [1.0, 2.0, 3.0]


@pytest.mark.parametrize("learner", [tw.RecursiveLeastSquares(0.95), tw.Tracker()])
def test_a_feature_that_stays_zero_is_noticed_by_single_calls_and_whole_runs(learner):
    whole, single = (tw.Online(learner, intercept=True) for _ in range(2))
    whole.run(X[:800], Y[:800])
    for x, y in zip(X[:800], Y[:800], strict=True):
        single.update(x, y)
    for model in (whole, single):
        np.testing.assert_array_equal(model.health().unexcited_rounds, [0, 300, 0, 0])
    assert "feature 1 has been zero for 300 rounds" in str(whole.health())


def test_what_is_known_of_a_feature_fades_until_the_covariance_is_capped():
    model = tw.Online(tw.RecursiveLeastSquares(0.95))
    model.run(X[:500], Y[:500])
    before = model.health()
    # 1/(1-γ) rounds count, at about the feature's mean square over its largest lately.
    assert (before.excitation > 1).all() and before.condition < 100
    assert not before.capped.any()
    model.run(X[500:], Y[500:])
    after = model.health()
    assert after.excitation[1] < 1e-9 and after.condition > 1e9
    np.testing.assert_array_equal(after.capped, [False, True, False, False])
    assert "held by the covariance cap: 1" in str(after)


def test_refusals_are_counted():
    model = tw.Online()
    model.run(X[:10], Y[:10])
    for bad in ([np.nan, 0, 0], [0, 0], "abc"):
        with pytest.raises(ThalwegError):
            model.update(bad, 1.0)
        with pytest.raises(ThalwegError):
            model.predict(bad)
    with pytest.raises(ThalwegError):
        model.run(X, Y[:-1])
    health = model.health()
    assert (health.refusals, health.rounds) == (7, 10)


def test_a_model_that_has_learnt_nothing_has_a_health_too():
    health = tw.Online(missing="skip").health()
    assert (health.rounds, health.unexcited_rounds, health.condition) == (0, None, None)
    assert "0 rounds" in str(health)
