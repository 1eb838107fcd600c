"""The stream that makes √(TV) tight has the jumps, noise and range that it states."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thalweg.errors import InvalidParameterError
from thalweg.regret import path_length
from thalweg.streams import coin_noise_jumps


@given(
    st.integers(1, 300), st.integers(0, 299), st.floats(0, 2), st.floats(0, 2),
    st.integers(0, 5),
)  # fmt: skip
def test_path_length_noise_and_range_are_as_stated(rounds, jumps, mean, noise, seed):
    jumps = min(jumps, rounds - 1)
    stream = coin_noise_jumps(rounds, jumps, mean, noise, seed)
    assert stream.block.x is None
    assert stream.block.y.shape == stream.truth.shape == (rounds, 1)
    assert path_length(stream.truth) == pytest.approx(2 * mean * jumps)
    np.testing.assert_allclose(np.abs(stream.truth), mean)
    coins = stream.block.y - stream.truth
    np.testing.assert_allclose(np.abs(coins), noise, atol=1e-15)
    assert np.abs(stream.block.y).max() <= (mean + noise) * (1 + 1e-15)


def test_jumps_are_evenly_spaced_and_between_the_two_means():
    truth = coin_noise_jumps(1000, 4, seed=3).truth[:, 0]
    assert np.flatnonzero(np.diff(truth)).tolist() == [199, 399, 599, 799]
    assert np.diff(truth)[[199, 399]].tolist() == [-0.8, 0.8]


def test_the_coins_are_fair_and_differ_by_seed():
    first, second = (coin_noise_jumps(10_000, 0, seed=s).block.y for s in (0, 1))
    assert not np.array_equal(first, second)
    # Five standard deviations of the mean of 10,000 coins of size 0.6.
    assert abs(first.mean() - 0.4) <= 5 * 0.6 / 100


def test_more_jumps_than_rounds_are_refused():
    with pytest.raises(InvalidParameterError, match="'jumps' parameter"):
        coin_noise_jumps(10, 10)
