"""Seasons by the calendar, and from values."""

import numpy as np
import pandas as pd
import pytest

from thalweg.calendar.season_finder import (
    HISTORY,
    Seasons,
    SeasonSearch,
    calendar_seasons,
    find_seasons,
)
from thalweg.calendar.time_grid import TimeGrid, as_times, find_grid
from thalweg.calendar.weekdays import DAY
from thalweg.rules import obeys


@pytest.mark.parametrize(
    ("freq", "seasons"),
    [
        ("h", (24, 168)), ("30min", (48, 336)), ("10min", (144, 1008)),
        ("min", (1440, 10_080)), ("15s", (240, 5760)), ("s", (1, 1)),
        ("45min", (32, 224)), ("7min", (1, 1)), ("12h", (2, 14)), ("D", (7, 365)),
        ("2D", (1, 1)), ("W", (52, 52)), ("MS", (12, 12)), ("2ME", (6, 6)),
        ("QS", (4, 4)), ("6MS", (2, 2)), ("YS", (1, 1)),
    ],
)  # fmt: skip
def test_the_calendar_gives_the_seasons(freq, seasons):
    index = pd.date_range("2026-01-01", periods=10, freq=freq)
    assert calendar_seasons(find_grid(as_times(index))) == Seasons(*seasons)


def seasonal(rows, period, noise, seed=0):
    rng = np.random.default_rng(seed)
    pattern = rng.normal(size=period)
    return np.resize(pattern, rows) + noise * rng.normal(size=rows)


@pytest.mark.parametrize("period", [4, 7, 12, 24, 50])
@pytest.mark.parametrize("seed", range(3))
def test_a_season_is_found_in_values(period, seed):
    y = seasonal(10 * period, period, 0.2, seed)
    assert find_seasons(y).season == period
    trend = y + 0.5 * np.arange(len(y))
    assert find_seasons(trend).season == period
    y[np.random.default_rng(seed).random(len(y)) < 0.1] = np.nan
    assert find_seasons(y).season == period


def test_a_cycle_is_found_above_the_season():
    hours = np.arange(8 * 168)
    y = np.sin(2 * np.pi * hours / 24) * (1 + (hours // 24 % 7 >= 5))
    noise = 0.05 * np.random.default_rng(0).normal(size=len(y))
    assert find_seasons(y + noise) == (24, 168)


@pytest.mark.parametrize("scale", [1e-200, 1e-6, 1e6, 1e149])
def test_seasons_do_not_depend_on_units(scale):
    y = seasonal(200, 12, 0.3)
    assert find_seasons(scale * y) == find_seasons(y) == find_seasons(y + 1e6)


@pytest.mark.parametrize("rows", [60, 200, 400])
def test_seasons_are_rarely_seen_where_there_are_none(rows):
    seen = {"noise": 0, "walk": 0}
    for seed in range(300):
        noise = np.random.default_rng(seed).normal(size=rows)
        seen["noise"] += find_seasons(noise) != Seasons()
        seen["walk"] += find_seasons(np.cumsum(noise)) != Seasons()
    assert max(seen.values()) <= 9


def demand(rows, seed=0):
    """Days of 48 half hours with two peaks, weekends, weather that wanders."""
    rng = np.random.default_rng(seed)
    t = np.arange(rows)
    angle = 2 * np.pi * t / 48
    day = 3 * np.sin(angle) + 2 * np.sin(2 * angle + 1) + np.cos(3 * angle)
    weekend = t // 48 % 7 >= 5
    weather = np.zeros(rows)
    for k in range(1, rows):
        weather[k] = 0.998 * weather[k - 1] + 0.12 * rng.normal()
    return (
        day * (1 - 0.3 * weekend)
        - 1.5 * weekend
        + weather
        + 0.2 * rng.normal(size=rows)
    )


@pytest.mark.parametrize("seed", range(4))
def test_days_and_weeks_are_found_in_demand_that_wanders(seed):
    assert find_seasons(demand(2000, seed)).season == 48
    assert find_seasons(demand(4000, seed)) == (48, 336)


@pytest.mark.parametrize("period", [24, 48, 52, 96, 144])
def test_a_smooth_season_is_not_taken_for_its_neighbour(period):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        angle = 2 * np.pi * np.arange(9 * period) / period
        wave = np.sin(angle) + 0.5 * np.cos(2 * angle)
        walk = np.cumsum(0.05 * rng.normal(size=len(wave)))
        assert find_seasons(wave + walk).season == period


@pytest.mark.parametrize(
    "y",
    [[], [1.0], [np.nan] * 50, [3.0] * 100, [0.0] * 100, [1e150, -1e150] * 50]
    + [[np.nan, 1.0] * 40, [5e-324] * 60, list(range(100))],
)
def test_degenerate_values_have_seasons_without_warnings(y):
    season, cycle = find_seasons(np.array(y))
    assert 1 <= season <= cycle


HOURS = TimeGrid(0, DAY // 24)
UNEVEN = TimeGrid(0, 7 * 10**9)
"""A grid without seasons by the calendar."""
WAVE = np.tile([5.0, 1.0, 2.0, 8.0, 3.0], 1000)


def test_the_calendar_has_the_seasons_where_it_has_some():
    search, is_other = SeasonSearch().advance(8, HOURS, WAVE[:8])
    assert is_other and search.grid == HOURS and not search.is_settled
    assert search.seasons == Seasons(24, 168)
    settled, is_other = search.advance(24, HOURS, WAVE[:24])
    assert not is_other and settled.is_settled
    assert settled.next_stop(24) == 0
    # 24 rows may show that the grid of the first 8 was none.
    lost, is_other = search.advance(24, None, WAVE[:24])
    assert is_other and lost == SeasonSearch(Seasons(5, 5))


@pytest.mark.parametrize("grid", [None, UNEVEN])
def test_values_are_searched_where_the_calendar_has_no_seasons(grid):
    search, is_other = SeasonSearch().advance(8, grid, WAVE[:8])
    assert search == SeasonSearch() and not is_other
    search, is_other = search.advance(24, grid, WAVE[:24])
    assert search == SeasonSearch(Seasons(5, 5)) and is_other
    assert search.advance(36, grid, WAVE[:36]) == (search, False)
    last, is_other = search.advance(HISTORY, grid, WAVE[:HISTORY])
    assert last == search._replace(is_settled=True) and not is_other


def test_a_search_stops_where_values_are_known():
    rows = (0, 7, 8, 23, 24, 53, 54)
    assert [SeasonSearch().next_stop(k) for k in rows] == [8, 8, 24, 24, 36, 54, 81]
    assert [SeasonSearch().next_stop(k, delay=3) for k in (8, 24, 27)] == [24, 27, 39]


def test_what_no_search_finds_is_not_possible():
    found = SeasonSearch().on_grid(HOURS, is_final=True)
    assert obeys(SeasonSearch, SeasonSearch()) and obeys(SeasonSearch, found)
    for change in (
        {"seasons": Seasons(24, 167)}, {"seasons": Seasons(0, 0)},
        {"seasons": Seasons(2, 1)}, {"grid_fields": (0, 0, 0, 0, 0)},
        {"grid_fields": tuple(UNEVEN)}, {"grid_fields": 7},
    ):  # fmt: skip
        assert not obeys(SeasonSearch, found._replace(**change)), change
