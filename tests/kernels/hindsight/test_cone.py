import numpy as np
import pytest

from thalweg.kernels.hindsight.cone import boundary_step


@pytest.mark.parametrize("seed", range(30))
def test_the_step_to_the_boundary_is_where_the_line_leaves_the_cone(seed):
    rng = np.random.default_rng(seed)
    tail, d_tail = rng.normal(size=(2, 1, 3))
    head, d_head = np.linalg.norm(tail) + rng.exponential(), rng.normal()
    step = boundary_step(head, d_head, tail, d_tail, 0)

    def depth(a):
        return head + a * d_head - np.linalg.norm(tail + a * d_tail)

    if step == np.inf:
        assert all(depth(a) > 0 for a in np.geomspace(1e-3, 1e6, 200))
    else:
        assert depth(step) == pytest.approx(0, abs=1e-9 * (1 + step))
        assert all(depth(a * step) > 0 for a in np.linspace(0, 0.999, 50))
