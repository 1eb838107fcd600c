"""Which linear losses the kernels compute; all others take the slow path."""

import numpy as np
import pytest

from thalweg.errors import InvalidParameterError
from thalweg.kernels.losses import HUBER
from thalweg.learners import DiscountedGradient, DiscountedNewton
from thalweg.learners.base import Learner
from thalweg.losses import Huber, LinearLoss, SquaredError
from thalweg.types import Block


class Quartic(LinearLoss):
    """f(θ) = (x·θ - y)⁴ / 12, which no kernel knows."""

    def phi(self, p, y):
        return (p - y) ** 4 / 12

    def slope(self, p, y):
        return (p - y) ** 3 / 3

    def curvature(self, p, y):
        return (p - y) ** 2

    def curvature_range(self, low, high, y):
        raise NotImplementedError


class SoftHuber(Huber):
    """A subclass with another φ than the code of its base class stands for."""

    def phi(self, p, y):
        return self.width**2 * (np.sqrt(1 + ((p - y) / self.width) ** 2) - 1)

    def slope(self, p, y):
        return (p - y) / np.sqrt(1 + ((p - y) / self.width) ** 2)


@pytest.mark.parametrize("loss", [Quartic(), SoftHuber(0.5)])
@pytest.mark.parametrize("learner", [DiscountedGradient(), DiscountedNewton()])
def test_a_loss_without_a_code_is_learnt_by_its_own_formulas(learner, loss):
    rng = np.random.default_rng(0)
    block = Block(rng.normal(size=(40, 2)), rng.normal(size=40))
    start = learner.init(np.zeros(2))
    state, trace = learner.run(start, loss, block)
    expected, _ = Learner._play(learner, start, loss, block, ())
    np.testing.assert_array_equal(state.theta, expected.theta)
    expected_loss = loss.phi(trace.prediction, block.y)
    np.testing.assert_allclose(trace.loss, expected_loss, rtol=1e-12)


def test_a_code_that_the_kernels_do_not_know_is_refused_by_name():
    with pytest.raises(InvalidParameterError, match=r"'code' of Invented .* Got 3 "):
        type("Invented", (Quartic,), {"code": 3})


def test_only_a_class_that_names_its_code_has_a_kernel():
    assert SquaredError().has_kernel and Huber().has_kernel
    assert not Quartic().has_kernel and not SoftHuber().has_kernel
    assert not Huber(ridge=0.1).has_kernel
    assert type("Wide", (SoftHuber,), {"code": HUBER})().has_kernel
