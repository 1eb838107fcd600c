"""A step that overflows is projected like any other, and warns of nothing."""

import numpy as np
import pytest

from thalweg.domains import Ball, Everywhere
from thalweg.learners import (
    Ader,
    ConstantStepGradient,
    DiscountedGradient,
    OnlineGradientDescent,
)
from thalweg.losses import Round, SquaredError

LEARNERS = [
    DiscountedGradient(0.9, strong_convexity=0.01, domain=Everywhere()),
    OnlineGradientDescent(1e6, Everywhere()),
    ConstantStepGradient(1e-6, 1.0, Everywhere()),
    Ader(1, 1e-3, Ball(1.0)),
]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda a: type(a).__name__)
@pytest.mark.parametrize("dtype, largest", [(np.float64, 1e150), (np.float32, 1e15)])
def test_a_step_that_overflows_warns_of_nothing(learner, dtype, largest):
    x, y = np.full(9, largest, dtype), dtype(largest)
    state = learner.init(np.zeros(9, dtype))
    for _ in range(3):
        state = learner.update(state, Round(SquaredError(), x, y, 1e-3))
        assert np.isfinite(state.theta).all()
