import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.regret.test_path_budget import length, stream, total
from thalweg.errors import InvalidParameterError, UnsupportedLossError
from thalweg.kernels.compiler.jit import COMPILED
from thalweg.losses import Logistic, SquaredError
from thalweg.regret.frontier import frontier
from thalweg.regret.path_budget import best_path
from thalweg.types import Block

LOSS = SquaredError()
ROUNDS = 1000 if COMPILED else 25
ROUNDING = 1e-12


def is_convex_and_falls(curve):
    V = curve.path_length
    part = (V[1:-1] - V[:-2]) / (V[2:] - V[:-2])
    for bound in (curve.upper, curve.lower):
        chord = bound[:-2] + part * (bound[2:] - bound[:-2])
        assert (bound[1:-1] <= chord + ROUNDING * bound[0]).all()
        assert (np.diff(bound) <= ROUNDING * bound[0]).all()
    assert (np.diff(curve.price) <= 0).all()


@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize("kind", ["random", "piecewise", "drifting"])
@pytest.mark.slow
def test_the_curve_is_narrow_convex_and_falls_to_almost_nothing(kind, n):
    block, _ = stream(kind, ROUNDS, n)
    curve = frontier(block, LOSS)
    assert curve.path_length[0] == 0
    assert curve.upper[-1] <= 1.1e-3 * curve.upper[0]
    assert (curve.lower <= curve.upper).all()
    assert curve.width <= 0.02
    is_convex_and_falls(curve)


@settings(max_examples=15)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 3),
    rounds=st.integers(1, 30),
    kind=st.sampled_from(["random", "piecewise", "drifting"]),
    noise=st.sampled_from([0.0, 0.1, 1.0]),
)
def test_every_curve_is_convex_and_never_rises(seed, n, rounds, kind, noise):
    block, _ = stream(kind, rounds, n, seed, noise)
    curve = frontier(block, LOSS, points=12, width=0.1)
    assert (0 <= curve.lower).all() and (curve.lower <= curve.upper).all()
    is_convex_and_falls(curve)


@pytest.mark.parametrize("n", [1, 3])
def test_fresh_solves_lie_between_the_bounds(n):
    block, _ = stream("drifting", ROUNDS, n)
    curve = frontier(block, LOSS, width=0.1)
    last = curve.path_length[-1]
    for V in last * np.array([0.0, 1e-3, 0.03, 0.2, 0.5, 0.77, 1.0, 1.5]):
        fresh = best_path(block, LOSS, V)
        lower, upper = curve.bounds_at(V)
        assert lower <= fresh.loss * (1 + ROUNDING)
        assert fresh.lower <= upper


def test_the_width_is_the_widest_place_of_all():
    block, _ = stream("piecewise", ROUNDS, 1)
    curve = frontier(block, LOSS, points=8, width=0.0)
    V = np.linspace(0.0, curve.path_length[-1], 5000)
    widest = curve.gap_at(V).max()
    assert 0.9 * curve.width <= widest <= curve.width * (1 + 1e-9)


def test_more_points_narrow_the_curve():
    block, _ = stream("drifting", ROUNDS, 1)
    few, many = (frontier(block, LOSS, points, width=0.0) for points in (10, 40))
    assert (len(few.upper), len(many.upper)) == (10, 40)
    assert many.width < 0.5 * few.width


def test_bounds_take_arrays_and_hold_beyond_the_last_point():
    block, _ = stream("random", ROUNDS, 1)
    curve = frontier(block, LOSS, width=0.1)
    places = np.append(curve.path_length, np.inf)
    lower, upper = curve.bounds_at(places)
    assert (upper == np.append(curve.upper, curve.upper[-1])).all()
    assert lower[:-1] == pytest.approx(curve.lower, rel=1e-9)
    assert lower[-1] == curve.floor == 0
    assert curve.bounds_at(0.0) == (lower[0], upper[0])
    with pytest.raises(InvalidParameterError, match="path_length"):
        curve.bounds_at(-1.0)


def test_regret_is_bracketed_around_that_of_a_fresh_solve():
    block, V = stream("drifting", ROUNDS, 2)
    low, high = frontier(block, LOSS, longest=V).regret_at(1e3, 0.3 * V)
    fresh = best_path(block, LOSS, 0.3 * V)
    assert low <= 1e3 - fresh.lower and 1e3 - fresh.loss <= high
    assert high - low <= 0.02 * fresh.loss


@pytest.mark.parametrize("n", [1, 2])
def test_the_matching_path_length_finds_the_budget_back(n):
    block, V = stream("drifting", ROUNDS, n)
    curve = frontier(block, LOSS)
    fresh = best_path(block, LOSS, 0.1 * V)
    low, high = curve.matching_path_length(fresh.loss)
    assert low <= 0.1 * V * (1 + 1e-4) and 0.1 * V <= high * (1 + 1e-4)
    assert high - low <= 0.1 * high
    for matched in (low, high):
        lower, upper = curve.bounds_at(matched)
        assert lower <= fresh.loss * (1 + 1e-9) and fresh.loss <= upper * (1 + 1e-9)


def test_a_loss_off_the_curve_has_its_end_as_a_match():
    block, V = stream("drifting", ROUNDS, 2)
    block.x[:3] = 0.0
    curve = frontier(block, LOSS, longest=0.1 * V)
    assert curve.matching_path_length(2 * curve.upper[0]) == (0.0, 0.0)
    below = 0.9 * curve.lower[-1]
    assert curve.matching_path_length(below)[0] >= curve.path_length[-1]
    assert curve.matching_path_length(below)[1] == np.inf
    assert curve.floor == pytest.approx(0.5 * np.sum(block.y[:3] ** 2))
    assert curve.matching_path_length(0.9 * curve.floor) == (np.inf, np.inf)


def test_recorded_paths_attain_the_upper_bounds():
    block, V = stream("piecewise", ROUNDS, 2)
    curve = frontier(block, LOSS, points=6, longest=V, keep_paths=True)
    assert curve.path_length[-1] == V
    for budget, upper, theta in zip(
        curve.path_length, curve.upper, curve.paths, strict=True
    ):
        assert length(theta) <= budget * (1 + 1e-9)
        assert total(block, theta) == pytest.approx(upper, rel=1e-4)
    assert frontier(block, LOSS, points=3).paths is None


def test_data_that_a_fixed_point_fits_leave_a_single_point():
    x = np.random.default_rng(0).normal(size=(20, 2))
    curve = frontier(Block(x, x @ np.array([1.0, -2.0])), LOSS)
    assert len(curve.upper) <= 2
    assert 0 <= curve.lower[0] <= curve.upper[0] <= 1e-28
    assert curve.matching_path_length(1.0) == (0.0, 0.0)


@pytest.mark.parametrize(
    "wrong",
    [
        {"points": 1},
        {"width": -0.1},
        {"width": np.nan},
        {"longest": -1.0},
        {"longest": np.inf},
    ],
)
def test_a_setting_out_of_range_is_refused(wrong):
    block, _ = stream("random", 10, 1)
    with pytest.raises(InvalidParameterError, match=f"{next(iter(wrong))!r}"):
        frontier(block, LOSS, **wrong)


def test_a_loss_that_is_not_squared_error_is_refused():
    block, _ = stream("random", 10, 1)
    with pytest.raises(UnsupportedLossError, match="SquaredError"):
        frontier(block, Logistic())
