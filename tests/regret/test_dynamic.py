"""Regret against moving comparators, and the minimisers of every round."""

import numpy as np
import pytest

from thalweg import streams
from thalweg.domains import Ball, Box, Simplex
from thalweg.errors import StreamError, UnsupportedLossError
from thalweg.losses import Huber, LinearMap, Logistic, SquaredError, Tracking
from thalweg.regret import adaptive, dynamic, minimisers, path_length, static
from thalweg.types import Block, Trace

SQUARED = SquaredError()


def idle(block, loss):
    return Trace.from_predictions(np.zeros(np.shape(block.y)), block, loss)


def test_a_path_is_as_long_as_its_moves():
    assert path_length([[0.0, 0.0], [3.0, 4.0], [3.0, 5.0]]) == 6.0
    assert path_length([[1.0, 2.0]]) == 0.0
    assert path_length(np.zeros((4, 2, 3))) == 0.0


def test_regret_is_the_difference_of_the_losses_round_by_round():
    stream = streams.random_walk(200, 3, seed=1)
    block = stream.block
    trace = idle(block, SQUARED)
    result = dynamic(trace, block, SQUARED, stream.truth)
    expected = sum(
        0.5 * y**2 - 0.5 * (y - x @ z) ** 2
        for x, y, z in zip(block.x, block.y, stream.truth, strict=True)
    )
    assert result.total == pytest.approx(expected, rel=1e-12)
    assert result.path_length == path_length(stream.truth)
    fixed = static(trace, block, SQUARED)
    still = dynamic(trace, block, SQUARED, np.tile(fixed.comparator, (200, 1)))
    assert still.total == pytest.approx(fixed.total, rel=1e-12)
    assert still.path_length == 0


def test_weights_targets_maps_and_penalties_count_in_the_comparators_loss():
    rng = np.random.default_rng(2)
    x, z, weight = (
        rng.standard_normal((2, 30, 2))[0],
        rng.standard_normal((30, 2)),
        (rng.uniform(0, 2, 30)),
    )
    cases = [
        (SQUARED, Block(x, rng.standard_normal(30), weight), z),
        (SQUARED, Block(x, rng.standard_normal((30, 4)), weight),
         rng.standard_normal((30, 2, 4))),
        (Huber(0.3, 0.2), Block(x, rng.standard_normal(30), weight), z),
        (LinearMap(), Block(rng.standard_normal((30, 3, 2)),
                            rng.standard_normal((30, 3)), weight), z),
        (Tracking(), Block(None, rng.standard_normal((30, 2)), weight), z),
    ]  # fmt: skip
    for loss, block, points in cases:
        result = dynamic(Trace(np.zeros(30), np.zeros(30)), block, loss, points)
        one_by_one = sum(
            w * loss.value(point, row, y)
            for (row, y, w, _), point in zip(block.rounds(), points, strict=True)
        )
        assert result.comparator_loss == pytest.approx(one_by_one, rel=1e-12)


def test_a_comparator_of_another_length_is_refused():
    block = streams.stationary(10, 2).block
    with pytest.raises(StreamError, match=r"shape \(10, 2\). Got shape \(9, 2\)"):
        dynamic(idle(block, SQUARED), block, SQUARED, np.zeros((9, 2)))


def test_a_trace_of_other_rounds_and_a_block_with_holes_are_refused():
    block = streams.stationary(10, 2).block
    short = Trace(np.zeros(9), np.zeros(9))
    for measure in (
        lambda b: static(short, b, SQUARED),
        lambda b: dynamic(short, b, SQUARED, np.zeros((10, 2))),
        lambda b: adaptive(short, b, SQUARED),
    ):
        with pytest.raises(StreamError, match="one loss a round"):
            measure(block)
        with pytest.raises(StreamError, match="Round 3 of the block is not finite"):
            measure(Block(block.x, np.where(np.arange(10) == 3, np.nan, block.y)))


def test_lists_and_single_precision_are_measured_as_they_are():
    block = streams.stationary(50, 2, seed=3).block
    loose = Block(block.x.tolist(), block.y.tolist())
    losses = np.full(50, 0.1, np.float32)
    result = static(Trace(np.zeros(50), losses), loose, SQUARED)
    exact = static(Trace(np.zeros(50), losses.astype(float)), block, SQUARED)
    assert result.total == pytest.approx(exact.total, rel=1e-12)


def test_without_a_domain_the_minimisers_are_kaczmarz_projections():
    block = streams.random_walk(100, 3, seed=3).block
    result = minimisers(block, SQUARED)
    z = np.zeros(3)
    for t, (x, y) in enumerate(zip(block.x, block.y, strict=True)):
        z = z + x * (y - x @ z) / (x @ x)
        assert result.points[t] == pytest.approx(z, rel=1e-9, abs=1e-12)
    assert result.path_length == pytest.approx(path_length(result.points))
    assert result.selection == "nearest to the one before"
    best = dynamic(idle(block, SQUARED), block, SQUARED, result.points)
    assert best.comparator_loss <= 1e-25


@pytest.mark.parametrize(
    "domain", [Ball(0.3), Box([-0.2] * 3, [0.1, 0.3, 0.2]), Simplex()], ids=repr
)
def test_in_a_domain_no_point_is_better_and_none_as_good_is_nearer(domain):
    rng = np.random.default_rng(4)
    block = Block(rng.standard_normal((60, 3)), rng.standard_normal(60))
    result = minimisers(block, SQUARED, domain)
    before = domain.project(np.zeros(3))
    for x, y, z in zip(block.x, block.y, result.points, strict=True):
        assert domain.contains(z)
        low, high = -domain.support(-x[None])[0], domain.support(x[None])[0]
        reachable = min(max(y, low), high)
        assert x @ z == pytest.approx(reachable, abs=1e-10)
        # Nearest of all as good: every other θ of the domain with x·θ as wanted has
        # (θ - z)·(before - z) ≤ 0.
        others = np.array([domain.project(v) for v in rng.standard_normal((50, 3))])
        for other in others:
            mixed = _moved_to(other, z, x, reachable, domain)
            if mixed is not None:
                assert (mixed - z) @ (before - z) <= 1e-7
        before = z


def _moved_to(other, z, x, wanted, domain):
    """A point of the domain with x·θ as wanted on a line through two of its points."""
    opposite = domain.project(2 * z - other)
    gain = x @ (opposite - other)
    if abs(gain) < 1e-3:
        return None
    share = (wanted - x @ other) / gain
    return other + share * (opposite - other) if 0 <= share <= 1 else None


def test_points_to_track_are_their_own_minimisers():
    y = np.random.default_rng(5).standard_normal((20, 3))
    block = Block(None, y)
    result = minimisers(block, Tracking(), Ball(1.0))
    size = np.maximum(1, np.linalg.norm(y, axis=1))[:, None]
    assert result.points == pytest.approx(y / size)
    assert result.selection == "unique"
    assert minimisers(block, Tracking()).path_length == pytest.approx(path_length(y))


def test_maps_of_full_rank_have_one_minimiser_each():
    rng = np.random.default_rng(6)
    A, b = rng.standard_normal((15, 4, 2)), rng.standard_normal((15, 4))
    free = minimisers(Block(A, b), LinearMap())
    for M, y, z in zip(A, b, free.points, strict=True):
        assert M.T @ (M @ z - y) == pytest.approx(np.zeros(2), abs=1e-10)
    held = minimisers(Block(A, b), LinearMap(), Ball(0.1))
    for M, y, z in zip(A, b, held.points, strict=True):
        best = Ball(0.1).project_in(np.linalg.lstsq(M, y)[0], M.T @ M).point
        assert z == pytest.approx(best, abs=1e-6)


def test_labels_have_minimisers_on_a_bounded_domain_only():
    rng = np.random.default_rng(7)
    block = Block(rng.standard_normal((20, 2)), np.repeat([0.0, 1.0], 10))
    result = minimisers(block, Logistic(), Ball(2.0))
    for x, y, z in zip(block.x, block.y, result.points, strict=True):
        edge = 2.0 * np.linalg.norm(x)
        assert x @ z == pytest.approx(edge if y else -edge, rel=1e-10)
    with pytest.raises(UnsupportedLossError, match="no minimiser"):
        minimisers(block, Logistic())


def test_a_round_that_says_nothing_moves_nothing():
    x, y = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 2.0]]), np.array([1.0, 5.0, 4.0])
    result = minimisers(Block(x, y, weight=np.array([1.0, 1.0, 0.0])), SQUARED)
    assert result.points == pytest.approx(np.array([[1.0, 0.0]] * 3))
    with pytest.raises(UnsupportedLossError, match="one target"):
        minimisers(Block(x, np.ones((3, 2))), SQUARED)


def test_strongly_convex_rounds_are_minimised_one_by_one():
    rng = np.random.default_rng(8)
    block, loss = (
        Block(rng.standard_normal((10, 2)), rng.standard_normal(10)),
        (Huber(0.5, 0.3)),
    )
    result = minimisers(block, loss, Ball(0.2))
    for x, y, z in zip(block.x, block.y, result.points, strict=True):
        grad = loss.grad(z, x, y)
        # No direction into the ball descends: -∇ points straight out, or vanishes.
        assert grad @ z + 0.2 * np.linalg.norm(grad) <= 1e-6


def test_a_comparator_of_another_shape_is_refused():
    stream = streams.abrupt(50, 3, seed=0)
    trace = Trace.from_predictions(np.zeros(50), stream.block, SquaredError())
    for bad in (np.zeros((50, 2)), np.zeros(50), np.full((50, 3), np.nan), "abc", None):
        with pytest.raises(StreamError):
            dynamic(trace, stream.block, SquaredError(), bad)
    lost = Trace(trace.prediction, np.full(50, np.nan))
    with pytest.raises(StreamError, match="Round 0 has nan"):
        dynamic(lost, stream.block, SquaredError(), stream.truth)
