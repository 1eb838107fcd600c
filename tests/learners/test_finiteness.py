"""What is not finite is refused by name, wherever it comes from."""

import numpy as np
import pytest

import thalweg as tw
from tests.contracts.examples import START, example_block, example_learners
from thalweg.errors import (
    InvalidParameterError,
    NonFiniteError,
    PersistenceError,
    ThalwegError,
)
from thalweg.kernels.tracker import tracker_layout
from thalweg.learners import LastValue, RecursiveLeastSquares
from thalweg.learners.finiteness import limit_losses
from thalweg.losses import SquaredError
from thalweg.types import Block, Trace

LOSS = SquaredError()
EXAMPLES = example_learners()
RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(50, 3)), RNG.normal(size=50)


class Diverging(LastValue):
    """The naive forecast, until a label of 7 or 8 ends it."""

    def update(self, state, f):
        state = super().update(state, f)
        if f.y == 8:
            return state._replace(theta=np.full_like(state.theta, np.inf))
        return state._replace(last=state.last * np.nan) if f.y == 7 else state


def diverging_block(label, at):
    y = Y.copy()
    y[at] = label
    return Block(X, y)


def test_a_prediction_that_is_not_finite_is_refused_with_its_round():
    learner = Diverging()
    state = learner.init(np.zeros(3))
    rule = r"Diverging .* not finite in round 21 of the block: .* prediction is nan"
    with pytest.raises(NonFiniteError, match=rule):
        learner.run(state, LOSS, diverging_block(7, at=20))
    assert state.last == 0


def test_a_point_that_is_not_finite_is_refused_after_the_last_round():
    learner = Diverging()
    rule = r"Diverging .* not finite after round 49 of the block: .* θ\[0\] is inf"
    with pytest.raises(NonFiniteError, match=rule):
        learner.run(learner.init(np.zeros(3)), LOSS, diverging_block(8, at=49))


def test_the_error_is_one_of_thalwegs_and_of_arithmetic():
    assert issubclass(NonFiniteError, ThalwegError)
    assert issubclass(NonFiniteError, ArithmeticError)


@pytest.mark.parametrize("label", [7, 8])
def test_a_model_whose_run_is_refused_is_as_it_was(label):
    model = tw.Online(Diverging(), intercept=False)
    model.run(X, Y)
    before = model.state
    with pytest.raises(NonFiniteError):
        model.run(X, diverging_block(label, at=30).y)
    assert (model.rounds, model.refusals) == (50, 1)
    np.testing.assert_array_equal(model.state.last, before.last)
    model.run(X, Y)
    assert model.rounds == 100


@pytest.mark.parametrize(
    "learner, loss", EXAMPLES, ids=[type(a).__name__ for a, _ in EXAMPLES]
)
def test_no_learner_plays_from_a_state_that_is_not_finite(learner, loss):
    """Whichever array is spoilt: it is refused, or has no effect that is not finite."""
    block = example_block(loss)
    state, _ = learner.run(learner.init(START), loss, block)
    for field in state._fields:
        value = getattr(state, field)
        if not (isinstance(value, np.ndarray) and value.dtype.kind == "f"):
            continue
        spoilt_value = np.full_like(value, np.nan)
        if field == "packed":  # a Tracker's counters are checked when they are loaded
            spoilt_value[: tracker_layout.COUNTERS] = value[: tracker_layout.COUNTERS]
        spoilt = state._replace(**{field: spoilt_value})
        try:
            after, trace = learner.run(spoilt, loss, block)
        except (NonFiniteError, InvalidParameterError) as error:  # or no valid index
            assert type(learner).__name__ in str(error)
        else:
            assert np.isfinite(trace.prediction).all() and np.isfinite(trace.loss).all()
            assert np.isfinite(after.theta).all()


def poisoned_model():
    """A model whose live buffer was spoilt, as by memory that fails."""
    model = tw.Online(RecursiveLeastSquares(0.9))
    for x, y in zip(X, Y, strict=True):
        model.update(x, y)
    model._live_buffer()._theta[1] = np.nan
    return model


def test_single_calls_on_a_spoilt_state_are_refused():
    model = poisoned_model()
    with pytest.raises(NonFiniteError, match="RecursiveLeastSquares"):
        model.predict(X[0])
    with pytest.raises(NonFiniteError, match="RecursiveLeastSquares"):
        model.update(X[0], 1.0)
    assert model.refusals == 2


def test_a_model_that_is_not_finite_is_never_saved(tmp_path):
    path = tmp_path / "model.thalweg"
    tw.Online(RecursiveLeastSquares(0.9)).save(path)
    before = path.read_bytes()
    with pytest.raises(
        PersistenceError, match=r"theta of RecursiveLeastSquares .* nan"
    ):
        poisoned_model().save(path)
    assert path.read_bytes() == before


def test_health_names_what_is_not_finite():
    health = poisoned_model().health()
    assert health.non_finite == ("theta",)
    assert "not finite: theta" in str(health)
    model = tw.Online(RecursiveLeastSquares(0.9, ridge=0.0))
    assert model.health().non_finite == ()
    model.update([1.0, 0.0], 1.0)
    assert model.health().non_finite == ()  # P_0 = 0: what is unknown may be infinite


def test_the_state_of_an_expert_counts_as_the_mixtures_own():
    model = tw.Online(tw.Experts(), intercept=False)
    model.run(X, Y)
    experts = list(model.state.experts)
    experts[1] = experts[1]._replace(factor=np.full_like(experts[1].factor, np.nan))
    spoilt = model._live.snapshot()._replace(
        state=model.state._replace(experts=tuple(experts))
    )
    model._open(spoilt)
    assert model.health().non_finite == ("experts[1].factor",)


@pytest.mark.parametrize("dtype, limit", [(np.float64, 1e300), (np.float32, 1e30)])
def test_a_loss_has_a_limit_and_costs_nothing_without_weight(dtype, limit):
    weight = np.array([1.0, 0.0, 1.0])
    for given, expected in ((weight, [limit, 0, 2]), (None, [limit, limit, 2])):
        loss = np.array([np.inf, np.inf, 2.0], dtype)
        limit_losses(Trace(None, loss), Block(X[:3], Y[:3], given))
        np.testing.assert_allclose(loss, expected, rtol=1e-6)
