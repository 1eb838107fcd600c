"""The regret of forgetting least squares is the sum of its parts, to rounding."""

import numpy as np
import pytest

from thalweg import streams
from thalweg.errors import InvalidParameterError, StreamError
from thalweg.losses import SquaredError
from thalweg.regret import clipped_bound, decomposition, dynamic
from thalweg.types import Block, Trace

SQUARED = SquaredError()


def rls(block, discount, ridge, start):
    """The points of recursive least squares, by covariance updates."""
    C, theta = np.eye(len(start)) / ridge, np.array(start, float)
    played = np.empty_like(block.x)
    for t, (x, y, weight, elapsed) in enumerate(block.rounds()):
        played[t] = theta
        C = C / discount**elapsed
        gain = weight * C @ x / (1 + weight * x @ C @ x)
        theta = theta + gain * (y - x @ theta)
        C = C - np.outer(gain, x @ C)
    return played


def random_run(seed):
    rng = np.random.default_rng(seed)
    T, n = int(rng.integers(2, 120)), int(rng.integers(1, 5))
    discount = float(rng.choice([0.3, 0.7, 0.95, 0.999, 1.0]))
    irregular = seed % 4 == 0
    block = Block(
        rng.standard_normal((T, n)),
        3 * rng.standard_normal(T),
        rng.uniform(0.1, 2, T) if irregular else None,
        rng.integers(0, 3, T).astype(float) if irregular else None,
    )
    comparator = np.cumsum(0.3 * rng.standard_normal((T, n)), axis=0)
    return block, comparator, discount, 10 ** rng.uniform(-2, 1), rng.standard_normal(n)


@pytest.mark.parametrize("hundred", [0, 100])
def test_the_parts_add_up_on_two_hundred_random_runs(hundred):
    for seed in range(hundred, hundred + 100):
        block, z, discount, ridge, start = random_run(seed)
        parts = decomposition(block, z, discount=discount, ridge=ridge, start=start)
        size = sum(map(abs, (parts.init, parts.path, parts.stability, parts.slack)))
        assert abs(parts.residual) <= 1e-10 * max(1.0, size)
        assert parts.init >= 0
        assert parts.stability >= 0
        assert parts.slack >= 0


def test_the_regret_is_that_of_recursive_least_squares():
    for seed in range(0, 40, 2):
        block, z, discount, ridge, start = random_run(seed)
        played = rls(block, discount, ridge, start)
        prediction = (block.x * played).sum(axis=1)
        trace = Trace.from_predictions(prediction, block, SQUARED)
        measured = dynamic(trace, block, SQUARED, z).total
        parts = decomposition(block, z, discount=discount, ridge=ridge, start=start)
        assert parts.regret == pytest.approx(measured, rel=1e-8, abs=1e-8)


def test_a_comparator_that_stays_has_no_path_and_one_at_the_start_no_init():
    block, z, discount, ridge, start = random_run(3)
    still = np.tile(start, (len(block), 1))
    parts = decomposition(block, still, discount=discount, ridge=ridge, start=start)
    assert parts.path == parts.init == 0


def test_recorded_points_explain_their_regret_only_if_they_are_of_rls():
    block, z, _, _, _ = random_run(7)
    played = rls(block, 0.9, 1.0, np.zeros(z.shape[1]))
    settings = {"discount": 0.9, "ridge": 1.0}
    honest = decomposition(block, z, theta=played, **settings)
    assert abs(honest.residual) <= 1e-9 * (honest.path + honest.stability)
    broken = decomposition(block, z, theta=0.9 * played, **settings)
    assert abs(broken.residual) >= 1e-3 * abs(broken.regret)


@pytest.mark.parametrize("kind", ["stationary", "abrupt", "random_walk", "rotating"])
@pytest.mark.parametrize("discount", [0.6, 0.95, 1.0])
def test_clipped_predictions_stay_under_their_bound(kind, discount):
    for seed in range(5):
        stream = getattr(streams, kind)(150, 3, noise=0.3, seed=seed)
        block = stream.block
        played = rls(block, discount, 0.1, np.zeros(3))
        prediction = np.clip((block.x * played).sum(axis=1), -1, 1)
        trace = Trace.from_predictions(prediction, block, SQUARED)
        best = np.linalg.lstsq(block.x, block.y)[0]
        for z in (stream.truth, np.tile(best, (150, 1)), np.zeros((150, 3))):
            measured = dynamic(trace, block, SQUARED, z).total
            bound = clipped_bound(block, z, -1, 1, discount=discount, ridge=0.1)
            assert measured <= bound.total
            assert bound.total == bound.init + bound.path + bound.stability


def test_without_clipping_the_same_bound_fails():
    # The second feature is all but absent, and θ_2 runs away until it matters.
    rng = np.random.default_rng(0)
    x = np.column_stack([np.ones(400), 1e-3 * rng.standard_normal(400)])
    x[40::40] = [0, 1]
    block = Block(x, np.clip(rng.standard_normal(400), -1, 1))
    played = rls(block, 0.5, 1e-6, np.zeros(2))
    z = np.zeros((400, 2))
    bound = clipped_bound(block, z, -1, 1, discount=0.5, ridge=1e-6).total
    raw = (x * played).sum(axis=1)
    clipped = Trace.from_predictions(np.clip(raw, -1, 1), block, SQUARED)
    wild = Trace.from_predictions(raw, block, SQUARED)
    assert dynamic(clipped, block, SQUARED, z).total <= bound
    assert dynamic(wild, block, SQUARED, z).total > bound


def test_what_the_bound_does_not_cover_is_refused():
    block, z, _, _, _ = random_run(1)
    with pytest.raises(StreamError, match="needs all y inside"):
        clipped_bound(block, z, -1e-3, 1e-3, discount=0.9)
    with pytest.raises(StreamError, match="comparator needs shape"):
        decomposition(block, z[1:], discount=0.9)
    with pytest.raises(InvalidParameterError, match="'discount' parameter"):
        decomposition(block, z, discount=1.1)
    with pytest.raises(InvalidParameterError, match="'ridge' parameter"):
        decomposition(block, z, discount=0.9, ridge=0.0)
