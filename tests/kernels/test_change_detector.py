import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.kernels.plain_change_detector import PlainDetector
from thalweg.calendar.summer_time import summer_times
from thalweg.changes.change_detector import YEAR_SECONDS, ChangeDetector
from thalweg.kernels.change_detector import detector_layout as layout
from thalweg.kernels.change_detector.detector import detect_changes


def play(y, columns, years=None):
    p = columns.shape[1]
    buffer = np.zeros(layout.STATE.size(columns=p))
    work = np.zeros(layout.WORKSPACE.size(columns=p))
    records = np.zeros((len(y), layout.ALARM_FIELDS))
    times = np.full(len(y), np.nan) if years is None else years
    regions = summer_times(np.rint(times * YEAR_SECONDS))
    saved = np.empty_like(buffer)
    count = detect_changes(buffer, saved, work, y, times, regions, columns, records)
    return records[:count], layout.STATE.views(buffer, columns=p)


def changing_stream(seed, rows, p, kind):
    rng = np.random.default_rng(seed)
    columns = rng.normal(size=(rows, p))
    noise = rng.normal(size=rows) if seed % 2 else rng.standard_t(3, size=rows)
    after = np.arange(rows) >= int(rng.integers(60, rows - 30))
    y = 20 + columns.sum(axis=1) + noise
    if kind == "level":
        y += rng.uniform(-8, 8) * after
    elif kind == "variance":
        y += noise * rng.uniform(1, 4) * after
    elif kind == "relation" and p:
        y += rng.uniform(-5, 5) * columns[:, 0] * after
    elif kind == "random walk":
        y = np.cumsum(noise) + rng.uniform(-60, 60) * after
    elif kind == "growth":
        y = np.exp(0.01 * np.arange(rows) + 0.1 * noise) + after * rng.uniform(0, 3)
    elif kind == "fall below zero":
        y = np.exp(0.02 * np.arange(rows) + 0.1 * noise) - 200 * after
    elif kind == "outliers":
        y[rng.integers(0, rows, 5)] += rng.uniform(-90, 90)
    return y, columns


KINDS = (
    "none", "level", "variance", "relation", "random walk", "outliers", "growth",
    "fall below zero",
)  # fmt: skip


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000), rows=st.integers(100, 260), p=st.integers(0, 2),
    kind=st.sampled_from(KINDS), step=st.sampled_from([None, 1.0, 7.0, 28.0, 91.3]),
)  # fmt: skip
def test_the_kernel_has_the_alarms_of_the_definition(seed, rows, p, kind, step):
    y, columns = changing_stream(seed, rows, p, kind)
    years = None if step is None else 30 + np.arange(rows) * step / 365.25
    plain = PlainDetector(y, columns, years)
    records, state = play(y, columns, years)
    # The definition has no season, which a stream of so few rows may seem to have.
    assume(state.counters[5] == 0)
    found = records[
        :, [layout.ALARM_ROW, layout.ALARM_ONSET, layout.ALARM_STATISTIC]
    ].astype(int)
    assert [tuple(one) for one in found.tolist()] == plain.run()
    # Rounding: moments are summed in another order.
    np.testing.assert_allclose(state.sums, plain.sums, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("period", [7, 24])
def test_a_season_is_found_and_raises_no_alarm(period):
    rng = np.random.default_rng(period)
    shape = 4 * rng.normal(size=period)
    y = shape[np.arange(3000) % period] + rng.normal(size=3000)
    records, state = play(y, np.empty((3000, 0)))
    assert len(records) == 0 and state.counters[5] % period == 0 < state.counters[5]


def test_noise_has_no_season():
    y = np.random.default_rng(3).normal(size=5000)
    for values in (y, np.cumsum(y)):
        assert play(values, np.empty((5000, 0)))[1].counters[5] == 0


@pytest.mark.parametrize("start", [0, 60, 130])
@pytest.mark.parametrize("drop", [70.0, 700.0])
def test_alarms_of_every_week_end_become_a_season(start, drop):
    week = np.repeat([100.0, 100.0 - drop], [120, 48])
    noise = np.random.default_rng(start).normal(size=168 * 20)
    y = np.roll(np.tile(week, 20), -start) + noise
    records, state = play(y, np.empty((168 * 20, 0)))
    assert len(records) <= 4 and records[-1, layout.ALARM_ROW] < 168 * 4
    assert state.counters[5] % 168 == 0 < state.counters[5]


def test_week_ends_of_daily_rows_raise_no_alarm():
    week = np.repeat([100.0, 30.0], [5, 2])
    noise = np.random.default_rng(1).normal(size=7 * 60)
    records, state = play(np.tile(week, 60) + noise, np.empty((7 * 60, 0)))
    assert len(records) == 0 and state.counters[5] == 7


def test_the_year_of_daily_rows_with_times_raises_no_alarm():
    rng, t = np.random.default_rng(1), np.arange(8 * 365)
    week = np.array([1, 0.95, 0.97, 1.02, 1.2, 1.5, 0.7])[t % 7]
    year = 1 + 0.15 * np.sin(2 * np.pi * t / 365.25)
    growth = np.exp(0.3 * t / 365 + 0.04 * rng.normal(size=len(t)))
    for y in (1000 * year * week, 1000 * year * week * growth):
        y = y * (1 + 0.03 * rng.normal(size=len(t)))
        assert len(play(y, np.empty((len(t), 0)), t / 365.25)[0]) == 0


def test_rows_of_hours_have_no_year():
    y = np.random.default_rng(2).normal(size=500)
    hours = np.arange(500) / 8766
    _, state = play(y, np.empty((500, 0)), hours)
    _, plain = play(y, np.empty((500, 0)))
    assert state.counters[15] == 0
    np.testing.assert_array_equal(state.sums, plain.sums)


@pytest.mark.parametrize("rise", [1.27, 1 / 1.27])
def test_a_lasting_step_of_weekly_rows_is_found(rise):
    rng, t = np.random.default_rng(3), np.arange(312)
    year = 1 + 0.15 * np.sin(2 * np.pi * t / 52.18)
    y = 1000 * year * np.exp(0.05 * rng.normal(size=312)) * np.where(t < 200, 1, rise)
    (record,), _ = play(y, np.empty((312, 0)), t * 7 / 365.25)
    assert (
        200 <= record[layout.ALARM_ROW] < 226
        and abs(record[layout.ALARM_ONSET] - 200) <= 3
    )


@pytest.mark.parametrize(("rise", "count"), [(0.01, 0), (0.2, 1)])
def test_a_step_that_is_small_beside_the_season_is_no_alarm(rise, count):
    rng, t = np.random.default_rng(4), np.arange(3000)
    day = 1 + 0.35 * np.sin(2 * np.pi * t / 24)
    y = (
        1000
        * day
        * np.where(t < 1500, 1, 1 + rise)
        * (1 + 0.002 * rng.normal(size=3000))
    )
    assert len(play(y, np.empty((3000, 0)))[0]) == count


@pytest.mark.parametrize(
    ("size", "days", "least"),
    [(2.0, None, 18), (3.0, None, 18), (7.5, None, 20), (7.5, 1, 18)]
    + [(2.0, 7, 19), (3.0, 7, 19), (7.5, 7, 20)],
)
def test_a_step_after_a_hundred_rows_is_an_alarm(size, days, least):
    """Models of so few rows could follow the new level faster than errors add up."""
    found = 0
    for seed in range(20):
        rng = np.random.default_rng([seed, 70])
        y = 500 + 20 * rng.normal(size=160)
        y[100:] += 20 * size
        detector = ChangeDetector(0)
        years = None if days is None else 54 + np.arange(160) * days / 365.25
        detector.add(y, np.empty((160, 0)), years=years)
        rows = [alarm.row for alarm in detector.alarms(())]
        found += len(rows) == 1 and 100 < rows[0] < 145
    assert found >= least
