"""The paper's experiments are played on streams with the stated path and range."""

import numpy as np
import pytest

from thalweg.domains import Ball, Everywhere
from thalweg.losses import LinearMap, SquaredError
from thalweg.paper import paper_streams
from thalweg.regret import path_length

T = 2000


@pytest.mark.parametrize("jumps", [0, 2, 11])
def test_points_keep_their_path_length_through_features(jumps):
    points = paper_streams.coin_noise(T, jumps, seed=1)
    assert path_length(points.truth) == pytest.approx(0.8 * jumps)
    assert np.abs(points.block.y).max() <= 1 + 1e-15
    for dimension in (1, 3):
        seen = paper_streams.through_signs(points, dimension, seed=1)
        assert paper_streams.path_length(seen) == pytest.approx(0.8 * jumps)
        np.testing.assert_allclose(np.linalg.norm(seen.block.x, axis=1), 1)
        noise = seen.block.y - (seen.block.x * seen.truth).sum(axis=1)
        np.testing.assert_allclose(np.abs(noise), 0.6 / np.sqrt(dimension))
        assert np.linalg.norm(seen.truth, axis=1).max() <= 1


def test_feature_sizes_have_the_stated_convexity_and_moments():
    sizes = paper_streams.FeatureSizes(0.5, 1.0)
    points = paper_streams.coin_noise(T, 2, seed=0)
    seen = paper_streams.through_sizes(points, sizes, seed=0)
    constants = SquaredError().constants(Ball(1.0), seen.block)
    assert constants[:2] == pytest.approx(sizes)
    squares = seen.block.x[:, 0] ** 2
    # Five standard errors of a mean of 2000 values that are 0.5 or 1.
    assert abs(squares.mean() - sizes.moments.second) <= 5 * 0.25 / np.sqrt(T)
    assert abs((squares**2).mean() - sizes.moments.fourth) <= 5 * 0.375 / np.sqrt(T)


def test_matrices_have_the_stated_condition_and_the_points_as_minimisers():
    points = paper_streams.noiseless_jumps(T, 4)
    seen = paper_streams.through_matrices(points, 1.2, seed=0)
    constants = LinearMap().constants(Everywhere(), seen.block)
    assert constants[:2] == pytest.approx((1.0, 1.2))
    residual = seen.block.y - np.einsum("tmn,tn->tm", seen.block.x, seen.truth)
    assert np.abs(residual).max() <= 1e-12


def test_labels_are_drawn_with_the_odds_of_the_truth():
    stream = paper_streams.labels_with_jumps(20_000, 2, seed=0)
    assert set(np.unique(stream.block.y)) == {0.0, 1.0}
    odds = 1 / (1 + np.exp(-(stream.block.x * stream.truth)[:, 0]))
    high = odds > 0.5
    for side in (high, ~high):
        error = np.sqrt(0.25 / side.sum())
        assert abs(stream.block.y[side].mean() - odds[side][0]) <= 5 * error


def test_many_jumps_are_a_quarter_of_the_root_of_time():
    assert [paper_streams.many_jumps(T) for T in (16, 1000, 256_000)] == [1, 8, 126]
