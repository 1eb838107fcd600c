import numpy as np
import pytest

from thalweg.calendar.row_clock import NO_TIME
from thalweg.calendar.weekdays import DAY
from thalweg.changes.change_detector import ChangeDetector
from thalweg.changes.timed_change_detector import TimedChangeDetector
from thalweg.errors import PersistenceError

START = int(np.datetime64("2026-01-05", "ns").astype(np.int64))


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


def test_a_daily_course_without_noise_raises_no_alarm():
    y = daily(3, 288, 12, noise=0)
    assert fed(y, stamps_of(len(y), 288)).total == 0
    y[10 * 288 + 9 :] = 0
    assert fed(y, stamps_of(len(y), 288)).alarms(())[0].onset == 10 * 288 + 10


@pytest.mark.parametrize("per_day", [1440, 288, 96])
def test_the_first_two_days_raise_no_alarm(per_day):
    for y in stable_days(2, per_day, 2).values():
        assert fed(y, stamps_of(len(y), per_day)).total == 0


@pytest.mark.parametrize("per_day", [288, 96])
@pytest.mark.parametrize("days", [3, 9])
def test_an_outage_is_found_within_rows_at_whichever_row_it_begins(per_day, days):
    for start in range(days * per_day, days * per_day + per_day // 24):
        y = daily(start, per_day, days + 1)
        y[start : start + 8] = 0
        first, *_ = fed(y, stamps_of(len(y), per_day)).alarms(())
        assert first.onset == start + 1 and first.row <= start + 7
        assert first.after == 0 and first.before in y[:start]


@pytest.mark.parametrize("per_day", [1440, 288])
def test_a_collapse_beside_a_daily_course_is_found_with_its_own_row(per_day):
    y, at = daily(4, per_day, 10), 8 * per_day + 77
    y[at:] /= 10
    (alarm,) = fed(y, stamps_of(len(y), per_day)).alarms(())
    assert alarm.onset == at + 1 and alarm.row <= at + 8
    assert alarm.kind == "level" and alarm.after < alarm.before / 7
    assert (alarm.onset_time, alarm.time) == (f"t{at}", f"t{alarm.row - 1}")


@pytest.mark.parametrize("per_day", [1440, 288, 96])
def test_a_shift_within_the_range_of_days_is_found_by_the_week_before(per_day):
    y, at = daily(5, per_day, 11), 9 * per_day + 77
    y[at:] += 2
    (alarm,) = fed(y, stamps_of(len(y), per_day)).alarms(())
    assert abs(alarm.onset - at) <= 5 and alarm.row <= at + 40
    assert alarm.kind == "level" and alarm.after in y[alarm.onset - 1 : alarm.row]
    assert alarm.before in y[:at] and alarm.after > alarm.before


@pytest.mark.parametrize("per_day", [1440, 288])
def test_noise_that_triples_beside_a_daily_course_is_found(per_day):
    y, at = daily(9, per_day, 11), 9 * per_day + 77
    y[at:] += 8**0.5 * np.random.default_rng(7).normal(size=len(y) - at)
    (alarm,) = fed(y, stamps_of(len(y), per_day)).alarms(())
    assert alarm.kind == "variance" and abs(alarm.onset - at) <= 10
    assert alarm.text.startswith("variance rose ")


def test_an_outage_after_a_change_of_noise_is_found_as_well():
    y, at = daily(9, 288, 11), 9 * 288 + 77
    y[at:] += 8**0.5 * np.random.default_rng(7).normal(size=len(y) - at)
    y[at + 60 :] = 0
    first, second = fed(y, stamps_of(len(y), 288)).alarms(())
    assert (first.kind, second.kind) == ("variance", "level")
    assert second.onset == at + 61 and second.row <= at + 67


def test_a_shift_is_one_alarm_though_the_week_after_differs_from_it_again():
    y, at = daily(5, 288, 22), 9 * 288 + 77
    y[at:] += 2
    assert fed(y, stamps_of(len(y), 288)).total == 1


@pytest.mark.parametrize("per_day", [288, 96])
def test_a_daily_course_that_moves_with_summer_time_raises_no_alarm(per_day):
    first = np.datetime64("2026-03-09", "ns").astype(np.int64)
    stamps = first - START + stamps_of(35 * per_day, per_day)  # in UTC
    shift = np.datetime64("2026-03-29T01:00", "ns").astype(np.int64)
    hours = stamps + DAY // 24 * (stamps >= shift)
    y = 40 + 10 * np.sin(2 * np.pi * hours / DAY)
    y += np.random.default_rng(18).normal(size=len(y))
    assert fed(y, stamps).total == 0
    y += (
        10 * np.sin(2 * np.pi * (hours + DAY // 24) / DAY) * (stamps >= shift + 2 * DAY)
    )
    assert fed(y, stamps).total > 0


def test_a_changed_relation_is_found_by_the_week_before():
    rows, at = 288 * 12, 3000
    columns = np.repeat(np.random.default_rng(8).normal(size=(rows // 6, 1)), 6, axis=0)
    y = np.random.default_rng(9).normal(size=rows) + columns[:, 0]
    y[at:] -= 2 * columns[at:, 0]
    (alarm,) = fed(y, stamps_of(rows, 288), columns).alarms(("price",))
    assert alarm.text == "relation to 'price' changed" and abs(alarm.onset - at) < 50


def test_a_sensor_that_is_stuck_and_then_works_is_found():
    y = daily(10, 288, 12)
    y[2900:3100] = y[2900]
    first, *_ = fed(y, stamps_of(len(y), 288)).alarms(())
    assert 2900 < first.onset <= first.row < 2950 and "stuck" in first.text


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
    rng, rows = np.random.default_rng(14), min(max(per_day * 9, 400), 4000)
    y = daily(14, per_day, rows // per_day + 1)[:rows] + rng.normal(size=rows)
    y[rows * 7 // 8 :] /= 5
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
        snapshot._replace(days=snapshot.days[:-1]),
        snapshot._replace(days=np.full_like(snapshot.days, np.nan)),
        snapshot._replace(reference_start=10**9),
        snapshot._replace(by_row=snapshot.by_row._replace(total=99)),
    ):
        with pytest.raises(PersistenceError):
            TimedChangeDetector(0).restore(wrong)
