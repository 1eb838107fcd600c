from datetime import date

import numpy as np

from thalweg.calendar import public_holidays
from thalweg.calendar.public_holidays import (
    COUNTRIES,
    COUNTRY_NAMES,
    YEAR_END_DATES,
    day_marks,
    find_day_grid,
)
from thalweg.calendar.time_grid import TimeGrid
from thalweg.kernels.forecaster import forecaster_layout

HOUR = 3600 * 10**9


def marks_of(day):
    (mark,) = day_marks((day - date(1970, 1, 1)).days, 1)
    return mark


def countries_of(day):
    bits = int(marks_of(day)[1])
    return {name for bit, name in enumerate(COUNTRIES) if bits >> bit & 1}


def test_holidays_are_those_of_their_countries():
    assert countries_of(date(2023, 7, 4)) == {"US"}
    assert "US" in countries_of(date(2023, 11, 23))  # Thanksgiving
    assert {"FR", "DE", "IT"} <= countries_of(date(2024, 4, 1))  # Easter Monday
    assert "US" not in countries_of(date(2024, 4, 1))
    assert countries_of(date(2023, 7, 18)) == set()


def test_weekdays_and_dates_of_the_year_end():
    assert marks_of(date(2024, 2, 29))[0] == 3  # a Thursday
    numbers = [marks_of(date(2023, month, day))[2] for month, day in YEAR_END_DATES]
    assert numbers == [0, 1, 2, 3, 4]
    assert marks_of(date(2023, 12, 30))[2] == -1


def test_days_of_many_years_are_those_of_each():
    first = (date(2019, 12, 1) - date(1970, 1, 1)).days
    many = day_marks(first, 800)
    single = np.vstack([day_marks(first + k, 1) for k in range(800)])
    np.testing.assert_array_equal(many, single)


def test_every_country_has_a_name():
    assert set(COUNTRY_NAMES) == set(COUNTRIES)
    assert len(set(COUNTRY_NAMES.values())) == len(COUNTRIES)


def test_years_without_known_holidays_have_none():
    assert (day_marks(-100_000, 400)[:, 1] == 0).all()
    assert (day_marks(100_000, 400)[:, 1:] == [0, -1]).all()


def test_days_begin_at_midnight():
    assert find_day_grid(TimeGrid(49 * HOUR, HOUR)) == (24, 1, 2)
    assert find_day_grid(TimeGrid(49 * HOUR, HOUR), -2 * HOUR) == (24, 23, 1)
    assert find_day_grid(TimeGrid(0, 24 * HOUR)) == (1, 0, 0)
    assert find_day_grid(TimeGrid(0, 7 * HOUR)) is None
    assert find_day_grid(TimeGrid(0, HOUR // 60)) is None
    assert find_day_grid(TimeGrid(0, 24 * HOUR, weekdays=0b11111)) is None
    assert find_day_grid(TimeGrid(0, 24 * HOUR, months=1)) is None


def test_the_forecaster_has_room_for_every_country_and_date():
    """An effect of one more would be read and never used."""
    assert len(public_holidays.COUNTRIES) == forecaster_layout.COUNTRIES
    assert len(public_holidays.YEAR_END_DATES) == forecaster_layout.YEAR_END_DATES
