from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thalweg.changes.alarms import ChangeAlarm
from thalweg.changes.change_detector import (
    MAX_ALARMS,
    MAX_COLUMNS,
    ChangeDetector,
)
from thalweg.changes.change_words import (
    ALARM_VALUES,
    CHANGE_KINDS,
    LISTED_FIELDS,
    change_text,
)
from thalweg.errors import InvalidParameterError, PersistenceError
from thalweg.kernels.change_detector import detector_layout as layout

ROWS = 1000
T = np.arange(ROWS)
NONE = np.empty((ROWS, 0))


def noise(seed=0, rows=ROWS):
    return np.random.default_rng(seed).normal(size=rows)


def alarms_of(y, columns=None, names=("price", "other")):
    columns = np.empty((len(y), 0)) if columns is None else columns
    detector = ChangeDetector(columns.shape[1])
    detector.add(np.asarray(y, float), columns)
    return detector.alarms(names)


def day(start, stop):
    return [f"day {t}" for t in range(start, stop)]


@pytest.mark.parametrize(
    ("level", "name"),
    [
        (100 + 5 * noise(), "white noise"),
        (100 + 0.2 * np.cumsum(noise(1)), "random walk"),
        (100 + 30 * np.sin(T / 24 * 2 * np.pi) + 3 * noise(2), "season"),
        (100 + 2 * np.random.default_rng(3).standard_t(3, ROWS), "heavy tails"),
        (np.full(ROWS, 100.0), "constant"),
    ],
)
@pytest.mark.parametrize("at", [600, 611])
def test_a_collapse_to_a_tenth_is_one_alarm_within_a_few_rows(level, name, at):
    (alarm,) = alarms_of(np.where(at <= T, level / 10, level))
    assert at < alarm.row <= at + 8 and abs(alarm.onset - 1 - at) <= 1
    assert alarm.kind == "level" and alarm.text.startswith("level fell by 9"), name
    assert alarm.after == pytest.approx(alarm.before / 10, rel=0.4)


def stable_streams(seed, rows):
    rng, t = np.random.default_rng(seed), np.arange(rows)
    e = rng.normal(size=rows)
    smooth = np.empty(rows)
    smooth[0] = e[0]
    for i in range(1, rows):
        smooth[i] = 0.9 * smooth[i - 1] + e[i]
    outliers = rng.normal(size=rows)
    outliers[rng.integers(0, rows, 10)] += 50
    return {
        "white noise": e,
        "autoregression": smooth,
        "random walk": np.cumsum(e),
        "heavy tails": rng.standard_t(3, size=rows),
        "season": 10 * np.sin(t / 24 * 2 * np.pi) + e,
        "outliers": outliers,
        "line": 0.01 * t + e,
    }


@pytest.mark.parametrize("seed", [11, 12])
def test_a_stable_stream_has_no_alarm_in_ten_thousand_rows(seed):
    for name, y in stable_streams(seed, 10_000).items():
        assert alarms_of(y) == (), name


def test_a_change_of_variance_is_named_by_its_ratio():
    y = noise(4) * np.where(T >= 500, 3, 1)
    (alarm,) = alarms_of(50 + y)
    assert alarm.kind == "variance" and alarm.text.startswith("variance rose ")
    (alarm,) = alarms_of(50 + y[::-1])
    assert alarm.kind == "variance" and alarm.text.startswith("variance fell to 0.")


def test_a_sensor_that_is_stuck_at_a_usual_value_is_named():
    """Its errors are those of a day that goes on without it."""
    y = 350 + 100 * np.sin(T / 12 * np.pi) + 20 * noise(20)
    y[700:] = 350.8
    (alarm, *_) = alarms_of(y)
    assert alarm.onset == 701 and "stuck" in alarm.text
    assert alarm.text.endswith(f" for {alarm.row - 700} rows")


def test_a_level_that_is_stuck_is_named():
    (alarm,) = alarms_of(np.where(T < 500, 100 + noise(21), 0.0))
    words = (
        f"level fell by 100 %, from 100 to 0, stuck there for {alarm.row - 500} rows"
    )
    assert alarm.onset == 501 and alarm.text == words


def test_a_changed_relation_names_the_column():
    columns = np.random.default_rng(5).normal(size=(ROWS, 2))
    y = noise(6) + columns @ [1.0, 2.0] - 3 * columns[:, 1] * (T >= 500)
    (alarm,) = alarms_of(y, columns)
    assert (alarm.kind, alarm.text) == ("relation", "relation to 'other' changed")
    assert 500 < alarm.row < 560


def test_a_changed_slope_is_found():
    (alarm,) = alarms_of(noise(7) + 0.1 * np.maximum(T - 500, 0))
    assert 500 < alarm.row < 560 and alarm.kind in ("trend", "level")


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    cuts=st.lists(st.integers(0, 600), max_size=5),
    gaps=st.booleans(),
)
def test_alarms_do_not_depend_on_cuts_or_restarts(seed, cuts, gaps):
    rng = np.random.default_rng(seed)
    columns = rng.normal(size=(600, 2))
    after = np.arange(600) >= 300
    y = rng.standard_t(4, size=600) + 20 - rng.uniform(0, 15) * after
    if gaps:
        y[rng.integers(0, 600, 100)] = np.nan
        columns[rng.integers(0, 600, 50), 0] = np.nan
    whole, pieces = ChangeDetector(2), ChangeDetector(2)
    whole.add(y, columns, times=day)
    edges = sorted({0, 600, *cuts})
    for start, end in zip(edges, edges[1:], strict=False):
        pieces.add(
            y[start:end], columns[start:end],
            times=lambda a, b, start=start: day(start + a, start + b),
        )  # fmt: skip
        snapshot, pieces = pieces.snapshot(), ChangeDetector(2)
        pieces.restore(snapshot)
    assert pieces.alarms("ab") == whole.alarms("ab")
    np.testing.assert_array_equal(pieces.buffer, whole.buffer)
    assert pieces.snapshot()[3:6:2] == whole.snapshot()[3:6:2]


@pytest.mark.parametrize("cut", [1, 40, 63, 66, 90])
def test_alarms_of_months_do_not_depend_on_cuts_or_restarts(cut):
    columns = np.random.default_rng(22).normal(size=(120, 1))
    y = np.where(np.arange(120) < 60, 100.0, 80.0) + 3 * noise(22, 120) + columns[:, 0]
    y[[20, 50]] = columns[30] = np.nan
    years = 50 + np.arange(120) / 12
    whole, pieces = ChangeDetector(1), ChangeDetector(1)
    whole.add(y, columns, years=years)
    pieces.add(y[:cut], columns[:cut], years=years[:cut])
    snapshot, pieces = pieces.snapshot(), ChangeDetector(1)
    pieces.restore(snapshot)
    pieces.add(y[cut:], columns[cut:], years=years[cut:])
    assert pieces.alarms("a") == whole.alarms("a") and whole.total == 1
    np.testing.assert_array_equal(pieces.buffer, whole.buffer)


def test_alarms_have_the_times_of_their_rows():
    detector = ChangeDetector(0)
    y = np.where(T < 500, 100.0, 10.0) + noise(8)
    detector.add(y, NONE, rows=T + 71, times=day)
    (alarm,) = detector.alarms(())
    assert (alarm.onset, alarm.onset_time) == (571, "day 500")
    assert alarm.time == f"day {alarm.row - 71}"


def test_alarms_of_rows_without_times_have_none():
    (alarm,) = alarms_of(np.where(T < 500, 100.0, 10.0) + noise(8))
    assert alarm.time is None and alarm.onset_time is None


@pytest.mark.parametrize("unit", [1e-150, 1e-3, 1e6, 1e150])
def test_alarms_do_not_depend_on_units(unit):
    columns = np.random.default_rng(19).normal(size=(ROWS, 1))
    y = np.where(T < 500, 100.0, 10.0) + noise(9) + columns[:, 0]
    # A power of two changes no digit of any number.
    unit = 2.0 ** np.round(np.log2(unit))
    (plain,), (scaled,) = alarms_of(y, columns), alarms_of(unit * y, columns / unit)
    assert (plain.row, plain.onset) == (scaled.row, scaled.onset)
    assert scaled.before == unit * plain.before


@pytest.mark.parametrize(
    "y",
    [
        np.zeros(ROWS), np.full(ROWS, 21.3), np.full(ROWS, np.nan), T * 1e150,
        np.where(T % 50, 0.0, 1.0), np.where(T == 500, 1e150, 21.3),
        np.where(T == 500, -1e150, noise(10)), np.append(1e150, noise(10)[1:]),
        np.where((T > 300) & (T < 700), np.nan, noise(10)), (-1.0) ** T,
    ],
    ids=range(10),
)  # fmt: skip
def test_streams_that_never_change_have_no_alarm_whatever_they_are(y):
    detector = ChangeDetector(2)
    extreme = np.column_stack([np.full(ROWS, np.nan), np.full(ROWS, 1e150)])
    detector.add(y, extreme)
    assert detector.total == 0
    # Learnt numbers are finite; NaN are only labels and columns that were missing.
    views = layout.STATE.views(detector.buffer, columns=2)._replace(recent=np.zeros(1))
    assert all(np.isfinite(part).all() for part in views)


def test_a_constant_that_steps_is_an_alarm():
    (alarm,) = alarms_of(np.where(T < 500, 21.3, 5.0))
    assert alarm.onset == 501 and alarm.row < 510


def test_what_follows_from_a_column_has_no_alarm():
    columns = noise(11)[:, None] * [1.0, 1.0]
    assert alarms_of(3 * columns[:, 0], columns) == ()


def test_only_the_first_columns_are_looked_at():
    columns = np.random.default_rng(12).normal(size=(ROWS, MAX_COLUMNS + 5))
    narrow, wide = ChangeDetector(MAX_COLUMNS), ChangeDetector(MAX_COLUMNS + 5)
    narrow.add(noise(13), columns[:, :MAX_COLUMNS])
    wide.add(noise(13), columns)
    np.testing.assert_array_equal(narrow.buffer, wide.buffer)


def test_memory_is_bounded_and_all_alarms_are_counted(monkeypatch):
    monkeypatch.setattr("thalweg.changes.change_detector.MAX_ALARMS", 2)
    rng = np.random.default_rng(14)
    levels = np.repeat(rng.permutation(12) * 30.0, rng.integers(90, 160, 12))
    detector = ChangeDetector(0)
    detector.add(levels + noise(14, len(levels)), np.empty((len(levels), 0)))
    assert detector.total > 5 and len(detector.alarms(())) == 2 < MAX_ALARMS


def damaged(snapshot, size):
    counters = snapshot.buffer.copy()
    counters[5] = 1e9  # the season
    yield snapshot._replace(buffer=counters)
    yield snapshot._replace(buffer=snapshot.buffer[:-1])
    yield snapshot._replace(total=size + 1)
    yield snapshot._replace(records=np.full((1, LISTED_FIELDS), np.nan))
    yield snapshot._replace(recent_rows=snapshot.recent_rows[1:])
    yield snapshot._replace(recent_times=())
    yield snapshot._replace(alarm_times=())


def test_a_snapshot_that_no_detector_left_is_refused():
    detector = ChangeDetector(0)
    detector.add(np.where(T < 500, 100.0, 10.0) + noise(15), NONE)
    for wrong in damaged(detector.snapshot(), ROWS):
        with pytest.raises(PersistenceError):
            ChangeDetector(0).restore(wrong)


def record(statistic, before=100.0, after=10.0, spreads=(1.0, 2.0), rows=10):
    values = np.zeros(LISTED_FIELDS)
    values[[layout.ALARM_ONSET, layout.ALARM_ROW, ALARM_VALUES]] = 200, 199 + rows, rows
    values[[layout.ALARM_STATISTIC, layout.LEVEL_BEFORE, layout.LEVEL_AFTER]] = (
        statistic,
        before,
        after,
    )
    values[[layout.SPREAD_BEFORE, layout.SPREAD_AFTER]] = spreads
    return values


@pytest.mark.parametrize(
    ("values", "text"),
    [
        (record(layout.LARGE_UP, 100, 10), "level fell by 90 %, from 100 to 10"),
        (record(layout.LARGE_UP, 100, 150), "level rose by 50 %, from 100 to 150"),
        (
            record(layout.LARGE_UP, 118, 145, (9.0, 2.0), 6),
            "level rose by about 20 % in its first 6 rows, from 118 to 145",
        ),
        (
            record(layout.LARGE_UP, 118, 145, (6.0, 2.0), 6),
            "level rose by about 25 % in its first 6 rows, from 118 to 145",
        ),
        (
            record(layout.LARGE_UP, 118, 145, (6.0, 2.0), 1),
            "level rose by about 20 % in its first row, from 118 to 145",
        ),
        (
            record(layout.LARGE_UP, 118, 145, (1.0, 2.0), 6),
            "level rose by 23 %, from 118 to 145",
        ),
        (
            record(layout.LARGE_UP, 1e6, 4e6),
            "level rose to 4 times, from 1,000,000 to 4,000,000",
        ),
        (record(layout.LARGE_UP, -0.5, 2), "level rose from -0.5 to 2"),
        (
            record(layout.LARGE_UP, -0.445, -0.0964, (0.01, 1.0)),
            "level rose from -0.445 to -0.0964",
        ),
        (record(layout.LARGE_UP, 2.07e-200, 1, (0.0, 1.0)), "level rose from 0 to 1"),
        (
            record(layout.LARGE_UP, 1e-3, 1e4, (1e-5, 1.0)),
            "level rose from 0.001 to 10,000",
        ),
        (
            record(layout.LARGE_UP, 40.1, 139, (20.0, 1.0), 5),
            "level rose in its first 5 rows, from 40.1 to 139",
        ),
        (
            record(layout.LARGE_UP, 40.1, 139, (10.0, 1.0), 5),
            "level rose to about 3.5 times in its first 5 rows, from 40.1 to 139",
        ),
        (
            record(layout.LARGE_UP, 100, 100.7, (0.1, 1.0)),
            "level rose slightly, from 100 to 101",
        ),
        (record(layout.LARGE_UP, 2, 0.5), "level fell from 2 to 0.5"),
        (
            record(layout.LARGE_UP, 1e150, 1e149),
            "level fell by 90 %, from 1.00e+150 to 1.00e+149",
        ),
        (record(layout.VARIANCE_UP), "variance rose 4 times"),
        (record(layout.VARIANCE_UP, spreads=(0.0, 2.0)), "variance rose from 0"),
        (record(layout.VARIANCE_UP, spreads=(5e-324, 2.0)), "variance rose from 0"),
        (record(layout.VARIANCE_DOWN, spreads=(2.0, 1e-12)), "variance fell to 0"),
        (record(layout.VARIANCE_DOWN, spreads=(1.0, 0.97)), "variance fell slightly"),
        (record(layout.VARIANCE_UP, spreads=(1.0, 0.97)), "variance rose slightly"),
        (
            record(layout.VARIANCE_DOWN, spreads=(2.0, 1.0)),
            "variance fell to 0.25 of what it was",
        ),
        (
            record(layout.VARIANCE_UP, spreads=(2.0, 0.0)),
            "value stuck at 10, the same for 10 rows",
        ),
        (record(9), "relation to 'b' changed"),
    ],
)
def test_changes_are_said_in_plain_words(values, text):
    assert change_text(values, ("a", "b")) == text


def test_every_kind_has_words():
    kinds = {statistic.kind for statistic in layout.STATISTICS}
    assert kinds | {"trend"} == set(CHANGE_KINDS)


def test_an_alarm_has_one_of_the_kinds():
    with pytest.raises(InvalidParameterError, match="'kind' parameter of ChangeAlarm"):
        ChangeAlarm(2, 1, "mood", "", 0.0, 0.0)
    (alarm,) = alarms_of(np.where(T < 500, 21.3, 5.0))
    assert ChangeAlarm(**asdict(alarm)) == alarm
