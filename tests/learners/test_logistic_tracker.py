import numpy as np
import pytest
from river import linear_model, optim
from scipy.special import expit

from thalweg import Online
from thalweg.errors import InvalidParameterError, StreamError
from thalweg.kernels.call_header import COUNT
from thalweg.learners import LogisticTracker
from thalweg.learners.logistic_tracker import MEMORIES, RATES, RIDGES
from thalweg.losses import Logistic, Round
from thalweg.types import Block

LOSS = Logistic()


def stream(kind, rounds=3000, n=4, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rounds, n))
    theta = {
        "stationary": np.tile(1.5 * rng.normal(size=n), (rounds, 1)),
        "abrupt": np.repeat(1.5 * rng.normal(size=(rounds // 600, n)), 600, axis=0),
        "drift": np.cumsum(0.05 * rng.normal(size=(rounds, n)), axis=0),
    }[kind]
    log_odds = (x * theta).sum(axis=1)
    return Block(x, 1.0 * (rng.random(rounds) < expit(log_odds)))


def oracle(block, certainty=1e-3):
    """Dense Newton and gradient experts on standardised features, mixed by Bayes."""
    n = block.x.shape[1]
    experts = [(1 - 1 / M, ridge) for M in MEMORIES for ridge in RIDGES]
    theta = [np.zeros(n + 1) for _ in (*experts, *RATES)]
    P = [ridge * np.eye(n + 1) for _, ridge in experts]
    w, out = np.full(len(theta), 1 / len(theta)), []
    for t, (x, y) in enumerate(zip(block.x, block.y, strict=True)):
        past = block.x[:t]
        spread = past.std(axis=0) if t > 1 else np.zeros(n)
        safe = np.where(spread > 0, spread, np.inf)
        z = np.append((x - past.mean(axis=0)) / safe if t > 1 else np.zeros(n), 1.0)
        p = np.clip([expit(z @ th) for th in theta], certainty, 1 - certainty)
        out.append(w @ p)
        w = w * (p if y else 1 - p)
        w = (1 - 1 / (t + 2)) * w / w.sum() + 1 / ((t + 2) * len(w))
        for k, (gamma, _) in enumerate(experts):
            s = expit(z @ theta[k])
            P[k] = gamma * P[k] + max(s * (1 - s), 1e-3) * np.outer(z, z)
            theta[k] = theta[k] - np.linalg.solve(P[k], z) * (s - y)
        for k, rate in enumerate(RATES, len(experts)):
            theta[k] = theta[k] - rate * (expit(z @ theta[k]) - y) * z
    return np.array(out)


def test_equals_newton_experts_mixed_by_bayes_rule():
    block = stream("abrupt", 1200, n=2)[:150]
    learner = LogisticTracker()
    _, trace = learner.run(learner.init(np.zeros(2)), LOSS, block)
    np.testing.assert_allclose(expit(trace.prediction), oracle(block), rtol=1e-8)


@pytest.mark.parametrize("n", [1, 3, 8])
@pytest.mark.parametrize("kind", ["stationary", "abrupt", "drift"])
def test_the_kernel_equals_update_in_every_round(kind, n):
    """Both go on from the kernel's state.

    Newton steps of heavy rounds overshoot, so that a difference of 1e-16 is a thousand
    times larger ten rounds later; that of one round is below 1e-9.
    """
    rng = np.random.default_rng(1)
    block = stream(kind, 1200, n)[:300]
    block.x[:, 0] = np.where(np.arange(300) < 50, 3.0, 1e3 * block.x[:, 0])
    weight, elapsed = rng.choice([0.0, 0.3, 1.0, 5.0], 300), rng.uniform(0, 3, 300)
    block = Block(block.x, block.y, weight, elapsed)
    learner = LogisticTracker()
    state = learner.init(np.zeros(n))
    for t, (x, y, w, e) in enumerate(block.rounds()):
        expected = learner.update(state, Round(LOSS, x, y, w, e))
        state, _ = learner.run(state, LOSS, block[t : t + 1])
        for ours, theirs in zip(state, expected, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("n", [1, 3, 8])
def test_single_calls_go_through_the_states_of_a_run_bit_by_bit(n, intercept):
    rng = np.random.default_rng(n)
    block = stream("abrupt", 1200, n)[:150]
    x, y = block.x, np.where(rng.random(150) < 0.1, 0.3, block.y)
    x[20:40, 0] = 0.0
    weight, elapsed = rng.choice([0.0, 0.3, 1.0, 5.0], 150), rng.uniform(0, 3, 150)
    single, whole = (Online(LogisticTracker(), LOSS, intercept) for _ in range(2))
    trace = whole.run(x, y, weight, elapsed)
    for t in range(150):
        assert single.predict(x[t]) == trace.prediction[t]
        assert single.predict(x[t].astype(">f8")) == trace.prediction[t]  # checked path
        single.update(x[t], y[t], weight[t], elapsed[t])
    assert single._live_buffer().buffer[COUNT] == 150  # no round took another path
    for ours, theirs in zip(single.state, whole.state, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(
        single.health().unexcited_rounds, whole.health().unexcited_rounds
    )


def test_a_single_call_that_is_refused_changes_nothing():
    block = stream("stationary", 300)
    model = Online(LogisticTracker(), LOSS)
    model.run(block.x, block.y)
    before, live = model.state, model._live_buffer()
    row = block.x[0]
    for x, y, weight in [
        (row, 1.5, 1.0), (row, -0.1, 1.0), (row, np.nan, 1.0), (row, 1.0, -1.0),
        (row[:3], 1.0, 1.0), (np.full(4, np.nan), 1.0, 1.0), (1e151 * row, 1.0, 1.0),
    ]:  # fmt: skip
        assert np.isnan(live.call(live.buffer, x, y, weight, 1.0, True))
        with pytest.raises(StreamError):
            model.update(x, y, weight)
    for ours, theirs in zip(model.state, before, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert model.rounds == 300 and model.refusals == 7


def log_loss(probabilities, y):
    p = np.clip(probabilities, 1e-3, 1 - 1e-3)
    return -np.mean((y * np.log(p) + (1 - y) * np.log(1 - p))[200:])


@pytest.mark.parametrize("kind", ["stationary", "abrupt", "drift"])
def test_better_than_rivers_step_sizes_all_but_the_one_made_for_a_walk(kind):
    """Where θ stands or jumps it beats the best in hindsight, too."""
    block = stream(kind)
    learner = LogisticTracker()
    _, trace = learner.run(learner.init(np.zeros(4)), LOSS, block)
    rivals = []
    for rate in (0.01, 0.03, 0.1, 0.3):
        model = linear_model.LogisticRegression(optimizer=optim.SGD(rate))
        predictions = []
        for x, y in zip(block.x.tolist(), block.y, strict=True):
            features = dict(enumerate(x))
            predictions.append(model.predict_proba_one(features).get(True, 0.5))
            model.learn_one(features, bool(y))
        rivals.append(log_loss(np.array(predictions), block.y))
    best, second = sorted(rivals)[:2]
    ours = log_loss(expit(trace.prediction), block.y)
    assert ours < (second if kind == "drift" else best)


def test_scale_and_shift_of_features_do_not_matter():
    block = stream("abrupt", 1200)
    moved = Block(1e6 * block.x + 1e7, block.y)
    learner = LogisticTracker()
    one, two = (
        learner.run(learner.init(np.zeros(4)), LOSS, b)[1].prediction
        for b in (block, moved)
    )
    np.testing.assert_allclose(one, two, atol=1e-5)


def test_separable_and_certain_labels_stay_finite():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(20_000, 2))
    x[5000:15_000, 1] = 0
    learner = LogisticTracker()
    block = Block(x, 1.0 * (x[:, 0] > 0))
    state, trace = learner.run(learner.init(np.zeros(2)), LOSS, block)
    assert np.isfinite(trace.prediction).all() and np.isfinite(state.points).all()
    assert trace.loss[1000:].mean() < 0.05


def test_a_certainty_outside_its_range_is_refused():
    with pytest.raises(InvalidParameterError, match="'certainty'"):
        LogisticTracker(0.5)


def test_no_label_is_taken_as_more_certain_than_one_in_a_thousand():
    assert LogisticTracker() == LogisticTracker(1e-3)
