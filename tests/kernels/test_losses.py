import numpy as np
import pytest

from thalweg.kernels import losses as kernel
from thalweg.losses import Huber, Logistic, SquaredError


@pytest.mark.parametrize("loss", [SquaredError(), Logistic(), Huber(0.7)], ids=repr)
def test_codes_mean_the_losses_they_stand_for(loss):
    rng = np.random.default_rng(0)
    for p, y in zip(10 * rng.normal(size=200), rng.uniform(size=200), strict=True):
        how = (loss.code, loss.shape_parameter, p, y)
        assert kernel.phi(*how) == pytest.approx(loss.phi(p, y), rel=1e-12, abs=1e-15)
        assert kernel.slope(*how) == pytest.approx(loss.slope(p, y), rel=1e-12)
        assert kernel.curvature(*how) == pytest.approx(loss.curvature(p, y), rel=1e-12)
