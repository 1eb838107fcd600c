"""Bad settings and bad calls: each refused with culprit, rule and value."""

import numpy as np
import pytest

import thalweg as tw
from thalweg.errors import ThalwegError
from thalweg.losses import Constants

BLOCK = tw.Block(np.ones((4, 2)), np.ones(4))
ZERO = Constants(0.0, 0.0, 0.0, 0.0)
MAPS = tw.Block(np.ones((4, 2, 3)), np.ones((4, 3)))
BAD = {
    "domain that is a number": lambda: tw.DiscountedNewton(domain=3),
    "domain that is a class": lambda: tw.DiscountedGradient(domain=tw.Ball),
    "rival's domain": lambda: tw.Ader(10, 1.0, domain=3),
    "learner that is a number": lambda: tw.Online(5),
    "learner that is a class": lambda: tw.Online(tw.RecursiveLeastSquares),
    "intercept that is a word": lambda: tw.Online(intercept="no"),
    "experts that are a number": lambda: tw.Experts(5),
    "functions that are a number": lambda: tw.Functions(5),
    "a complex discount": lambda: tw.RecursiveLeastSquares(np.complex128(0.9)),
    "a leaky of many": lambda: tw.RecursiveLeastSquares(leaky=np.ones(2), floor=1.0),
    "a huge horizon": lambda: tw.discounts.grid(10**400, 1.0),
    "a vanishing trade-off": lambda: tw.discounts.from_tradeoff(1e-17, 2),
    "no case": lambda: tw.DiscountedNewton.from_theorem(1, ZERO, tw.Ball(1.0), 0.9),
    "no rate": lambda: tw.DiscountedNewton.from_theorem(2, ZERO, tw.Ball(1.0), 0.9),
    "maps of another height": lambda: _run(tw.DiscountedNewton(), tw.LinearMap(), MAPS),
    "a tuple for a block": lambda: _run(
        tw.DiscountedNewton(), tw.SquaredError(), (1, 2)
    ),
    "a tuple for a block in hindsight": lambda: tw.regret.static(
        _run(tw.RecursiveLeastSquares(), tw.SquaredError(), BLOCK)[1],
        (BLOCK.x, BLOCK.y),
        tw.SquaredError(),
    ),
    "a block for constants": lambda: tw.Experts.from_newton_grid(
        BLOCK, tw.Ball(1.0), 10
    ),
    "no constants for gradients": lambda: tw.Experts.from_gradient_grid(
        None, tw.Ball(1.0), 10
    ),
    "constants for a problem": lambda: tw.bounds.paper_ridge(ZERO),
    "constants for a problem of the theorem": lambda: tw.bounds.best_ridge(ZERO),
    "a masked array": lambda: _run(
        tw.RecursiveLeastSquares(),
        tw.SquaredError(),
        tw.Block(np.ma.masked_equal(np.ones((4, 2)), 1), np.ones(4)),
    ),
    "too large for float32": lambda: tw.RecursiveLeastSquares().run(
        tw.RecursiveLeastSquares().init(np.zeros(2, np.float32)),
        tw.SquaredError(),
        tw.Block(np.full((4, 2), 1e100), np.ones(4)),
    ),
    "a weight beyond measure": lambda: _run(
        tw.RecursiveLeastSquares(),
        tw.SquaredError(),
        tw.Block(np.full((4, 2), 1e150), np.ones(4), np.full(4, 1e150)),
    ),
    "constants of NaN": lambda: tw.SquaredError().constants(
        tw.Ball(1.0), tw.Block(np.full((2, 2), np.nan), np.ones(2))
    ),
    "constants of another dimension": lambda: tw.SquaredError().constants(
        tw.Box(np.zeros(3), np.ones(3)), BLOCK
    ),
    "forecasts of another shape": lambda: tw.Trace.from_predictions(
        np.ones((4, 1)), BLOCK, tw.SquaredError()
    ),
    "forecasts that are NaN": lambda: tw.Trace.from_predictions(
        np.full(4, np.nan), BLOCK, tw.SquaredError()
    ),
    "labels that are none": lambda: tw.Trace.from_predictions(
        np.zeros(4), tw.Block(BLOCK.x, np.full(4, 2.0)), tw.Logistic()
    ),
    "a gradient of another shape": lambda: _run_functions(lambda theta: 1.0),
    "a gradient that is NaN": lambda: _run_functions(lambda theta: theta * np.nan),
    "targets of three axes": lambda: tw.Online().run(
        np.ones((4, 2)), np.ones((4, 1, 1))
    ),
}


def _run(learner, loss, block):
    return learner.run(learner.init(np.zeros(np.shape(BLOCK.x)[1])), loss, block)


def _run_functions(grad):
    loss = tw.Functions([tw.Function(lambda theta: 0.0, grad)])
    learner = tw.DiscountedGradient()
    return learner.run(learner.init(np.zeros(2)), loss, loss.block())


@pytest.mark.parametrize("call", BAD.values(), ids=BAD)
def test_is_refused_in_a_sentence(call):
    with pytest.raises(ThalwegError) as caught:
        call()
    text = str(caught.value)
    assert text.endswith(".") or "Got" in text
    assert len(text) < 500


def test_constants_of_rounds_that_weigh_nothing_are_infinite_not_an_error():
    nothing = tw.Block(None, np.ones((2, 2)), np.zeros(2))
    assert tw.Tracking().constants(tw.Ball(1.0), nothing).exp_concavity == np.inf
