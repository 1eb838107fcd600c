import pytest

from tests.lab.bench.made_up import row
from thalweg.lab.bench import exponents


def test_a_cost_of_three_n_squared_has_exponent_two_whatever_small_n_cost():
    rows = [row("array", "a", n, 3.0 * n**2) for n in (32, 64, 128, 256)]
    overheads = [row("array", "a", n, 1e6) for n in (2, 4, 8, 16)]
    assert exponents.in_features(overheads + rows) == pytest.approx(2.0)


def test_n_experts_cost_n_times_as_much():
    rows = [row("bank", "b", 8, 7.0 * size, size) for size in (1, 4, 16)]
    assert exponents.in_experts(rows) == pytest.approx(1.0)


def test_rounds_that_cost_the_same_give_exponent_one():
    rows = [row("rounds", "c", 8, 60.0, size) for size in (10**4, 10**5, 10**6)]
    assert exponents.in_rounds(rows) == pytest.approx(1.0)


def test_two_sizes_say_nothing():
    assert exponents.in_features([row("array", "a", n, 1.0) for n in (32, 64)]) is None
