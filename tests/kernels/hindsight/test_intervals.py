import numpy as np
import pytest

from thalweg.kernels.hindsight.intervals import insert_row


@pytest.mark.parametrize("k", [1, 2])
def test_rows_rotated_in_one_by_one_are_a_qr_factorisation(k):
    rng = np.random.default_rng(k)
    x, y = rng.normal(size=(9, 4)), rng.normal(size=(9, k))
    x[:, 3] = x[:, 0] - 2 * x[:, 1]  # depends on columns before it
    x[::3, 0] = 0
    triangle, left = np.zeros((4, 4 + k)), 0.0
    for t in range(9):
        left += insert_row(triangle, np.concatenate([x[t], y[t]]), 4)
        rows = np.column_stack([x, y])[: t + 1]
        R, beside = triangle[:, :4], triangle[:, 4:]
        np.testing.assert_allclose(R, np.triu(R))
        np.testing.assert_allclose(R.T @ R, rows[:, :4].T @ rows[:, :4], atol=1e-12)
        np.testing.assert_allclose(
            R.T @ beside, rows[:, :4].T @ rows[:, 4:], atol=1e-12
        )
        theta = np.linalg.lstsq(rows[:, :4], rows[:, 4:], rcond=None)[0]
        rest = rows[:, 4:] - rows[:, :4] @ theta
        assert left == pytest.approx(0.5 * (rest**2).sum(), abs=1e-12)
