"""What is stored of a Tracker's state, and what is built again from it."""

import numpy as np
import pytest

from thalweg.learners import Tracker
from thalweg.models import Online


@pytest.mark.parametrize("curvature, limit", [(False, 64_000), (True, 96_000)])
def test_a_saved_model_of_eight_features_is_small(tmp_path, curvature, limit):
    model = Online(Tracker(curvature=curvature), intercept=False)
    rows = np.random.default_rng(0).normal(size=(40, 9))
    model.run(rows[:, :8], rows[:, 8])
    model.save(tmp_path / "m.thalweg")
    size = (tmp_path / "m.thalweg").stat().st_size
    assert 0.9 * limit < size <= limit
