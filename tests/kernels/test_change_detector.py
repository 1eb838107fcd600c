import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.kernels.plain_change_detector import PlainDetector
from thalweg.kernels.change_detector.detector import detect_changes
from thalweg.kernels.change_detector.detector_layout import (
    ALARM_FIELDS,
    ALARM_ONSET,
    ALARM_ROW,
    ALARM_STATISTIC,
    STATE,
    WORKSPACE,
)


def play(y, columns):
    p = columns.shape[1]
    buffer = np.zeros(STATE.size(columns=p))
    work = np.zeros(WORKSPACE.size(columns=p))
    records = np.zeros((len(y), ALARM_FIELDS))
    count = detect_changes(buffer, work, y, columns, records)
    return records[:count], STATE.views(buffer, columns=p)


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
    elif kind == "outliers":
        y[rng.integers(0, rows, 5)] += rng.uniform(-90, 90)
    return y, columns


KINDS = ("none", "level", "variance", "relation", "random walk", "outliers")


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000), rows=st.integers(100, 260), p=st.integers(0, 2),
    kind=st.sampled_from(KINDS),
)  # fmt: skip
def test_the_kernel_has_the_alarms_of_the_definition(seed, rows, p, kind):
    y, columns = changing_stream(seed, rows, p, kind)
    plain = PlainDetector(y, columns)
    records, state = play(y, columns)
    # The definition has no season, which a stream of so few rows may seem to have.
    assume(state.counters[5] == 0)
    found = records[:, [ALARM_ROW, ALARM_ONSET, ALARM_STATISTIC]].astype(int)
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
    assert len(records) <= 4 and records[-1, ALARM_ROW] < 168 * 4
    assert state.counters[5] % 168 == 0 < state.counters[5]


def test_week_ends_of_daily_rows_raise_no_alarm():
    week = np.repeat([100.0, 30.0], [5, 2])
    noise = np.random.default_rng(1).normal(size=7 * 60)
    records, state = play(np.tile(week, 60) + noise, np.empty((7 * 60, 0)))
    assert len(records) == 0 and state.counters[5] == 7
