"""The parts of kernels/rls_blocked, small enough for plain Python."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernels.test_ud_factor import excited_factor
from thalweg.kernels import ud_factor as factors
from thalweg.kernels.rls import rls
from thalweg.kernels.rls_blocked import (
    block_limits,
    blocked,
    covariance_form,
    information_form,
    triangular,
)
from thalweg.kernels.ud_factor import RETAINED_RIDGE
from thalweg.kernels.windup import MIN_RIDGE, raised_coordinates

sizes = st.integers(1, 19)
seeds = st.integers(0, 2**32 - 1)


def pad_to_lanes(array, rows=None):
    """The array, padded with zeros to whole lanes, or to this number of rows."""
    n, w = array.shape
    out = np.zeros(
        (
            triangular.whole_lanes(n) if rows is None else rows,
            triangular.padded_width(w),
        )
    )
    out[:n, :w] = array
    return out


@settings(max_examples=20)
@given(n=sizes, targets=st.integers(1, 9), count=st.integers(1, 6), seed=seeds)
def test_elimination_learns_row_after_row(n, targets, count, seed):
    """P, z = Uθ, and for every row what is left of y by the θ before it."""
    rng = np.random.default_rng(seed)
    p, q = triangular.whole_lanes(n), triangular.whole_lanes(targets)
    pivots, triangle = np.ones(p), np.zeros((p, p + q))
    np.fill_diagonal(triangle, 1.0)
    x, y = rng.normal(size=(count, n)), rng.normal(size=(count, targets))
    rows = np.zeros((count, p + 2 * q))
    rows[:, :n], rows[:, p : p + targets] = x, y
    weights = rng.uniform(0, 2, size=count)
    P, b, predictions = np.eye(n), np.zeros((n, targets)), []
    for row, label, weight in zip(x, y, weights, strict=True):
        predictions.append(row @ np.linalg.solve(P, b))
        P, b = P + weight * np.outer(row, row), b + weight * np.outer(row, label)
    information_form.gauss_elimination(
        pivots, triangle, rows, weights.copy(), *np.empty((2, count, 8))
    )
    U = triangle[:n, :n]
    np.testing.assert_array_equal(U, np.triu(U))
    np.testing.assert_array_equal(np.diagonal(U), 1)
    np.testing.assert_allclose((U.T * pivots[:n]) @ U, P, rtol=1e-9, atol=1e-9)
    theta = np.linalg.solve(P, b)
    np.testing.assert_allclose(triangle[:n, p : p + targets], U @ theta, atol=1e-9)
    left, taken = rows[:, p : p + targets], rows[:, p + q : p + q + targets]
    np.testing.assert_allclose(taken, -np.array(predictions), atol=1e-9)
    np.testing.assert_allclose(left, y - np.array(predictions), atol=1e-9)


@settings(max_examples=20)
@given(n=sizes, seed=seeds)
def test_a_factor_and_its_other_forms(n, seed):
    factor, P = excited_factor(n, seed=seed)
    inverse = np.eye(n, triangular.padded_width(n))
    triangular.invert_unit_triangle(factor, inverse)
    U = np.triu(factor[:n].T, 1) + np.eye(n)
    np.testing.assert_allclose(inverse[:, :n] @ U, np.eye(n), atol=1e-9)
    dense = triangular.dense_covariance(factor)
    np.testing.assert_array_equal(dense, dense.T)
    np.testing.assert_allclose(dense[:n, :n], factors.covariance(factor), rtol=1e-9)
    diagonal, again = np.empty(n), np.zeros_like(factor)
    triangular.information_diagonal(factor, diagonal)
    np.testing.assert_allclose(diagonal, np.diagonal(P), rtol=1e-9)
    triangular.factorise_covariance(dense, again)
    np.testing.assert_allclose(again[:n], factor[:n], rtol=1e-7, atol=1e-9)


def test_a_dense_covariance_of_more_rows_than_are_summed_at_once():
    n = triangular.PRODUCT_ROWS + 5
    factor, _ = excited_factor(n, rounds=3)
    dense = triangular.dense_covariance(factor)[:n, :n]
    np.testing.assert_allclose(dense, factors.covariance(factor), atol=1e-9)


@settings(max_examples=20)
@given(n=sizes, count=st.integers(0, 9), seed=seeds)
def test_sums_over_rows(n, count, seed):
    rng = np.random.default_rng(seed)
    rows = pad_to_lanes(rng.normal(size=(12, n)), 12)
    v = pad_to_lanes(rng.normal(size=(1, n)), 1)[0]
    some, width = rows[:count], len(v)
    products, weights, out = np.empty(12), rng.normal(size=12), v.copy()
    triangular.row_products(rows, count, v, products)
    np.testing.assert_allclose(products[:count], some @ v, atol=1e-12)
    expected = v - weights[:count] @ some
    triangular.subtract_rows(rows, count, weights, out)
    np.testing.assert_allclose(out, expected, atol=1e-12)
    assert triangular.inner_product(v, out) == pytest.approx(v @ out, abs=1e-12)
    matrix = np.eye(width)
    triangular.subtract_squares(matrix, rows, count, 2.0)
    np.testing.assert_array_equal(matrix, matrix.T)
    np.testing.assert_allclose(matrix, 2 * (np.eye(width) - some.T @ some), atol=1e-12)
    product = np.empty((8, width))
    triangular.multiply_transposed(rows[:, :8].copy(), rows, product)
    np.testing.assert_allclose(product, rows[:, :8].T @ rows, atol=1e-12)


@settings(max_examples=10)
@given(n=st.integers(2, 10), seed=seeds)
def test_a_lazy_covariance_is_the_one_it_stands_for(n, seed):
    """At any moment, and after its rows have entered it."""
    rng = np.random.default_rng(seed)
    factor, P = excited_factor(n, seed=seed)
    now, x = covariance_form.lazy_covariance(factor), rng.normal(size=(2, n))
    gains, v = covariance_form.initial_gains(now, x, 0, 2), pad_to_lanes(x, 2)
    covariance_form.append_row(now, 0, gains[0], x[0] @ gains[0, :n], 0.5)
    k, column = n - 1, np.empty(len(now.variance))
    covariance_form.covariance_column(now, 1, k, column)
    P = P + 0.5 * np.outer(x[0], x[0])
    np.testing.assert_allclose(column[:n], np.linalg.inv(P)[k], rtol=1e-6, atol=1e-9)
    a = covariance_form.append_row(now, 1, column, column[k], 3.0)
    P[k, k] += 3.0
    C = np.linalg.inv(P)
    np.testing.assert_allclose(a * column[:n], 3.0 * C[k], rtol=1e-6, atol=1e-9)
    covariance_form.subtract_row_gains(now, 2, v[1], gains[1])
    np.testing.assert_allclose(gains[1, :n], C @ x[1], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(now.variance[:n], np.diagonal(C), rtol=1e-6)
    covariance_form.merge_rows(now, 2, 1.5)
    np.testing.assert_allclose(now.covariance[:n, :n], 1.5 * C, rtol=1e-6, atol=1e-9)


def play_both_ways(
    play, n=5, count=70, gamma=0.95, ridge=1.0, floor=0.0, seed=0, **changes
):
    """Where ``play`` ends; then θ, factor, out and loss of ``rls`` and of ``play``."""
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(count, n)), rng.normal(size=(count, 2))
    weight, elapsed = rng.uniform(0, 2, size=(2, count))
    weight[7] = elapsed[9] = x[-3:, 0] = 0.0
    x, elapsed = changes.get("x", x), changes.get("elapsed", elapsed)
    results, ends = [], 0
    for in_blocks in (False, True):
        theta, factor = np.zeros((n, 2)), factors.prior(ridge, np.zeros(n))
        out, loss = np.empty((count, 2)), np.empty(count)
        if in_blocks:
            recorded = block_limits.RecordedRounds(x, y, weight, elapsed, out, loss)
            ends = play(theta, factor, gamma, recorded)
        else:
            leaky, none = changes.get("leaky", False), np.empty((0, n, 2))
            how = (gamma, floor, leaky, x, y, weight, elapsed, out, loss, none)
            rls(theta, factor, *how)
        results.append((theta, factor, out, loss))
    return ends, results


def assert_the_same(results):
    for one, other in zip(*results, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-9, atol=1e-10)
    ridges = [factor[RETAINED_RIDGE] for _, factor, *_ in results]
    np.testing.assert_allclose(*ridges, rtol=1e-9)


def information_blocks(min_ridge=0.0):
    return lambda theta, factor, gamma, recorded: (
        information_form.play_information_blocks(
            theta, factor, gamma, min_ridge, recorded, 0
        )
    )


@pytest.mark.parametrize("n", [1, 5, 8, 9])
def test_blocks_in_information_form_equal_single_rounds(n):
    ends, results = play_both_ways(information_blocks(), n)
    assert ends == 70
    assert_the_same(results)


@pytest.mark.parametrize("leaky", [False, True])
@pytest.mark.parametrize("n, gamma", [(1, 0.95), (5, 0.95), (9, 0.8), (20, 0.5)])
def test_blocks_in_covariance_form_equal_single_rounds(n, gamma, leaky):
    ends, results = play_both_ways(
        covariance_blocks(0.3, leaky), n, gamma=gamma, floor=0.3, leaky=leaky
    )
    assert ends == 70
    assert_the_same(results)


def covariance_blocks(floor, leaky=False):
    return lambda theta, factor, gamma, recorded: (
        covariance_form.play_covariance_blocks(
            theta, factor, gamma, floor, leaky, recorded, 0
        )[0]
    )


@pytest.mark.parametrize("n, gamma", [(5, 0.95), (20, 0.5)])
def test_the_information_on_each_coordinate_is_known(n, gamma):
    """Blocks use P_kk to bound rounding. It must be that of the inverse of C."""
    rng, none = np.random.default_rng(0), np.empty(0)
    factor = factors.prior(0.01, np.zeros(n))
    x, y, out = rng.normal(size=(3, n)), rng.normal(size=(3, 1)), np.empty((3, 1))
    now = covariance_form.lazy_covariance(factor)
    state = covariance_form._block_state(np.zeros((n, 1)), factor, now)
    ridge = covariance_form.RidgeSettings(
        0.3, False, gamma, raised_coordinates(n, gamma)
    )
    recorded = block_limits.RecordedRounds(x, y, none, none, out, np.empty(3))
    ahead = block_limits.allocate_preview(n, 3)
    assert block_limits.block_end(factor, now.variance, gamma, recorded, 0, ahead) == 3
    covariance_form._play_block(now, state, ridge, ahead, recorded, 0, 3)
    P = np.linalg.inv(now.covariance[:n, :n])
    np.testing.assert_allclose(state.information, np.diagonal(P), rtol=1e-9)


def test_a_ridge_that_is_never_raised_is_forgotten_only_so_far():
    x = np.random.default_rng(0).normal(size=(130, 9))
    x[:, 0] *= 100
    ends, results = play_both_ways(
        covariance_blocks(0.3),
        9,
        130,
        gamma=0.5,
        ridge=1e3,
        floor=0.3,
        x=x,
        elapsed=np.ones(130),
    )
    assert ends == 130
    assert results[0][1][RETAINED_RIDGE, 0] == MIN_RIDGE
    assert_the_same(results)


def test_rounds_that_subtraction_would_blur_are_not_played_in_blocks():
    ends, _ = play_both_ways(covariance_blocks(1e-9), ridge=1e-9, floor=1e-9)
    assert ends == 0


@settings(max_examples=50)
@given(n=st.integers(1, 1000), gamma=st.floats(1e-300, 1, exclude_min=True))
def test_no_target_is_larger_than_the_largest(n, gamma):
    power = np.float64(0.5 * n / raised_coordinates(n, gamma))
    with np.errstate(over="ignore"):
        largest = min(np.float64(1 / gamma) ** power, 2.0)
    assert covariance_form.max_target_ratio(n, gamma) == pytest.approx(largest)


def test_while_enough_ridge_is_left_the_information_form_is_used():
    min_ridge = 0.5 * covariance_form.max_target_ratio(5, 0.95)
    ends, _ = play_both_ways(information_blocks(min_ridge), floor=0.5, ridge=10.0)
    assert ends == 32  # the second block would end below it
    ends, results = play_both_ways(information_blocks(min_ridge), floor=0.5, ridge=1e3)
    assert ends == 70
    assert_the_same(results)


@pytest.mark.parametrize(
    "reason, change",
    [
        ("a direction that is about to be capped", {"ridge": 1e-11}),
        ("a feature out of proportion", {"x": np.full((70, 5), 1e101)}),
        ("a gap after which all is forgotten", {"elapsed": np.full(70, 1e4)}),
    ],
)
def test_no_block_begins_where_it_is_not_safe(reason, change):
    ends, _ = play_both_ways(information_blocks(), **change)
    assert ends == 0, reason


def test_squares_that_might_overflow_are_not_safe():
    x, none = np.full((4, 5), 1e101), np.empty(0)
    recorded = block_limits.RecordedRounds(x, x[:, :1], none, none, x[:, :1], none)
    factor, known = factors.prior(1.0, np.zeros(5)), np.full(5, 1e-230)
    how = (0.9, recorded, 0, block_limits.allocate_preview(5, 4))
    assert block_limits.block_end(factor, known, *how) == 0
    x *= 0.01
    assert block_limits.block_end(factor, known, *how) == 4


def test_blocks_end_where_an_unexcited_feature_might_be_capped():
    x = np.random.default_rng(0).normal(size=(160, 5))
    x[:, 0] = 0
    ends, _ = play_both_ways(
        information_blocks(), count=160, gamma=0.8, x=x, elapsed=np.ones(160)
    )
    assert ends == 96


def test_blocks_end_where_a_direction_that_is_no_feature_goes_unexcited():
    """No feature is near the cap: what is lost is the difference of two."""
    x = np.random.default_rng(0).normal(size=(160, 5))
    x[:, 1] = x[:, 0]
    ends, results = play_both_ways(
        information_blocks(), count=160, gamma=0.8, x=x, elapsed=np.ones(160)
    )
    assert ends == 32


def test_a_block_ends_before_a_gap():
    elapsed = np.ones(70)
    elapsed[20] = 1e4
    ends, _ = play_both_ways(information_blocks(), elapsed=elapsed)
    assert ends == 20


def test_pivots_that_are_unknown_or_too_small_are_not_representable():
    for d in (np.inf, 1e-251):
        factor, _ = excited_factor(3)
        assert block_limits.is_representable(factor)
        factor[1, 1] = d
        assert not block_limits.is_representable(factor)


def test_no_blocks_with_a_factor_that_is_not_representable():
    n, none = 16, np.empty(0)
    x, theta, factor = (
        np.ones((70, n)),
        np.zeros((n, 1)),
        np.eye(n + factors.EXTRA_ROWS, n) * 1e-260,
    )
    out, loss = np.empty((70, 1)), np.empty(70)
    how = (theta, factor, 0.9, 0.0, False, x, x[:, :1].copy(), none, none, out, loss)
    assert blocked.rls_blocked(*how) == 0


@pytest.mark.parametrize("floor", [0.0, 0.3])
def test_rounds_are_played_one_by_one_until_blocks_are_safe(floor):
    n, count, rng = 16, 150, np.random.default_rng(0)
    x, y, none = rng.normal(size=(count, n)), rng.normal(size=(count, 1)), np.empty(0)
    results = []
    for in_blocks in (False, True):
        theta, factor = np.zeros((n, 1)), factors.prior(0.0, np.zeros(n))
        out, loss = np.empty((count, 1)), np.empty(count)
        how = (theta, factor, 0.9, floor, True, x, y, none, none, out, loss)
        if in_blocks:
            assert blocked.rls_blocked(*how) == count - blocked.MIN_ROUNDS
        else:
            rls(*how, np.empty((0, n, 1)))
        results.append((theta, factor, out, loss))
    assert_the_same(results)
