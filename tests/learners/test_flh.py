import numpy as np
import pytest

from thalweg.domains import Ball
from thalweg.errors import InvalidParameterError, UnsupportedLossError
from thalweg.learners.constant_step import ConstantStepGradient
from thalweg.learners.flh import FollowTheLeadingHistory
from thalweg.learners.last_value import LastValue
from thalweg.learners.ogd import OnlineGradientDescent
from thalweg.learners.rls import RecursiveLeastSquares
from thalweg.learners.window import SlidingWindow
from thalweg.losses import Round, SquaredError, Tracking
from thalweg.types import Block


def random_block():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(150, 3)), rng.normal(size=150)
    return Block(x, y, rng.uniform(0, 2, size=150))


def hostile_block():
    """One direction, with targets that change sign after 1, 2, 4, 8, ... rounds."""
    x = np.tile([1.0, 1.0, -1.0], (150, 1))
    y = 4.0 * (-1.0) ** np.floor(np.log2(np.arange(1, 151)))
    return Block(x, y)


def oracle(expert, start, alpha, block):
    """All experts are run at full length; a dead one has weight zero."""
    T, starts = len(block), range(1, len(block) + 1)
    points = np.zeros((T + 1, T + 1, start.size))
    for b in starts:
        run = expert.run(expert.init(start), SquaredError(), block[b - 1 :], ("theta",))
        points[b, b:] = run[1].theta
    weights, played = np.zeros(T + 2), []
    weights[1] = 1.0
    for t, (x, y, weight, _) in enumerate(block.rounds(), start=1):
        played.append(weights[: T + 1] @ points[:, t])
        for b in range(1, t + 1):
            loss = weight * 0.5 * (x @ points[b, t] - y) ** 2
            weights[b] *= np.exp(-alpha * loss)
        weights *= (1 - 1 / (t + 1)) / weights.sum()
        weights[t + 1] = 1 / (t + 1)
        for b in range(1, t + 1):
            if t + 1 >= b + lifetime(b):
                weights[b] = 0
        weights /= weights.sum()
    return np.array(played)


def lifetime(starts):
    k = 0
    while starts % 2 == 0:
        starts, k = starts // 2, k + 1
    return 2 ** (k + 2) + 1


@pytest.mark.parametrize("make", [random_block, hostile_block])
@pytest.mark.parametrize("alpha", [0.01, 1.0])
def test_every_point_played_is_the_oracles(make, alpha):
    expert = OnlineGradientDescent(0.3, Ball(0.8))
    start = np.array([0.5, 0.0, -0.2])
    learner = FollowTheLeadingHistory(expert, alpha)
    state = learner.init(start)
    _, trace = learner.run(state, SquaredError(), make(), record=("theta",))
    expected = oracle(expert, start, alpha, make())
    np.testing.assert_allclose(trace.theta, expected, rtol=1e-9, atol=1e-12)


@pytest.fixture(scope="module")
def active_rounds():
    """The rounds in which the experts of round t started, for t = 1 to 1100."""
    learner = FollowTheLeadingHistory(ConstantStepGradient())
    state, history = learner.init(np.zeros(1)), [[]]
    for _ in range(1100):
        history.append(state.active_from.tolist())
        assert len(state.experts) == len(state.log_weights) == len(state.active_from)
        state = learner.update(state, Round(Tracking(), None, np.zeros(1)))
    return history


def test_an_expert_is_active_from_its_start_to_its_deadline_and_no_longer(
    active_rounds,
):
    for t in range(1, 1101):
        expected = [b for b in range(1, t + 1) if t < b + lifetime(b)]
        assert active_rounds[t] == expected


def test_the_number_alive_is_logarithmic(active_rounds):
    """Odd multiples of 2^k lie 2^{k+1} apart and live 2^{k+2} + 1 rounds: two of each
    k are alive, three of t's own, and of the greatest k there is but one."""
    for t in range(1, 1101):
        assert 1 <= len(active_rounds[t]) <= 2 * (t.bit_length() - 1) + 2


def test_every_interval_has_an_expert_of_its_first_half_alive_at_its_end(active_rounds):
    for t in range(1, 1101):
        first = np.arange(1, t + 1)
        starts = np.array(active_rounds[t])[np.searchsorted(active_rounds[t], first)]
        assert (starts <= (first + t) / 2).all()


def test_a_new_expert_starts_where_the_first_did_and_with_weight_one_in_t():
    """Round 49 is no expert's deadline: nothing is renormalised after the birth."""
    start = np.array([0.3, -0.1, 0.2])
    learner = FollowTheLeadingHistory(OnlineGradientDescent(), 0.1)
    state, _ = learner.run(learner.init(start), SquaredError(), random_block()[:48])
    np.testing.assert_array_equal(state.experts[-1].theta, start)
    assert state.active_from[-1] == 49
    weights = np.exp(state.log_weights)
    assert weights[-1] == pytest.approx(1 / 49, rel=1e-14)
    assert weights.sum() == pytest.approx(1, rel=1e-14)


def test_after_a_jump_it_is_there_long_before_its_expert():
    """At round 500 a step of 1/√t alone closes a twentieth of the gap."""
    rng = np.random.default_rng(0)
    level = np.where(np.arange(600) < 500, -0.5, 0.5)[:, None]
    y = level + 0.01 * rng.normal(size=(600, 2))
    expert = OnlineGradientDescent(1.0, Ball(2.0))
    late = []
    for learner in (expert, FollowTheLeadingHistory(expert, 1.0)):
        state = learner.init(np.zeros(2))
        _, trace = learner.run(state, Tracking(), Block(None, y))
        late.append(trace.loss[520:].sum())
    assert late[1] < 0.1 * late[0]


def test_several_targets_are_mixed_by_one_set_of_weights():
    rng = np.random.default_rng(0)
    block = Block(rng.normal(size=(30, 3)), rng.normal(size=(30, 2)))
    learner = FollowTheLeadingHistory(SlidingWindow(10, 0.1), 0.1)
    state, trace = learner.run(learner.init(np.zeros((3, 2))), SquaredError(), block)
    assert trace.prediction.shape == (30, 2)
    expected = sum(
        np.exp(log_weight) * one.theta
        for log_weight, one in zip(state.log_weights, state.experts, strict=True)
    )
    np.testing.assert_allclose(state.theta, expected, rtol=1e-12)


def test_losses_too_large_for_exp_leave_the_weights_right():
    """A loss of 1e300 for all alike moves no weight; round 49 is no one's deadline."""
    x, y = np.ones((48, 3)), np.full(48, 1e150)
    learner = FollowTheLeadingHistory(SlidingWindow(1, ridge=1e150))
    state, _ = learner.run(learner.init(np.zeros(3)), SquaredError(), Block(x, y))
    weights = np.exp(state.log_weights)
    assert weights.sum() == pytest.approx(1, rel=1e-14)
    assert weights[-1] == pytest.approx(1 / 49, rel=1e-14)


def test_it_accepts_the_losses_that_its_expert_accepts():
    learner = FollowTheLeadingHistory(SlidingWindow())
    with pytest.raises(UnsupportedLossError, match="SlidingWindow learns from Squared"):
        learner.check_loss(Tracking())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ((SlidingWindow(), 0.0), r"'exp_concavity' .* must be in \(0, inf\)"),
        ((LastValue(),), r"'expert' .* that plays points. Got LastValue\(\) instead"),
        ((3,), r"'expert' .* must be a learner that plays points. Got 3 instead"),
    ],
)
def test_settings_outside_their_range_are_refused(settings, message):
    with pytest.raises(InvalidParameterError, match=message):
        FollowTheLeadingHistory(*settings)


def test_a_loss_that_overflows_in_an_update_warns_of_nothing():
    learner = FollowTheLeadingHistory(RecursiveLeastSquares(1.0))
    state = learner.init(np.zeros(2, np.float32))
    for x, y in (([1e-15, 1.0], 1e15), ([1e15, 1e15], -1e15), ([1.0, 1e15], 1e15)):
        f = Round(SquaredError(), np.array(x, np.float32), np.float32(y))
        state = learner.update(state, f)
    assert np.isfinite(state.theta).all()
