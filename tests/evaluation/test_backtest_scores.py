"""Errors by step, held to loops over origins and steps."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thalweg.evaluation.backtest_scores import (
    CYCLE_AGO,
    FORECASTER,
    LAST_VALUE,
    METHODS,
    MIN_OWN_SHARE,
    SEASON_AGO,
    SEASON_MEAN,
    WARM_UP,
    BacktestScores,
    scored_steps,
)
from thalweg.forecasting.forecast import Backtest


def backtest(rows=120, horizon=5, seasons=(4, 12), seed=0, missing=()):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=rows)
    y[list(missing)] = np.nan
    mean = rng.normal(size=(rows, horizon))
    width = rng.uniform(0, 2, size=(rows, horizon))
    at_origin = np.tile(seasons, (rows, 1))
    return Backtest(y, mean, mean - width, mean + width, 0.9, None, at_origin)


def part(whole, rows):
    names = ("y", "mean", "low", "high", "level", "times", "seasons")
    values = {name: getattr(whole, name) for name in names}
    cut = {name: values[name][rows] for name in names if name not in ("level", "times")}
    return Backtest(**(values | cut))


def known_values(y, origin, target, period):
    """The known values at the phase of the target, up to the origin."""
    same = y[target % period : origin + 1 : period]
    return same[~np.isnan(same)]


def expected_errors(whole, horizon, season, cycle):
    """Squared errors of every method, in a list for each step."""
    y = whole.y
    errors = {method: [[] for _ in range(horizon)] for method in METHODS}
    for origin in range(max(WARM_UP, season) - 1, len(y)):
        for step in range(1, horizon + 1):
            if origin + step >= len(y) or np.isnan(y[origin + step]):
                continue
            last = y[: origin + 1][~np.isnan(y[: origin + 1])][-1]
            naive = {
                LAST_VALUE: last, FORECASTER: whole.mean[origin, step - 1],
                SEASON_AGO: last, CYCLE_AGO: last,
            }  # fmt: skip
            for method, period in ((SEASON_AGO, season), (CYCLE_AGO, cycle)):
                same = known_values(y, origin, origin + step, period)
                if len(same):
                    naive[method] = same[-1]
                elif method == CYCLE_AGO:
                    naive[method] = naive[SEASON_AGO]
            same = known_values(y, origin, origin + step, cycle)
            naive[SEASON_MEAN] = same.mean() if len(same) else naive[CYCLE_AGO]
            for method, value in naive.items():
                errors[method][step - 1].append(y[origin + step] - value)
    return errors


@pytest.mark.parametrize("missing", [(), (0, 30, 31, 60, 119)])
def test_errors_are_those_of_a_loop_over_origins_and_steps(missing):
    whole = backtest(missing=missing[1:])
    scores = BacktestScores(5)
    scores.add(whole)
    expected = expected_errors(whole, 5, 4, 12)
    for method in METHODS:
        found = scores.errors(method)
        for step in range(5):
            errors = np.array(expected[method][step])
            assert scores.counts[step] == len(errors)
            rms = np.sqrt(np.mean(errors**2))
            assert found.root_mean_square[step] == pytest.approx(rms)
            assert found.mean_absolute[step] == pytest.approx(np.abs(errors).mean())
    everything = np.concatenate([np.array(one) for one in expected[FORECASTER]])
    assert scores.overall_error(FORECASTER) == pytest.approx(
        np.sqrt(np.mean(everything**2))
    )


def test_before_a_cycle_has_passed_the_season_ago_counts_in_its_place():
    y = np.tile([0.0, 9.0, 4.0, 7.0], 30)  # the same every season, not every row
    whole = backtest(seasons=(4, 60))
    whole = replace(whole, y=y)
    scores = BacktestScores(5)
    scores.add(whole)
    assert scores.overall_error(SEASON_AGO) == scores.overall_error(CYCLE_AGO) == 0
    assert scores.overall_error(LAST_VALUE) > 0


def expected_own(whole, horizon, season, cycle):
    """Forecasts of each step for which a method had a value of its own."""
    own = {method: [0] * horizon for method in METHODS}
    for origin in range(max(WARM_UP, season) - 1, len(whole.y)):
        for step in range(1, horizon + 1):
            target = origin + step
            if target >= len(whole.y) or np.isnan(whole.y[target]):
                continue
            own[FORECASTER][step - 1] += 1
            own[LAST_VALUE][step - 1] += 1
            for method, period in ((SEASON_AGO, season), (CYCLE_AGO, cycle)):
                same = known_values(whole.y, origin, target, period)
                own[method][step - 1] += len(same) > 0
            own[SEASON_MEAN][step - 1] += len(same) > 0
    return own


@pytest.mark.parametrize("seasons", [(4, 12), (31, 44), (5, 200)])
def test_forecasts_with_a_value_of_its_own_are_counted_for_each_method(seasons):
    whole = backtest(seasons=seasons, missing=(30, 31, 60, 119))
    scores = BacktestScores(7)
    mean = np.zeros((len(whole.y), 7))
    scores.add(replace(whole, mean=mean, low=mean, high=mean))
    # The mean of a season of 4 rows in a cycle of 12 is that of the cycle.
    is_cycle = seasons == (4, 12)
    phase = seasons if is_cycle else (seasons[0], seasons[0])
    expected = expected_own(whole, 7, *seasons)
    expected[SEASON_MEAN] = expected_own(whole, 7, *phase)[SEASON_MEAN]
    for method, own in zip(METHODS, scores.own, strict=True):
        assert own.tolist() == expected[method], method


def test_a_method_that_never_had_a_value_of_its_own_is_left_out():
    whole = backtest(seasons=(1, 1))
    late = replace(whole, seasons=whole.seasons.copy())
    late.seasons[60:] = 4, 200
    for rows, left_out in ((whole, SEASON_AGO), (late, CYCLE_AGO)):
        scores = BacktestScores(5)
        scores.add(rows)
        assert left_out not in scores.naive_methods()
        assert scores.own_share(left_out) == 0
    assert set(scores.naive_methods()) == {LAST_VALUE, SEASON_AGO, SEASON_MEAN}


def test_a_method_that_seldom_had_a_value_of_its_own_is_not_the_best():
    y = np.tile(np.arange(30.0) % 7 + np.arange(30) // 7, 4)  # repeats after 30 rows
    for rows, place in ((31, -1), (120, 0)):
        whole = replace(backtest(rows=rows, seasons=(7, 30)), y=y[:rows])
        scores = BacktestScores(1)
        scores.add(whole)
        methods = scores.naive_methods()
        assert min(methods, key=scores.typical_error) == CYCLE_AGO
        assert methods[place] == CYCLE_AGO and len(methods) == 4
        assert (scores.own_share(CYCLE_AGO) < MIN_OWN_SHARE) == (place == -1)


def test_coverage_is_the_share_of_values_inside_their_band():
    whole = backtest(rows=200)
    scores = BacktestScores(5)
    scores.add(whole)
    inside = whole.is_inside[WARM_UP - 1 :]
    assert scores.coverage() == pytest.approx(np.nanmean(inside, axis=0))


def assert_same(one, other):
    for a, b in zip(one, other, strict=True):
        if isinstance(a, tuple):
            assert_same(a, b)
        else:
            np.testing.assert_array_equal(a, b)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(1, 119), max_size=6), st.integers(1, 60))
def test_rows_can_be_cut_anywhere(cuts, horizon):
    whole = backtest(horizon=horizon, missing=(40, 41))
    in_one, in_pieces = BacktestScores(horizon), BacktestScores(horizon)
    in_one.add(whole)
    edges = [0, *sorted(cuts), 120]
    for start, stop in zip(edges[:-1], edges[1:], strict=True):
        in_pieces.add(part(whole, slice(start, stop)))
        restored = BacktestScores(horizon)
        restored.restore(in_pieces.snapshot())
        in_pieces = restored
    assert_same(in_one.snapshot(), in_pieces.snapshot())


@pytest.mark.parametrize("cuts", [(40,), (31, 50, 51, 100), tuple(range(1, 120))])
def test_rows_can_be_cut_anywhere_where_seasons_are_found_later(cuts):
    whole = backtest(horizon=7, missing=(0, 40, 41))
    found = np.repeat([[1, 1], [4, 4], [4, 12], [5, 31]], [30, 20, 50, 20], axis=0)
    whole = replace(whole, seasons=found)
    in_one, in_pieces = BacktestScores(7), BacktestScores(7)
    in_one.add(whole)
    edges = [0, *cuts, 120]
    for start, stop in zip(edges[:-1], edges[1:], strict=True):
        in_pieces.add(part(whole, slice(start, stop)))
    assert_same(in_one.snapshot(), in_pieces.snapshot())
    means, counts = in_one.naive.means  # 5 does not divide 31
    assert len(means) == 5 and counts.sum() == np.isfinite(whole.y).sum()
    assert means[4] == pytest.approx(np.nanmean(whole.y[4::5]))


def test_the_mean_of_a_season_beats_its_last_value_where_values_are_noise():
    rng = np.random.default_rng(3)
    whole = backtest(rows=400)
    y = np.tile([0.0, 9.0, 4.0, 7.0], 100) + rng.normal(size=400)
    scores = BacktestScores(5)
    scores.add(replace(whole, y=y))
    assert scores.naive_methods()[0] == SEASON_MEAN
    assert scores.overall_error(SEASON_MEAN) < 0.8 * scores.overall_error(SEASON_AGO)


def test_long_horizons_are_scored_at_some_steps_and_the_last():
    assert scored_steps(10).tolist() == list(range(1, 11))
    steps = scored_steps(1000)
    assert len(steps) == 48 and steps[0] == 1 and steps[-1] == 1000


def test_methods_that_say_the_same_are_named_once():
    for seasons, names in (
        ((1, 1), {LAST_VALUE}),
        ((4, 4), {LAST_VALUE, SEASON_AGO, SEASON_MEAN}),
        ((4, 12), {LAST_VALUE, SEASON_AGO, CYCLE_AGO, SEASON_MEAN}),
    ):
        scores = BacktestScores(5)
        scores.add(backtest(seasons=seasons))
        found = scores.naive_methods()
        assert set(found) == names
        errors = [scores.typical_error(name) for name in found]
        assert errors == sorted(errors)


def test_memory_does_not_grow_with_the_rows():
    scores = BacktestScores(3)
    for seed in range(12):
        scores.add(backtest(rows=1000, horizon=3, seed=seed))
    sizes = [len(scores.values), len(scores.waiting)]
    scores.add(backtest(rows=1000, horizon=3))
    assert sizes == [len(scores.values), len(scores.waiting)]
