import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thalweg import discounts
from thalweg.errors import InvalidParameterError


@given(st.floats(1e-3, 1e9))
def test_half_life_and_back(rounds):
    discount = discounts.from_half_life(rounds)
    assert 0 < discount <= 1
    # 1 - γ is known to one rounding, so that is how well the half-life is.
    error = 2e-16 / (1 - discount) if discount < 1 else math.inf
    assert discounts.half_life(discount) == pytest.approx(rounds, rel=1e-12 + 2 * error)


@given(st.floats(1.01, 1e9))
def test_window_and_back(rounds):
    error = 4e-16 * rounds
    assert discounts.window(discounts.from_window(rounds)) == pytest.approx(
        rounds, rel=1e-12 + error
    )


def test_no_forgetting_remembers_for_ever():
    assert discounts.half_life(1.0) == discounts.window(1.0) == math.inf
    assert discounts.from_half_life(math.inf) == discounts.from_window(math.inf) == 1.0


def test_tradeoff_is_corollary_1():
    assert discounts.from_tradeoff(0.5, 100) == 0.9


def test_path_length_is_corollary_2():
    assert discounts.from_path_length(8.0, 100, 1.0) == 1 - 0.5 * math.sqrt(8 / 200)
    still = 1 - 0.5 * math.sqrt(math.log(100) ** 2 / 100 / 200)
    assert discounts.from_path_length(0.0, 100, 1.0) == still


@given(
    st.integers(2, 10**7), st.floats(1e-3, 1e3), st.floats(0, 1), st.floats(1e-6, 1e6)
)
def test_path_length_rule_is_valid_and_free_of_units(horizon, radius, share, unit):
    length = share * 2 * radius * (horizon - 1)
    discount = discounts.from_path_length(length, horizon, radius)
    assert 0.5 <= discount < 1
    limit = 2 * (unit * radius) * (horizon - 1)
    scaled = min(length * unit, limit)
    other = discounts.from_path_length(scaled, horizon, radius * unit)
    assert other == pytest.approx(discount, rel=1e-12)


def test_the_printed_grid_at_two_rounds_is_that_of_the_paper():
    """THEORY of the grid at T = 2, D = 1, the last of which ours drops."""
    printed = discounts.grid(2, 1.0, static=False, as_printed=True)
    np.testing.assert_allclose(printed, [0.8775, 0.7549, 0.5099, 0.0197], atol=1e-4)
    ours = discounts.grid(2, 1.0, static=False)
    assert ours == printed[:3]
    assert discounts.grid(2, 1.0) == (1.0, *ours)
    assert discounts.grid(2, 1.0, as_printed=True) == (1.0, *printed)


@given(st.integers(2, 10**8), st.floats(1e-100, 1e100), st.floats(1e-100, 1e100))
def test_the_grid_does_not_change_with_the_unit_of_length(horizon, radius, other):
    assert discounts.grid(horizon, radius) == discounts.grid(horizon, other)


def test_the_printed_grid_changes_with_the_unit_of_length():
    printed = discounts.grid(1000, 0.1, static=False, as_printed=True)
    assert 1 - printed[0] == pytest.approx(0.0077, abs=5e-5)
    still = discounts.from_path_length(0.0, 1000, 0.1)
    assert 1 - still == pytest.approx(0.0024, abs=5e-5)
    ours = discounts.grid(1000, 0.1, static=False)
    assert ours[0] == pytest.approx(still, abs=1e-15)


@given(st.integers(2, 10**8), st.floats(0.07, 1e4))
def test_the_grid_halves_down_to_one_half(horizon, radius):
    for as_printed in (False, True):
        grid = discounts.grid(horizon, radius, static=False, as_printed=as_printed)
        gaps = 1 - np.array(grid)
        last = gaps[-1] if not as_printed else gaps[-1] / 2  # rounded up (E7)
        assert last <= 0.5 * (1 + 1e-12) and 2 * last >= 0.5 * (1 - 1e-12)
        # γ near 1 is stored to one rounding, and so is the gap.
        np.testing.assert_allclose(gaps[1:], 2 * gaps[:-1], rtol=1e-12, atol=3e-16)


@given(st.integers(2, 10**6), st.floats(1e-3, 1e3), st.floats(0, 1))
def test_some_grid_point_is_within_a_factor_two_of_the_best(horizon, radius, share):
    """What Theorem 7 needs: 1/(1-γ_k) ≤ 2/(1-γ*) for the γ* of Corollary 2."""
    length = share * 2 * radius * (horizon - 1)
    best = 1 - discounts.from_path_length(length, horizon, radius)
    gaps = 1 - np.array(discounts.grid(horizon, radius, static=False))
    assert ((gaps <= best * (1 + 1e-9)) & (2 * gaps >= best * (1 - 1e-9))).any()


@pytest.mark.parametrize(
    "call",
    [
        lambda: discounts.from_half_life(0.0),
        lambda: discounts.from_window(1.0),
        lambda: discounts.half_life(0.0),
        lambda: discounts.window(1.5),
        lambda: discounts.from_tradeoff(1.0, 100),
        lambda: discounts.from_tradeoff(0.5, 1),
        lambda: discounts.from_path_length(1e9, 100, 1.0),
        lambda: discounts.from_path_length(float("nan"), 100, 1.0),
        lambda: discounts.grid(1, 1.0),
        lambda: discounts.grid(100, 0.0),
        lambda: discounts.grid(100, math.inf),
        lambda: discounts.grid(100, 0.06, as_printed=True),
    ],
)
def test_what_no_rule_allows_is_refused(call):
    with pytest.raises(InvalidParameterError, match="must be in .* Got .* instead"):
        call()
