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


def test_probability_is_the_inverse_of_the_log_odds():
    assert Logistic().probability(0.0) == 0.5
    assert Logistic().probability(np.log(3)) == pytest.approx(0.75)


def test_a_label_outside_its_range_is_named():
    learner = DiscountedNewton()
    block = Block(np.zeros((3, 2)), np.array([0.0, 1.0, 2.0]))
    with pytest.raises(StreamError, match=r"labels in \[0, 1\]. Round 2 has 2.0"):
        learner.run(learner.init(np.zeros(2)), Logistic(), block)
