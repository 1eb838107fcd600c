import numpy as np
import pytest

from tests.kernels.plain_daily_steps import PlainSteps
from thalweg.kernels.change_detector import daily_layout, detector_layout
from thalweg.kernels.change_detector.daily_steps import find_daily_steps

DAY = 96


def play(y, day=DAY, buffer=None):
    buffer = np.zeros(daily_layout.STATE.size(day=day)) if buffer is None else buffer
    references, noises = np.empty((2, len(y)))
    records = np.zeros((len(y), detector_layout.ALARM_FIELDS))
    count = find_daily_steps(
        buffer, np.empty(daily_layout.KEPT_ROWS), day, y, references, noises, records
    )
    return records[:count], references, noises, buffer


def daily_stream(seed, kind, days=11):
    rng, t = np.random.default_rng(seed), np.arange(days * DAY)
    day = np.sin(2 * np.pi * t / DAY + rng.uniform(0, 6))
    y = 40 + 10 * day + rng.normal(size=len(t))
    if kind == "counts":
        y = rng.poisson(10 * (1 + day)).astype(float)
    elif kind == "signed":
        y -= 40
    elif kind == "outliers":
        y += rng.standard_t(2, size=len(t))
    elif kind == "missing":
        y[rng.uniform(size=len(t)) < 0.2] = np.nan
    elif kind == "jobs":
        y[(t + rng.integers(-3, 4, days).repeat(DAY)) % DAY < 9] += 30
    for _ in range(4):
        at = int(rng.integers(len(t)))
        y[at : at + int(rng.integers(1, 40))] *= rng.choice([0, 0.3, 2])
    return y


KINDS = ("sine", "counts", "signed", "outliers", "missing", "jobs")


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", KINDS)
def test_the_kernel_has_the_steps_of_the_definition(seed, kind):
    y = daily_stream(seed, kind)
    plain = PlainSteps(y, DAY)
    steps = plain.run()
    records, references, noises, _ = play(y)
    fields = [
        detector_layout.ALARM_ROW, detector_layout.ALARM_ONSET,
        detector_layout.ALARM_STATISTIC, detector_layout.LEVEL_BEFORE,
        detector_layout.LEVEL_AFTER,
    ]  # fmt: skip
    assert [tuple(record) for record in records[:, fields].tolist()] == steps
    np.testing.assert_array_equal(references, plain.references)
    np.testing.assert_allclose(noises, plain.noises, rtol=1e-12)


def test_definitions_and_kernels_find_steps_at_all():
    assert sum(len(play(daily_stream(seed, "sine"))[0]) for seed in range(3)) >= 6


@pytest.mark.parametrize("kind", KINDS)
def test_rows_may_be_cut_anywhere(kind):
    y = daily_stream(5, kind)
    whole = play(y)
    buffer, parts = None, []
    for part in np.split(y, [1, 17, 18, 500, 501, 502, 800]):
        *outputs, buffer = play(part, buffer=buffer)
        parts.append(outputs)
    for one, other in zip(zip(*parts, strict=True), whole[:3], strict=True):
        np.testing.assert_array_equal(np.concatenate(one), other)
    np.testing.assert_array_equal(buffer, whole[3])


def test_a_fall_to_zero_is_found_in_its_fourth_row_with_levels_that_occurred():
    y = 40 + 10 * np.sin(2 * np.pi * np.arange(10 * DAY) / DAY)
    y += np.random.default_rng(1).normal(size=len(y))
    at = 8 * DAY + 31
    y[at:] = 0
    ((row, onset, _, before, after, *_),) = play(y)[0]
    assert (row, onset, after) == (at + 3, at, 0)
    assert before == np.sort(y[at - 7 : at])[3]


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_a_few_rows_are_outliers(rows):
    y = daily_stream(2, "sine", 9)
    y = 40 + 10 * np.sin(2 * np.pi * np.arange(10 * DAY) / DAY)
    y += np.random.default_rng(2).normal(size=len(y))
    y[8 * DAY + 31 : 8 * DAY + 31 + rows] = 0
    assert not len(play(y)[0])


def test_there_is_no_step_before_two_days_are_known():
    y = daily_stream(3, "sine", 2)
    y[DAY : DAY + 20] = 0
    assert not len(play(y)[0])


def test_a_job_that_recurs_near_its_hour_is_no_step_from_the_third_day_on():
    rng, days = np.random.default_rng(4), 12
    y = rng.normal(size=days * DAY) + 40
    for day in range(days):
        at = day * DAY + 30 + int(rng.integers(-3, 4))
        y[at : at + 9] += 30
    assert not len(play(y)[0])
    late = 10 * DAY + 70
    y[late : late + 9] += 30
    assert [record[1] for record in play(y)[0]] == [late, late + 9]
