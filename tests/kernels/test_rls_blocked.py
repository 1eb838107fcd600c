"""The parts of kernels/blocks, small enough for plain Python."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernels.test_ud_factor import excited
from thalweg.kernels import ud_factor as factors
from thalweg.kernels.rls import rls
from thalweg.kernels.rls_blocked import (
    accumulate,
    kept,
    lazy,
    plain,
    rounds,
    safe,
    triangles,
)
from thalweg.kernels.rls_blocked.eliminate import eliminate

sizes = st.integers(1, 19)
seeds = st.integers(0, 2**32 - 1)


def whole(array, rows=None):
    """The array, made up with zeros to whole lanes; or to so many rows."""
    n, w = array.shape
    out = np.zeros((triangles.lanes(n) if rows is None else rows, triangles.padded(w)))
    out[:n, :w] = array
    return out


@settings(max_examples=20)
@given(n=sizes, targets=st.integers(1, 9), count=st.integers(1, 6), seed=seeds)
def test_elimination_learns_row_after_row(n, targets, count, seed):
    """P, z = Uθ, and for every row what is left of y by the θ before it."""
    rng = np.random.default_rng(seed)
    p, q = triangles.lanes(n), triangles.lanes(targets)
    pivots, held = np.ones(p), np.zeros((p, p + q))
    np.fill_diagonal(held, 1.0)
    x, y = rng.normal(size=(count, n)), rng.normal(size=(count, targets))
    rows = np.zeros((count, p + 2 * q))
    rows[:, :n], rows[:, p : p + targets] = x, y
    weights = rng.uniform(0, 2, size=count)
    P, b, said = np.eye(n), np.zeros((n, targets)), []
    for row, label, weight in zip(x, y, weights, strict=True):
        said.append(row @ np.linalg.solve(P, b))
        P, b = P + weight * np.outer(row, row), b + weight * np.outer(row, label)
    eliminate(pivots, held, rows, weights.copy(), *np.empty((2, count, 8)))
    U = held[:n, :n]
    np.testing.assert_array_equal(U, np.triu(U))
    np.testing.assert_array_equal(np.diagonal(U), 1)
    np.testing.assert_allclose((U.T * pivots[:n]) @ U, P, rtol=1e-9, atol=1e-9)
    theta = np.linalg.solve(P, b)
    np.testing.assert_allclose(held[:n, p : p + targets], U @ theta, atol=1e-9)
    left, taken = rows[:, p : p + targets], rows[:, p + q : p + q + targets]
    np.testing.assert_allclose(taken, -np.array(said), atol=1e-9)
    np.testing.assert_allclose(left, y - np.array(said), atol=1e-9)


@settings(max_examples=20)
@given(n=sizes, seed=seeds)
def test_a_factor_and_its_other_forms(n, seed):
    factor, P = excited(n, seed=seed)
    inverse = np.eye(n, triangles.padded(n))
    triangles.inverse(factor, inverse)
    U = np.triu(factor[:n].T, 1) + np.eye(n)
    np.testing.assert_allclose(inverse[:, :n] @ U, np.eye(n), atol=1e-9)
    dense = triangles.dense(factor)
    np.testing.assert_array_equal(dense, dense.T)
    np.testing.assert_allclose(dense[:n, :n], factors.covariance(factor), rtol=1e-9)
    diagonal, again = np.empty(n), np.zeros_like(factor)
    triangles.information_diagonal(factor, diagonal)
    np.testing.assert_allclose(diagonal, np.diagonal(P), rtol=1e-9)
    triangles.factorise(dense, again)
    np.testing.assert_allclose(again[:n], factor[:n], rtol=1e-7, atol=1e-9)


def test_a_dense_covariance_of_more_rows_than_are_summed_at_once():
    n = triangles.FEW + 5
    factor, _ = excited(n, rounds=3)
    dense = triangles.dense(factor)[:n, :n]
    np.testing.assert_allclose(dense, factors.covariance(factor), atol=1e-9)


@settings(max_examples=20)
@given(n=sizes, count=st.integers(0, 9), seed=seeds)
def test_sums_over_rows(n, count, seed):
    rng = np.random.default_rng(seed)
    rows, v = whole(rng.normal(size=(12, n)), 12), whole(rng.normal(size=(1, n)), 1)[0]
    some, width = rows[:count], len(v)
    products, weights, out = np.empty(12), rng.normal(size=12), v.copy()
    accumulate.along(rows, count, v, products)
    np.testing.assert_allclose(products[:count], some @ v, atol=1e-12)
    expected = v - weights[:count] @ some
    accumulate.subtract(rows, count, weights, out)
    np.testing.assert_allclose(out, expected, atol=1e-12)
    assert accumulate.inner(v, out) == pytest.approx(v @ out, abs=1e-12)
    matrix = np.eye(width)
    accumulate.subtract_squares(matrix, rows, count, 2.0)
    np.testing.assert_array_equal(matrix, matrix.T)
    np.testing.assert_allclose(matrix, 2 * (np.eye(width) - some.T @ some), atol=1e-12)
    product = np.empty((8, width))
    accumulate.multiply(rows[:, :8].copy(), rows, product)
    np.testing.assert_allclose(product, rows[:, :8].T @ rows, atol=1e-12)


@settings(max_examples=10)
@given(n=st.integers(2, 10), seed=seeds)
def test_a_lazy_covariance_is_the_one_it_stands_for(n, seed):
    """At any moment, and after its rows have entered it."""
    rng = np.random.default_rng(seed)
    factor, P = excited(n, seed=seed)
    now, x = lazy.begin(factor), rng.normal(size=(2, n))
    image, v = lazy.images(now, x, 0, 2), whole(x, 2)
    lazy.learn(now, 0, image[0], x[0] @ image[0, :n], 0.5)
    k, column = n - 1, np.empty(len(now.variance))
    lazy.column(now, 1, k, column)
    P = P + 0.5 * np.outer(x[0], x[0])
    np.testing.assert_allclose(column[:n], np.linalg.inv(P)[k], rtol=1e-6, atol=1e-9)
    gain = lazy.learn(now, 1, column, column[k], 3.0)
    P[k, k] += 3.0
    C = np.linalg.inv(P)
    np.testing.assert_allclose(gain * column[:n], 3.0 * C[k], rtol=1e-6, atol=1e-9)
    lazy.lessen(now, 2, v[1], image[1])
    np.testing.assert_allclose(image[1, :n], C @ x[1], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(now.variance[:n], np.diagonal(C), rtol=1e-6)
    lazy.settle(now, 2, 1.5)
    np.testing.assert_allclose(now.covariance[:n, :n], 1.5 * C, rtol=1e-6, atol=1e-9)


def played(play, n=5, count=70, gamma=0.95, ridge=1.0, floor=0.0, seed=0, **changes):
    """θ, factor, out and loss of ``play`` and of ``rls``; how far ``play`` came."""
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(count, n)), rng.normal(size=(count, 2))
    weight, elapsed = rng.uniform(0, 2, size=(2, count))
    weight[7] = elapsed[9] = x[-3:, 0] = 0.0
    x, elapsed = changes.get("x", x), changes.get("elapsed", elapsed)
    results, ends = [], 0
    for blocked in (False, True):
        theta, factor = np.zeros((n, 2)), factors.prior(ridge, np.zeros(n))
        out, loss = np.empty((count, 2)), np.empty(count)
        if blocked:
            given_rounds = safe.Rounds(x, y, weight, elapsed, out, loss)
            ends = play(theta, factor, gamma, given_rounds)
        else:
            pull, none = changes.get("pull", False), np.empty((0, n, 2))
            how = (gamma, floor, pull, x, y, weight, elapsed, out, loss, none)
            rls(theta, factor, *how)
        results.append((theta, factor, out, loss))
    return ends, results


def assert_the_same(results):
    for one, other in zip(*results, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-9, atol=1e-10)
    ridges = [factor[-2] for _, factor, *_ in results]
    np.testing.assert_allclose(*ridges, rtol=1e-9)


def plainly(spare=0.0):
    return lambda theta, factor, gamma, given_rounds: plain.play(
        theta, factor, gamma, spare, given_rounds, 0
    )


@pytest.mark.parametrize("n", [1, 5, 8, 9])
def test_plain_blocks_are_single_rounds(n):
    ends, results = played(plainly(), n)
    assert ends == 70
    assert_the_same(results)


@pytest.mark.parametrize("pull", [False, True])
@pytest.mark.parametrize("n, gamma", [(1, 0.95), (5, 0.95), (9, 0.8), (20, 0.5)])
def test_blocks_that_keep_a_ridge_are_single_rounds(n, gamma, pull):
    ends, results = played(keeping(0.3, pull), n, gamma=gamma, floor=0.3, pull=pull)
    assert ends == 70
    assert_the_same(results)


def keeping(floor, pull=False):
    return lambda theta, factor, gamma, given_rounds: kept.play(
        theta, factor, gamma, floor, pull, given_rounds, 0
    )


@pytest.mark.parametrize("n, gamma", [(5, 0.95), (20, 0.5)])
def test_the_information_on_each_coordinate_is_known(n, gamma):
    """By it blocks are judged; here beside the inverse of C, ridge raised and all."""
    rng, none = np.random.default_rng(0), np.empty(0)
    factor = factors.prior(0.01, np.zeros(n))
    x, y, out = rng.normal(size=(3, n)), rng.normal(size=(3, 1)), np.empty((3, 1))
    now = lazy.begin(factor)
    held = kept._held(np.zeros((n, 1)), factor, now)
    ridge = kept.Ridge(0.3, False, gamma, kept.served(n, gamma))
    given_rounds = safe.Rounds(x, y, none, none, out, np.empty(3))
    ahead = safe.look_ahead(n, 3)
    assert safe.block_end(factor, now.variance, gamma, given_rounds, 0, ahead) == 3
    kept._block(now, held, ridge, ahead, given_rounds, 0, 3)
    P = np.linalg.inv(now.covariance[:n, :n])
    np.testing.assert_allclose(held.information, np.diagonal(P), rtol=1e-9)


def test_a_ridge_that_is_never_served_is_forgotten_only_so_far():
    x = np.random.default_rng(0).normal(size=(130, 9))
    x[:, 0] *= 100
    ends, results = played(
        keeping(0.3), 9, 130, gamma=0.5, ridge=1e3, floor=0.3, x=x, elapsed=np.ones(130)
    )
    assert ends == 130
    assert results[0][1][10, 0] == 1e-30
    assert_the_same(results)


def test_what_subtraction_would_blur_is_not_played_in_blocks():
    ends, _ = played(keeping(1e-9), ridge=1e-9, floor=1e-9)
    assert ends == 0


@settings(max_examples=50)
@given(n=st.integers(1, 1000), gamma=st.floats(1e-300, 1, exclude_min=True))
def test_no_target_is_larger_than_the_largest(n, gamma):
    power = np.float64(0.5 * n / kept.served(n, gamma))
    with np.errstate(over="ignore"):
        largest = min(np.float64(1 / gamma) ** power, 2.0)
    assert kept.most_raised(n, gamma) == pytest.approx(largest)


def test_while_there_is_ridge_to_spare_plain_blocks_will_do():
    spare = 0.5 * kept.most_raised(5, 0.95)
    ends, _ = played(plainly(spare), floor=0.5, ridge=10.0)
    assert ends == 32  # the second block would end below it
    ends, results = played(plainly(spare), floor=0.5, ridge=1e3)
    assert ends == 70
    assert_the_same(results)


@pytest.mark.parametrize(
    "reason, change",
    [
        ("a direction that is about to be held", {"ridge": 1e-11}),
        ("a feature out of proportion", {"x": np.full((70, 5), 1e101)}),
        ("a gap after which all is forgotten", {"elapsed": np.full(70, 1e4)}),
    ],
)
def test_no_block_begins_where_it_is_not_safe(reason, change):
    ends, _ = played(plainly(), **change)
    assert ends == 0, reason


def test_squares_that_might_overflow_are_not_safe():
    x, none = np.full((4, 5), 1e101), np.empty(0)
    given_rounds = safe.Rounds(x, x[:, :1], none, none, x[:, :1], none)
    factor, known = factors.prior(1.0, np.zeros(5)), np.full(5, 1e-230)
    how = (0.9, given_rounds, 0, safe.look_ahead(5, 4))
    assert safe.block_end(factor, known, *how) == 0
    x *= 0.01
    assert safe.block_end(factor, known, *how) == 4


def test_blocks_end_where_a_quiet_feature_might_be_held():
    x = np.random.default_rng(0).normal(size=(70, 5))
    x[:, 0] = 0
    ends, _ = played(plainly(), gamma=0.5, x=x, elapsed=np.ones(70))
    assert ends == 32


def test_a_block_ends_before_a_gap():
    elapsed = np.ones(70)
    elapsed[20] = 1e4
    ends, _ = played(plainly(), elapsed=elapsed)
    assert ends == 20


def test_what_is_unknown_or_too_small_cannot_be_held():
    for d in (np.inf, 1e-251):
        factor, _ = excited(3)
        assert safe.representable(factor)
        factor[1, 1] = d
        assert not safe.representable(factor)


def test_no_blocks_with_a_factor_that_they_cannot_hold():
    n, none = 16, np.empty(0)
    x, theta, factor = np.ones((70, n)), np.zeros((n, 1)), np.eye(n + 3, n) * 1e-260
    out, loss = np.empty((70, 1)), np.empty(70)
    how = (theta, factor, 0.9, 0.0, False, x, x[:, :1].copy(), none, none, out, loss)
    assert rounds.rls_in_blocks(*how) == 0


@pytest.mark.parametrize("floor", [0.0, 0.3])
def test_rounds_are_played_one_by_one_until_blocks_are_safe(floor):
    n, count, rng = 16, 150, np.random.default_rng(0)
    x, y, none = rng.normal(size=(count, n)), rng.normal(size=(count, 1)), np.empty(0)
    results = []
    for blocked in (False, True):
        theta, factor = np.zeros((n, 1)), factors.prior(0.0, np.zeros(n))
        out, loss = np.empty((count, 1)), np.empty(count)
        how = (theta, factor, 0.9, floor, True, x, y, none, none, out, loss)
        if blocked:
            assert rounds.rls_in_blocks(*how) == count - rounds.WORTHWHILE
        else:
            rls(*how, np.empty((0, n, 1)))
        results.append((theta, factor, out, loss))
    assert_the_same(results)
