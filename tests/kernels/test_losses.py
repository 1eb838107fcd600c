import numpy as np
import pytest

from tests.contracts.examples import public_classes
from thalweg import losses
from thalweg.kernels import losses as kernel
from thalweg.losses import Huber, LinearLoss

WITH_KERNEL = [
    kind for kind in public_classes(losses, LinearLoss) if kind.code is not None
]


@pytest.mark.parametrize("kind", WITH_KERNEL)
def test_codes_mean_the_losses_they_stand_for(kind):
    loss = Huber(0.7) if kind is Huber else kind()
    rng = np.random.default_rng(0)
    for p, y in zip(10 * rng.normal(size=200), rng.uniform(size=200), strict=True):
        how = (loss.code, loss.shape_parameter, p, y)
        assert kernel.phi(*how) == pytest.approx(loss.phi(p, y), rel=1e-12, abs=1e-15)
        assert kernel.slope(*how) == pytest.approx(loss.slope(p, y), rel=1e-12)
        assert kernel.curvature(*how) == pytest.approx(loss.curvature(p, y), rel=1e-12)


def test_every_code_stands_for_one_loss():
    assert sorted(kind.code for kind in WITH_KERNEL) == sorted(kernel.CODES)


@pytest.mark.parametrize("function", [kernel.phi, kernel.slope, kernel.curvature])
def test_an_unknown_code_is_no_loss(function):
    assert np.isnan(function(max(kernel.CODES) + 1, 1.0, 2.0, 0.5))
