import numpy as np
import pytest

from thalweg.errors import PersistenceError
from thalweg.evaluation.change_detector import ChangeDetector
from thalweg.evaluation.timed_change_detector import TimedChangeDetector
from thalweg.preprocessing.row_clock import NO_TIME
from thalweg.preprocessing.weekdays import DAY

START = int(np.datetime64("2026-03-02", "ns").astype(np.int64))


def stamps_of(rows, per_day):
    return START + np.arange(rows) * (DAY // per_day)


def fed(y, stamps, columns=None, cuts=()):
    """A detector that took the rows in pieces, with a snapshot between any two."""
    columns = np.empty((len(y), 0)) if columns is None else columns
    detector, numbers = (
        TimedChangeDetector(columns.shape[1]),
        np.arange(1.0, len(y) + 1),
    )
    for start, stop in zip((0, *cuts), (*cuts, len(y)), strict=True):
        detector.add(
            y[start:stop], columns[start:stop], numbers[start:stop],
            lambda a, b, start=start: [f"t{start + t}" for t in range(a, b)],
            None if stamps is None else stamps[start:stop],
        )  # fmt: skip
        snapshot = detector.snapshot()
        detector = TimedChangeDetector(columns.shape[1])
        detector.restore(snapshot)
    return detector


def daily(seed, per_day, days, noise=1.0):
    rng, rows = np.random.default_rng(seed), per_day * days
    angle = 2 * np.pi * (np.arange(rows) / per_day + rng.uniform())
    return 40 + 10 * np.sin(angle) + noise * rng.normal(size=rows)


def stable_days(seed, per_day, days):
    rng = np.random.default_rng(seed)
    y = daily(seed, per_day, days)
    hour = np.arange(len(y)) / per_day % 1
    rate = np.where((hour > 0.3) & (hour < 0.9), 30 * np.sin((hour - 0.3) * 5.2), 0)
    return {
        "sine": y,
        "heavy tails": daily(seed, per_day, days, 0) + rng.standard_t(3, len(y)),
        "counts": rng.poisson(y).astype(float),
        "nights at 0": np.append(rng.poisson(rate), 0)[1:].astype(float),
        "noise": rng.normal(size=len(y)),
    }


@pytest.mark.parametrize("per_day", [1440, 288, 96])
def test_a_stable_day_of_many_rows_raises_no_alarm(per_day):
    for name, y in stable_days(3, per_day, 10).items():
        if name != "nights at 0":
            assert fed(y, stamps_of(len(y), per_day)).total == 0, name


def test_counts_that_are_zero_at_night_raise_an_alarm_on_the_first_morning_at_most():
    y = stable_days(3, 1440, 10)["nights at 0"]
    detector = fed(y, stamps_of(len(y), 1440))
    assert all(alarm.row < 1440 for alarm in detector.alarms(())) and detector.total < 2


@pytest.mark.parametrize("per_day", [1440, 288])
def test_a_collapse_in_a_daily_course_is_told_within_rows_with_its_own_row(per_day):
    y, at = daily(4, per_day, 10), 8 * per_day + 77
    y[at:] /= 10
    (alarm,) = fed(y, stamps_of(len(y), per_day)).alarms(())
    assert alarm.onset == at + 1 and alarm.row <= at + 8
    assert alarm.kind == "level" and alarm.after < alarm.before / 7
    assert (alarm.onset_time, alarm.time) == (f"t{at}", f"t{alarm.row - 1}")


@pytest.mark.parametrize("per_day", [1440, 288])
def test_a_shift_within_the_range_of_days_is_told_within_hours(per_day):
    y, at = daily(5, per_day, 11), 9 * per_day + 77
    y[at:] += 2
    (alarm,) = fed(y, stamps_of(len(y), per_day)).alarms(())
    half_hour = per_day // 48
    assert abs(alarm.onset - at) <= 2 * half_hour
    assert alarm.row <= at + 8 * half_hour and alarm.kind == "level"


@pytest.mark.parametrize("per_day", [1440, 288])
def test_noise_that_triples_beside_a_daily_course_is_told(per_day):
    y, at = daily(6, per_day, 11), 9 * per_day + 77
    y[at:] += 8**0.5 * np.random.default_rng(7).normal(size=len(y) - at)
    (alarm,) = fed(y, stamps_of(len(y), per_day)).alarms(())
    assert alarm.kind == "variance" and abs(alarm.onset - at) <= per_day // 16
    assert alarm.text.startswith("variance rose ")


def test_a_changed_relation_is_told_by_half_hours():
    columns = np.repeat(np.random.default_rng(8).normal(size=(480, 1)), 6, axis=0)
    y = np.random.default_rng(9).normal(size=2880) + columns[:, 0]
    y[1500:] -= 0.7 * columns[1500:, 0]
    (alarm,) = fed(y, stamps_of(2880, 288), columns).alarms(("price",))
    assert alarm.text == "relation to 'price' changed" and 1450 < alarm.onset < 1550
    y[1500:] -= 1.3 * columns[1500:, 0]  # errors are much larger than noise
    (alarm,) = fed(y, stamps_of(2880, 288), columns).alarms(("price",))
    assert alarm.kind in ("relation", "variance") and 1450 < alarm.onset < 1550


def test_a_sensor_that_is_stuck_and_then_works_is_told():
    y = daily(10, 288, 10)
    y[1900:2100] = y[1900]
    kinds = [alarm.kind for alarm in fed(y, stamps_of(2880, 288)).alarms(())]
    assert kinds and 1900 < fed(y, stamps_of(2880, 288)).alarms(())[0].row < 2000


def test_absent_rows_count_as_rows_without_a_value():
    y, stamps = daily(11, 288, 12), stamps_of(12 * 288, 288)
    there = np.ones(len(y), bool)
    there[2600:2690] = False
    assert fed(y[there], stamps[there]).total == 0
    # The same of hours, whose day is a season of 24 rows.
    y, stamps = daily(12, 24, 40), stamps_of(24 * 40, 24)
    there = np.ones(len(y), bool)
    there[600:607] = False
    given = np.where(there, y, np.nan)
    with_nan = ChangeDetector(0)
    with_nan.add(given, np.empty((len(y), 0)))
    assert fed(y[there], stamps[there]).total == with_nan.total == 0
    buffer = fed(y[there], stamps[there]).by_row.buffer
    np.testing.assert_array_equal(buffer[:1], with_nan.buffer[:1])  # rows seen


def test_a_gap_of_a_year_takes_no_more_memory_or_time_than_one_of_some_days():
    y, stamps = daily(13, 288, 6), stamps_of(6 * 288, 288)
    stamps[1000:] += 3650 * DAY
    detector = fed(y, stamps)
    assert detector.total == 0 and detector.by_row._row_count() < 6 * 288 + 1100


@pytest.mark.parametrize("per_day", [1440, 288, 96, 48, 24, 1])
def test_alarms_do_not_depend_on_cuts_or_restarts(per_day):
    rng, rows = np.random.default_rng(14), min(per_day * 9, 3000)
    rows = max(rows, 400)
    y = daily(14, per_day, rows // per_day + 1)[:rows] + rng.normal(size=rows)
    y[rows // 2 :] /= 5
    y[rng.integers(0, rows, 50)] = np.nan
    stamps = stamps_of(rows, per_day)
    there = np.ones(rows, bool)
    there[rows // 3 : rows // 3 + 40] = False
    y, stamps = y[there], stamps[there]
    columns = rng.normal(size=(len(y), 1))
    cuts = sorted({5, 24, *rng.integers(1, len(y), 60).tolist()})
    whole, pieces = fed(y, stamps, columns), fed(y, stamps, columns, cuts)
    assert whole.total and pieces.alarms("a") == whole.alarms("a")
    for one, other in zip(pieces.snapshot(), whole.snapshot(), strict=True):
        np.testing.assert_equal(one, other)


def test_rows_without_times_on_no_grid_or_of_hours_are_as_the_detector_takes_them():
    y = np.where(np.arange(900) < 500, 100.0, 70.0) + daily(15, 24, 900)[:900]
    plain = ChangeDetector(0)
    plain.add(y, np.empty((900, 0)), None, lambda a, b: [f"t{t}" for t in range(a, b)])
    assert plain.total
    uneven = START + np.random.default_rng(16).integers(1, DAY, 900).cumsum()
    missing = np.full(900, NO_TIME)
    for stamps in (None, uneven, missing):
        found = fed(y, stamps).alarms(())
        assert [one.row for one in found] == [one.row for one in plain.alarms(())]


def test_a_snapshot_that_no_detector_left_is_refused():
    snapshot = fed(daily(17, 288, 5), stamps_of(5 * 288, 288)).snapshot()
    clock = snapshot.clock._replace(rows=-1)
    for wrong in (
        snapshot._replace(clock=clock),
        snapshot._replace(waiting=snapshot.waiting[:, :1]),
        snapshot._replace(waiting=np.full((3, 2), np.nan)),
        snapshot._replace(waiting_texts=("a", "b")),
        snapshot._replace(course=snapshot.course[:, :2]),
        snapshot._replace(course=np.full((2, 4), np.nan)),
        snapshot._replace(by_block=snapshot.by_block._replace(total=99)),
    ):
        with pytest.raises(PersistenceError):
            TimedChangeDetector(0).restore(wrong)
