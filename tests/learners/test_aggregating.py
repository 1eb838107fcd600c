import numpy as np
import pytest

from thalweg.errors import InvalidParameterError
from thalweg.learners import AggregatingExperts, Experts, RecursiveLeastSquares
from thalweg.losses import Round, SquaredError
from thalweg.types import Block

BANK = tuple(RecursiveLeastSquares(gamma) for gamma in (1.0, 0.95, 0.7, 0.5))
Y = 2.0


def oracle(expert_predictions, y):
    """Vovk's mixture of given predictions (T, N), weights never in logarithms."""
    i = np.arange(1, expert_predictions.shape[1] + 1)
    w, out = (1 + 1 / i.size) / (i * (i + 1)), []
    for p, label in zip(np.clip(expert_predictions, -Y, Y), y, strict=True):
        g = [
            -(Y**2) * np.log(w @ np.exp(-((end - p) ** 2) / (2 * Y**2)))
            for end in (-Y, Y)
        ]
        out.append(np.clip((g[0] - g[1]) / (2 * Y), -Y, Y))
        w = w * np.exp(-((label - p) ** 2) / (2 * Y**2))
        w = w / w.sum()
    return np.array(out)


def test_equals_vovks_mixture_of_the_experts_predictions():
    rng = np.random.default_rng(0)
    block = Block(rng.normal(size=(200, 3)), np.clip(rng.normal(size=200), -Y, Y))
    learner = AggregatingExperts(BANK, Y)
    _, trace = learner.run(learner.init(np.zeros(3)), SquaredError(), block)
    alone = [e.run(e.init(np.zeros(3)), SquaredError(), block)[1] for e in BANK]
    expert_predictions = np.column_stack([one.prediction for one in alone])
    np.testing.assert_allclose(
        trace.prediction, oracle(expert_predictions, block.y), rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["opposite", "far", "random"])
def test_loses_at_most_log_of_its_weight_to_any_expert(kind, seed):
    """On labels chosen against it; a weighted mean at this rate breaks the bound."""
    rng = np.random.default_rng(seed)
    learner, loss = AggregatingExperts(BANK, Y), SquaredError()
    state = learner.init(np.zeros(2))
    log_weights, excess = state.log_weights, np.zeros(len(BANK))
    for _ in range(300):
        x = rng.normal(size=2)
        expert_predictions = np.clip(
            [e.predict(s, x) for e, s in zip(BANK, state.experts, strict=True)], -Y, Y
        )
        p = learner.predict(state, x)
        y = {
            "opposite": -Y if p >= 0 else Y,
            "far": expert_predictions[np.argmax(abs(expert_predictions - p))],
            "random": rng.choice([-Y, Y]),
        }[kind]
        excess += 0.5 * (p - y) ** 2 - 0.5 * (expert_predictions - y) ** 2
        assert (excess <= -(Y**2) * log_weights + 1e-9).all()
        state = learner.update(state, Round(loss, x, y))


def test_mixes_better_than_a_weighted_mean_at_the_rate_that_is_safe_for_it():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(600, 3))
    truth = np.where(np.arange(600)[:, None] < 300, [1.0, 0, 0], [0, 0, -1.0])
    block = Block(x, np.clip((x * truth).sum(axis=1), -Y, Y))
    losses = []
    for learner in (AggregatingExperts(BANK, Y), Experts(BANK, 1 / (4 * Y**2))):
        _, trace = learner.run(learner.init(np.zeros(3)), SquaredError(), block)
        losses.append(trace.loss.sum())
    assert losses[0] < losses[1]


@pytest.mark.parametrize("experts", [(), (3,), 5])
def test_what_is_no_expert_is_refused(experts):
    with pytest.raises(InvalidParameterError, match="'experts'"):
        AggregatingExperts(experts)


def test_labels_are_taken_to_lie_within_one_unless_told_otherwise():
    assert AggregatingExperts(BANK) == AggregatingExperts(BANK, 1.0)
