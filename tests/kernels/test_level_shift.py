import numpy as np
import pytest

from tests.kernels.plain_change_detector import PlainDetector
from tests.kernels.test_change_detector import play
from thalweg.kernels.change_detector import detector_layout as layout
from thalweg.kernels.compiler.jit import COMPILED

ROWS = 96
SEEDS = range(20 if COMPILED else 1)  # all rows are fitted again after each of them
PROFILE = np.array([0.9, 0.85, 1, 1.02, 1.05, 0.97, 0.9, 0.88, 1, 1.08, 1.15, 1.5])


def month_times(rows, step=1):
    """Times in years of the first days of months, or of every third one."""
    first = np.datetime64("2012-01") + step * np.arange(rows)
    days = first.astype("datetime64[D]") - np.datetime64("1970-01-01")
    return days.astype(float) / 365.2425


def months(seed, rows=ROWS, noise=0.04, growth=0.05):
    rng, t = np.random.default_rng([seed, 12]), np.arange(rows)
    level = PROFILE[t % 12] * np.exp(growth * t / 12 + noise * rng.normal(size=rows))
    return 1000 * level


def alarms_of(y, years, columns=None):
    columns = np.empty((len(y), 0)) if columns is None else columns
    records = play(y, columns, years)[0]
    pairs = records[:, [layout.ALARM_ROW, layout.ALARM_ONSET]].astype(int)
    return [tuple(pair) for pair in pairs.tolist()]


@pytest.mark.parametrize("seed", range(4))
def test_shifts_of_months_are_those_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    columns = rng.normal(size=(ROWS, seed % 2))
    y = months(seed) + 30 * columns.sum(axis=1)
    y = np.where(np.arange(ROWS) < 50, 1, 0.8) * y - 3000 * (seed == 3)
    y[70:] *= 1.3
    years = month_times(ROWS)
    found = alarms_of(y, years, columns)
    plain = PlainDetector(y, columns, years).run()
    assert found == [alarm[:2] for alarm in plain] and len(found) >= 1


@pytest.mark.parametrize("size", [-0.5, -0.25, 0.4])
def test_a_lasting_shift_of_months_is_one_alarm_within_eight_rows(size):
    for seed in SEEDS:
        y = np.where(np.arange(ROWS) < 48, 1, 1 + size) * months(seed)
        ((row, onset),) = alarms_of(y, month_times(ROWS))
        assert row < 48 + 8 and abs(onset - 48) <= 1


def test_a_lasting_shift_of_quarters_is_one_alarm():
    for seed in SEEDS:
        profile = np.array([0.9, 1, 0.95, 1.2])[np.arange(60) % 4]
        y = profile * (1 + 0.03 * np.random.default_rng(seed).normal(size=60))
        y[40:] *= 1.3
        ((row, onset),) = alarms_of(y, month_times(60, 3))
        assert row < 40 + 8 and abs(onset - 40) <= 1


@pytest.mark.parametrize("growth", [-0.2, 0.0, 0.3])
@pytest.mark.parametrize("noise", [0.005, 0.1])
def test_months_that_grow_with_a_year_have_no_alarm(growth, noise):
    for seed in SEEDS[:5]:
        y = months(seed, 200, noise, growth)
        assert alarms_of(y, month_times(200)) == []


def test_a_random_walk_of_months_has_no_alarm():
    for seed in SEEDS:
        steps = 0.05 * np.random.default_rng([seed, 5]).normal(size=150)
        assert (
            alarms_of(months(seed, 150) * np.exp(np.cumsum(steps)), month_times(150))
            == []
        )


def test_a_dip_of_three_months_is_no_alarm():
    y = months(1)
    y[60:63] *= 0.5
    assert alarms_of(y, month_times(ROWS)) == []


def test_a_recovery_half_a_year_after_a_fall_is_found():
    y = months(2)
    y[60:68] *= 0.5
    assert [onset for _, onset in alarms_of(y, month_times(ROWS))] == [60, 68]


def test_months_that_are_missing_do_not_move_the_year():
    kept = np.delete(np.arange(ROWS), [17, 30, 31, 40])
    y = np.where(np.arange(ROWS) < 60, 1, 0.8) * months(3, noise=0.02)
    y[20] = np.nan
    ((_, onset),) = alarms_of(y[kept], month_times(ROWS)[kept])
    assert kept[onset] == 60


def test_a_shift_that_a_column_explains_is_no_alarm():
    price = np.where(np.arange(ROWS) < 60, 10.0, 12.0)
    price += np.random.default_rng(4).normal(size=ROWS)
    y = 5000 + months(4, growth=0.0) - 300 * price
    assert alarms_of(y, month_times(ROWS), price[:, None]) == []
    assert len(alarms_of(y, month_times(ROWS))) == 1


@pytest.mark.parametrize(
    "y", [np.zeros(ROWS), np.full(ROWS, 21.3), np.arange(ROWS) * 1e150]
)
def test_months_without_noise_have_no_alarm(y):
    assert alarms_of(y, month_times(ROWS)) == []


def test_a_constant_month_that_steps_is_an_alarm():
    y = np.where(np.arange(ROWS) < 60, 21.3, 5.0)
    ((row, onset),) = alarms_of(y, month_times(ROWS))
    assert onset == 60 and row < 68
