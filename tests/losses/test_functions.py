import numpy as np
import pytest

from thalweg.domains import Ball
from thalweg.errors import InvalidParameterError, StreamError, UnsupportedLossError
from thalweg.learners import DiscountedGradient, DiscountedNewton
from thalweg.losses import Constants, Function, Functions, Tracking
from thalweg.types import Block

TARGETS = np.random.default_rng(0).uniform(-0.5, 0.5, size=(30, 2))
BOWLS = [
    Function(
        lambda theta, y=y: 0.5 * float((theta - y) @ (theta - y)),
        lambda theta, y=y: theta - y,
        lambda theta, y=y: np.eye(2),
    )
    for y in TARGETS
]


@pytest.mark.parametrize(
    "learner", [DiscountedGradient(0.9), DiscountedNewton(0.9, curvature="hessian")]
)
def test_python_functions_are_played_like_the_loss_they_spell_out(learner):
    given = Functions(BOWLS)
    _, ours = learner.run(learner.init(np.zeros(2)), given, given.block(), ("theta",))
    block = Block(None, TARGETS)
    _, theirs = learner.run(learner.init(np.zeros(2)), Tracking(), block, ("theta",))
    np.testing.assert_allclose(ours.theta, theirs.theta, rtol=1e-12)
    np.testing.assert_allclose(ours.loss, theirs.loss, rtol=1e-12)


def test_what_is_no_function_is_refused():
    with pytest.raises(InvalidParameterError, match="Function.*at 0 instead"):
        Functions([np.sin])


def test_a_missing_hessian_is_named():
    learner = DiscountedNewton(curvature="hessian")
    given = Functions([Function(f.value, f.grad) for f in BOWLS])
    with pytest.raises(UnsupportedLossError, match="Function 0 has none"):
        learner.run(learner.init(np.zeros(2)), given, given.block())


def test_a_function_that_does_not_exist_is_named():
    learner = DiscountedNewton()
    with pytest.raises(StreamError, match=r"functions 0 to 29\. Round 1 asks for 30"):
        learner.run(
            learner.init(np.zeros(2)), Functions(BOWLS), Block(None, [0.0, 30.0])
        )


def test_constants_are_stated_never_guessed():
    block = Functions(BOWLS).block()
    with pytest.raises(UnsupportedLossError, match="Give them"):
        Functions(BOWLS).constants(Ball(1.0), block)
    stated = Constants(1.0, 1.0, 0.25, 2.0)
    assert Functions(BOWLS, stated).constants(Ball(1.0), block) == stated
