"""Each simple baseline is held to a definition of a few lines, however rows are cut."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thalweg.calendar.row_clock import CLOCK_ROWS, GRID_ROWS
from thalweg.calendar.season_finder import SEARCHES, find_seasons
from thalweg.evaluation.simple_baselines import (
    CYCLE,
    DRIFT,
    PROFILE,
    SEASON,
    SimpleBaselines,
    SimpleBaselinesSnapshot,
)
from thalweg.learners import Tracker
from thalweg.losses import SquaredError
from thalweg.persistence import SavedModel, dumps, loads
from thalweg.rules import restore_snapshot

HOURS = np.datetime64("2024-03-01T00") + np.arange(800) * np.timedelta64(1, "h")
RNG = np.random.default_rng(1)


def week_of_hours(rows, seed=0):
    """Values with a day and a week in them."""
    t, rng = np.arange(rows), np.random.default_rng(seed)
    return 5 * np.sin(t / 24 * 6.28) + 3 * (t // 24 % 7 > 4) + rng.normal(size=rows)


def seasonal_naive(y, at, t, periods, delay):
    """The newest known value at the same position of a period, the last that has one;
    else the last value."""
    known = [s for s in range(t - delay) if not np.isnan(y[s])]
    for period in reversed(periods):
        same = [s for s in known if at[s] % period == at[t] % period]
        if same:
            return y[same[-1]]
    return y[known[-1]] if known else np.nan


def drift(y, at, t, delay):
    """The last value and the mean step from the first to it, for each step ahead."""
    known = [s for s in range(t - delay) if not np.isnan(y[s])]
    if not known:
        return np.nan
    first, last = known[0], known[-1]
    step = (y[last] - y[first]) / (at[last] - at[first]) if last > first else 0.0
    return y[last] + (at[t] - at[last]) * step


def seasonal_mean(y, at, t, period, periods, delay):
    """The mean of all known values at the same position, else what the cycle gives."""
    known = [s for s in range(t - delay) if not np.isnan(y[s])]
    same = [y[s] for s in known if at[s] % period == at[t] % period]
    return np.mean(same) if same else seasonal_naive(y, at, t, periods, delay)


def with_gaps(y, share, seed=2):
    return np.where(np.random.default_rng(seed).random(len(y)) < share, np.nan, y)


@pytest.mark.parametrize("delay", [0, 3, 30, 200])
@pytest.mark.parametrize("share", [0.0, 0.2])
def test_baselines_of_hours_are_their_definitions(delay, share):
    y = with_gaps(week_of_hours(500), share)
    # The times, not the rows, count: some hours are missing altogether.
    hours = np.flatnonzero(np.random.default_rng(4).random(600) > 0.1)[:500]
    hours[0] = 0
    found = SimpleBaselines(delay).play(y, None, HOURS[hours])
    assert found.shape == (500, 5)
    for t in range(500):
        if t >= CLOCK_ROWS:
            periods = (24,), (24, 168)
            seasonal = [seasonal_naive(y, hours, t, one, delay) for one in periods]
            mean = seasonal_mean(y, hours, t, 168, (24, 168), delay)
        else:  # nothing is known of the season yet
            seasonal = [seasonal_naive(y, hours, t, (), delay)] * 2
            mean = seasonal[0]
        np.testing.assert_array_equal(found[t, [SEASON, CYCLE]], seasonal)
        np.testing.assert_allclose(found[t, PROFILE], mean, rtol=1e-12)
        clock = hours if t >= CLOCK_ROWS else np.arange(500)
        expected = drift(y, clock, t, delay)
        np.testing.assert_allclose(found[t, DRIFT], expected, rtol=1e-9)


@pytest.mark.parametrize("delay", [0, 5])
def test_without_times_the_season_is_what_the_known_values_show(delay):
    y = with_gaps(np.tile([1.0, 4.0, 2.0, 8.0, 5.0, 7.0], 40), 0.1)
    baselines = SimpleBaselines(delay)
    found, at = baselines.play(y), np.arange(len(y))
    for t in range(len(y)):
        searched = [n for n in SEARCHES if n <= t - delay]
        seasons = find_seasons(y[: searched[-1]]) if searched else (1, 1)
        periods = seasons[:1], seasons
        expected = [seasonal_naive(y, at, t, one, delay) for one in periods]
        if seasons[0] == 1:
            expected = [seasonal_naive(y, at, t, (), delay)] * 2
        np.testing.assert_array_equal(found[t, [SEASON, CYCLE]], expected)
    assert baselines.naive.seasons.season == 6
    _, season, cycle, _, mean = baselines.display_infos()
    assert season.name == "seasonal naive (6 rows)" and cycle is None
    assert season.description == "repeating the value 6 rows ago"
    assert mean.name == "seasonal mean (6 rows)"


def test_without_a_season_only_drift_is_shown_beside_persistence():
    baselines = SimpleBaselines()
    walk = np.cumsum(np.random.default_rng(3).normal(size=300))
    found = baselines.play(walk)
    if baselines.naive.seasons.season == 1:
        assert [info is not None for info in baselines.display_infos()] == [
            True, False, False, True, False,
        ]  # fmt: skip
        np.testing.assert_array_equal(found[1:, SEASON], walk[:-1])
    assert baselines.naive.seasons.season == 1


def test_a_line_is_forecast_by_drift_without_error():
    found = SimpleBaselines(delay=4).play(3 + 0.5 * np.arange(60))
    np.testing.assert_allclose(found[10:, DRIFT], 3 + 0.5 * np.arange(10, 60))


@pytest.mark.parametrize(
    ("step", "words"),
    [
        ("1h", ["the same hour yesterday", "the same hour last week",
                "the same hour of the week"]),
        ("30m", ["the same time yesterday", "the same time last week",
                 "the same time of the week"]),
        ("1D", ["the same day last week", "the same day last year",
                "the same weekday"]),
        ("7D", ["the same week last year", None, "the same week of the year"]),
        ("1M", ["the same month last year", None, "the same month"]),
        ("3M", ["the same quarter last year", None, "the same quarter"]),
    ],
)  # fmt: skip
def test_baselines_are_called_by_the_calendar(step, words):
    start = np.datetime64("2015-01-01" if step[-1] != "M" else "2015-01")
    count, unit = int(step[:-1]), step[-1]
    times = start + np.arange(800) * np.timedelta64(count, unit)
    baselines = SimpleBaselines()
    baselines.play(np.sin(np.arange(800.0)), None, times)
    _, season, cycle, _, mean = baselines.display_infos()
    assert season.description == f"repeating {words[0]}"
    assert (cycle and cycle.description) == (words[1] and f"repeating {words[1]}")
    assert mean.description == f"the mean so far of {words[2]}"


def working_days(rows):
    """The days from Monday to Friday, and their numbers from a Monday on."""
    numbers = np.arange(2 * rows)
    numbers = numbers[numbers % 7 < 5][:rows]
    return np.datetime64("2015-01-05") + numbers, numbers


@pytest.mark.parametrize("delay", [0, 3])
def test_weeks_without_some_days_are_five_rows(delay):
    times, days = working_days(600)
    y, baselines = np.random.default_rng(3).normal(size=600), SimpleBaselines(delay)
    found = baselines.play(y, None, times)
    for t in range(GRID_ROWS, 600):
        periods, at = ((5,), (5, 261)), np.arange(600)
        expected = [seasonal_naive(y, at, t, one, delay) for one in periods]
        np.testing.assert_array_equal(found[t, [SEASON, CYCLE]], expected)
        mean = seasonal_mean(y, at, t, 5, (5, 261), delay)
        np.testing.assert_allclose(found[t, PROFILE], mean, rtol=1e-12)
    _, season, cycle, _, mean = baselines.display_infos()
    assert season.name == "seasonal naive (5 rows)"
    assert season.description == "repeating the same day last week"
    assert cycle.name == "seasonal naive (261 rows)"
    assert cycle.description == "repeating the same day last year"
    assert mean.description == "the mean so far of the same weekday"


def test_the_day_after_a_friday_whose_time_is_missing_is_monday():
    times, _ = working_days(100)
    stamps, y = (
        times.astype("datetime64[ns]"),
        np.random.default_rng(3).normal(size=100),
    )
    holes = stamps.copy()
    holes[[30, 31, 32, 70, 99]] = np.datetime64("NaT")
    np.testing.assert_array_equal(
        SimpleBaselines().play(y, None, holes), SimpleBaselines().play(y, None, stamps)
    )


def test_times_that_tell_nothing_leave_the_count_of_rows():
    y = np.tile([1.0, 4.0, 2.0, 8.0, 5.0, 7.0], 40)
    twice = np.repeat(HOURS, 2)[: len(y)]
    for times in (twice, twice[:1].repeat(len(y)), HOURS[:1] + 37 * np.arange(len(y))):
        by_times, by_rows = SimpleBaselines(), SimpleBaselines()
        np.testing.assert_array_equal(by_times.play(y, None, times), by_rows.play(y))


def test_a_missing_time_is_a_step_after_the_row_before():
    y, times = week_of_hours(300), HOURS[:300].copy()
    times[[24, 25, 60, 61, 299]] = np.datetime64("NaT")
    found = SimpleBaselines().play(y, None, times)
    np.testing.assert_array_equal(found, SimpleBaselines().play(y, None, HOURS[:300]))


def test_a_cycle_that_has_not_passed_is_not_shown():
    baselines = SimpleBaselines()
    baselines.play(week_of_hours(100), None, HOURS[:100])
    _, season, cycle, drift_info, mean = baselines.display_infos()
    assert season.name == "seasonal naive (24 rows)"
    assert cycle is None and mean is None and drift_info.name == "drift"


def from_file(baselines, delay):
    saved = SavedModel(Tracker(), SquaredError(), None, {"it": baselines.snapshot()})
    snapshot = restore_snapshot(
        SimpleBaselinesSnapshot, loads(dumps(saved)).extra["it"]
    )
    again = SimpleBaselines(delay)
    again.restore(snapshot)
    return again


@settings(max_examples=40)
@given(
    cuts=st.lists(st.integers(0, 400), max_size=5),
    delay=st.sampled_from([0, 1, 7, 40]),
    share=st.sampled_from([0.0, 0.3, 1.0]),
    has_times=st.booleans(),
    lacks_times=st.booleans(),
    is_filed=st.booleans(),
    asks=st.booleans(),
)
def test_rows_can_be_cut_and_saved_anywhere(
    cuts, delay, share, has_times, lacks_times, is_filed, asks
):
    y = with_gaps(week_of_hours(400), share)
    elapsed = np.where(np.isnan(y), 0.0, 1.0) if asks else np.ones(400)
    times = HOURS[:400].copy() if has_times else None
    if times is not None and lacks_times:
        times[30::7] = np.datetime64("NaT")
    whole, cut = SimpleBaselines(delay), SimpleBaselines(delay)
    expected, parts, edges = whole.play(y, elapsed, times), [], sorted({0, 400, *cuts})
    for start, end in zip(edges, edges[1:], strict=False):
        rows = slice(start, end)
        some = None if times is None else times[rows]
        parts.append(cut.play(y[rows], elapsed[rows], some))
        cut = from_file(cut, delay) if is_filed else cut
    np.testing.assert_array_equal(np.vstack(parts), expected)
    assert cut.display_infos() == whole.display_infos()
    assert_same(cut.snapshot(), whole.snapshot())


def assert_same(one, other):
    for a, b in zip(one, other, strict=True):
        if isinstance(a, tuple):
            assert_same(a, b)
        else:
            np.testing.assert_array_equal(a, b)


@settings(max_examples=20)
@given(
    t=st.integers(1, 399), delay=st.sampled_from([0, 1, 7, 40]),
    has_times=st.booleans(),
)  # fmt: skip
def test_no_forecast_knows_a_label_before_it_comes(t, delay, has_times):
    y = week_of_hours(400)
    other = np.where(np.arange(400) >= t, 1e6 * RNG.normal(size=400), y)
    times = HOURS[:400] if has_times else None
    one, two = (SimpleBaselines(delay).play(z, None, times) for z in (y, other))
    known = min(t + delay + 1, 400)
    np.testing.assert_array_equal(one[:known], two[:known])


def test_memory_does_not_grow_with_the_stream():
    baselines, minute = SimpleBaselines(), np.timedelta64(1, "m")
    times = np.datetime64("2024-01-01T00:00") + np.arange(60_000) * minute
    baselines.play(np.sin(np.arange(60_000)), None, times)
    sizes = [np.size(part) for part in baselines.snapshot().naive]
    assert max(sizes) <= 2 * 20_160
    assert baselines.history.size == 0
    by_rows = SimpleBaselines()
    by_rows.play(RNG.normal(size=6_000))
    assert by_rows.search.is_settled and by_rows.history.size == 0
