"""What the text in a cell means."""

import math
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thalweg.tables import literals


@pytest.mark.parametrize(
    "text", [*literals.MISSING, "  ", " NA ", "N/A", "#N/A", "NAN", "Null", "NONE"]
)
def test_these_are_missing(text):
    assert literals.is_missing(text)
    assert math.isnan(literals.parse_number(text))
    assert literals.parse_time(text) == (literals.NOT_A_TIME, literals.NOT_A_TIME)
    assert literals.text_kind(text) == "number"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1.0),
        (" -2.5 ", -2.5),
        ("+3", 3.0),
        (".5", 0.5),
        ("5.", 5.0),
        ("1e3", 1000.0),
        ("1E-3", 0.001),
        ("true", 1.0),
        ("False", 0.0),
        ("-inf", -math.inf),
        ("Infinity", math.inf),
        ("1e999", math.inf),
    ],
)
def test_these_are_numbers(text, value):
    assert literals.parse_number(text) == value


@pytest.mark.parametrize(
    "text",
    ["1,000", "1_000", "1 000", "0x10", "1e", "e5", "--1", "nan(1)", "١", "a"],
)
def test_these_are_text(text):
    assert literals.parse_number(text) is None
    assert literals.parse_time(text) is None
    assert literals.text_kind(text) == "text"


@given(st.floats(allow_nan=False))
def test_every_number_comes_back_to_the_last_bit(value):
    assert literals.parse_number(repr(value)) == value


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1970-01-02", 86400),
        ("1970-01-01 01", 3600),
        ("1970-01-01T00:01", 60),
        ("1970-01-01 00:00:01.5", 1.5),
        ("1970-01-01T01:00:00Z", 3600),
        ("1970-01-01 01:00+01:00", 0),
        ("1970-01-01 01:00-0130", 9000),
        ("1970-01-01T01:00+01", 0),
        (" 1969-12-31 ", -86400),
        ("1970-1-2", 86400),
        ("1970/01/02 00:00", 86400),
        ("1970.01.02", 86400),
        ("1970-02", 31 * 86400),
        ("1970/2", 31 * 86400),
        ("1970Q2", 90 * 86400),
        ("1970-q2", 90 * 86400),
        ("Q2 1970", 90 * 86400),
        ("1970-W02", 4 * 86400),
        ("1970W02-3", 6 * 86400),
        ("Jan 2 1970", 86400),
        ("Jan-2-1970", 86400),
        ("JANUARY 2nd, 1970", 86400),
        ("2 January 1970", 86400),
        ("2-jan-70", 86400),
        ("Fri, 2 Jan 1970 00:00:01 GMT", 86401),
        ("1970-Jan-02", 86400),
        ("Sept 1970", 243 * 86400),
        ("1970 May", 120 * 86400),
        ("19700102 01:00", 90000),
        ("1970-01-02 12:30 AM", 86400 + 1800),
        ("1/2/1970 1:30:15 p.m.", 86400 + 13 * 3600 + 1815),
        ("1/2/1970", 86400),
        ("1/2/70 0:05", 86700),
        ("01.02.70", 86400),
    ],
)
def test_these_are_times(text, seconds):
    assert literals.parse_time(text).instant == seconds * 10**9
    assert literals.text_kind(text) == "time"


@pytest.mark.parametrize(
    "text",
    [
        "2024-02-30",
        "30/02/2024",
        "2024-01-01Z",
        "2024-01-01 24:00",
        "2024-01-01 10:00:60",
        "2024-01-01 10:00+25:00",
        "2024-01-01 10:00:00.1234567891",
        "9999-12-31",
        "1600-01-01",
        "0001-01-01T00:00+23:00",
        "2024-13",
        "10:00",
        "1.2.14",
        "1-2-14",
        "Jan",
        "ſept 1 2000",
        "1 Foo 2000",
        "2024-01-01 1",
        "2024-01-01 13:00 PM",
        "2024-W60",
        "2024Q5",
    ],
)
def test_these_are_no_times(text):
    assert literals.parse_time(text) is None
    assert literals.text_kind(text) == "text"


@given(
    st.datetimes(datetime(1700, 1, 1), datetime(2200, 1, 1)),
    st.integers(-14 * 60, 14 * 60),
)
def test_every_time_comes_back_whatever_its_offset(moment, minutes):
    zone = timedelta(minutes=minutes)
    sign = "-" if minutes < 0 else "+"
    offset = f"{sign}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}"
    since = moment - zone - datetime(1970, 1, 1)
    expected = since // timedelta(microseconds=1) * 1000
    assert literals.parse_time(f"{moment.isoformat()}{offset}") == (
        expected, minutes * 60 * 10**9
    )  # fmt: skip
    aware = moment.replace(tzinfo=UTC) - zone
    assert literals.parse_time(aware.isoformat(sep=" ")) == (expected, 0)
