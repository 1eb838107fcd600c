import numpy as np
import pytest

from thalweg.errors import StreamError
from thalweg.learners import DiscountedNewton
from thalweg.losses import Logistic
from thalweg.types import Block


def test_certain_labels_keep_their_small_gradient():
    assert Logistic().slope(50.0, 1.0) == pytest.approx(-np.exp(-50.0), rel=1e-12)
    assert Logistic().phi(-800.0, 0.0) == 0.0
    assert np.isfinite(Logistic().phi(800.0, 0.0))


def test_the_mean_label_is_the_probability_of_which_the_prediction_is_the_log_odds():
    assert Logistic().mean(0.0) == Logistic().mean(0) == 0.5
    assert Logistic().mean(np.log(3)) == pytest.approx(0.75)
    odds = np.array([[-80.0, -5.0], [5.0, 80.0]], np.float32)
    mean = Logistic().mean(odds)
    assert mean.dtype == np.float32
    np.testing.assert_allclose(mean, 1 / (1 + np.exp(-odds.astype(float))), rtol=1e-6)
    assert Logistic().mean(-800.0) == 0.0 and Logistic().mean(800.0) == 1.0


def test_a_label_outside_its_range_is_named():
    learner = DiscountedNewton()
    block = Block(np.zeros((3, 2)), np.array([0.0, 1.0, 2.0]))
    with pytest.raises(StreamError, match=r"labels in \[0, 1\]. Round 2 has 2.0"):
        learner.run(learner.init(np.zeros(2)), Logistic(), block)
