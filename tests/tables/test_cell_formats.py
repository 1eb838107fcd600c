"""How columns are written: found out once, said, and the same however rows are cut."""

import io
import re
from datetime import date, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tables.sample_tables import (
    assert_same,
    concatenate,
    encode_table,
    through_file,
)
from thalweg.errors import StreamError
from thalweg.tables import Encoder, Recipe, read_table

DAILY = [date(2019, 1, 2) + timedelta(days=k) for k in range(40)]
MONTHLY = [date(2019 + k // 12, k % 12 + 1, 1) for k in range(24)]


def read(tmp_path, cells, name="when", **settings):
    """The encoder and the rows of a file with a column of these cells."""
    lines = [f"{name};y\n", *(f'"{cell}";{k}\n' for k, cell in enumerate(cells))]
    (tmp_path / "x.csv").write_text("".join(lines))
    encoder = Encoder(Recipe(("y",), lags=(1,), **{"time": None} | settings))
    return encoder, encode_table(read_table(tmp_path / "x.csv"), encoder=encoder)


def times_of(tmp_path, cells, **settings):
    """The days that a file's column of times is read as, and the encoder's notes."""
    encoder, rounds = read(tmp_path, cells, time="when", **settings)
    days = rounds.time[:, 0].view("datetime64[ns]").astype("datetime64[D]")
    return days.astype(object).tolist(), encoder.notes()


@pytest.mark.parametrize("layout", ["%m/%d/%Y", "%d/%m/%Y", "%d.%m.%Y", "%m-%d-%Y"])
@pytest.mark.parametrize("days", [DAILY, MONTHLY], ids=["daily", "monthly"])
def test_a_file_tells_the_day_from_the_month(days, layout, tmp_path):
    cells = [day.strftime(layout) for day in days]
    found, notes = times_of(tmp_path, cells)
    assert found == days[1:]
    # Nothing but the even steps tells it of months: the user is told.
    assert len(notes) == (days is MONTHLY)


def test_what_is_taken_for_what_is_said(tmp_path):
    found, notes = times_of(tmp_path, ["02/01/2019", "02/02/2019"])
    assert found == [date(2019, 2, 2)]
    assert notes == (
        "Column 'when': '02/01/2019' is taken as 1 February 2019 (month first); "
        "--dayfirst reads it as 2 January 2019.",
    )
    found, notes = times_of(tmp_path, ["02.01.2019", "03.01.2019"])
    assert found == [date(2019, 1, 3)]
    assert "(day first); --monthfirst reads it as 1 February 2019" in notes[0]


def test_the_user_has_the_last_word(tmp_path):
    found, notes = times_of(tmp_path, ["02/01/2019", "02/02/2019"], dayfirst=True)
    assert (found, notes) == ([date(2019, 2, 2)], ())
    found, _ = times_of(tmp_path, ["02/01/2019", "05/01/2019"], dayfirst=True)
    assert found == [date(2019, 1, 5)]


def test_series_below_one_another_still_tell_the_order(tmp_path):
    cells = [day.strftime("%d/%m/%Y") for day in MONTHLY + MONTHLY]
    encoder, _ = read(tmp_path, cells)
    assert encoder.state.schema.formats[0].date_order == "day first"


@pytest.mark.parametrize(
    "cells",
    [
        ["Jan 1 2000", "Feb 1 2000"],
        ["1949-01", "1949-02"],
        ["1959Q1", "1959Q2"],
        ["12/1/2009 7:45", "12/1/2009 8:00"],
    ],
)
def test_a_column_of_dates_is_left_out_and_never_one_hot(cells, tmp_path):
    encoder, rounds = read(tmp_path, cells)
    assert encoder.feature_names() == ("y lag 1",)
    assert "holds times and is left out" in " ".join(encoder.notes())


def test_dates_that_cannot_be_read_are_left_out_with_a_note(tmp_path):
    encoder, _ = read(tmp_path, ["1. Januar 2000", "2. Januar 2000"])
    assert encoder.feature_names() == ("y lag 1",)
    assert encoder.notes() == (
        "Column 'when' looks like dates, and '1. Januar 2000' cannot be read: left "
        "out. Dates are written such as 2024-01-31, 2024-01-31T18:30:00 or Jan 31 "
        "2024; --text when makes categories of them.",
    )
    encoder, _ = read(tmp_path, ["1. Januar 2000", "2. Januar 2000"], text=("when",))
    assert encoder.feature_names()[0] == "when=1. Januar 2000"


QUARTERS = [date(2019 + k // 4, k % 4 * 3 + 1, 1) for k in range(14)]
MONTH_FORMS = {
    "{0:%b-%y}": True, "{0:%b '%y}": False, "{0:%b’%y}": False, "{0:%b %y}": True,
    "{0:%b%Y}": False, "{0:%m/%Y}": False, "{0.month}/{0.year}": False,
    "{0:%m-%Y}": False, "{0:%Y/%m}": False, "{0:%Y%m}": False, "{0:%YM%m}": False,
    "{0:%Y M%m}": False,
}  # fmt: skip
QUARTER_FORMS = {
    "Q{1}-{0:%y}": False, "Q{1}-{0:%Y}": False, "Q{1} '{0:%y}": False,
    "{1}Q{0:%y}": False, "{1}Q{0:%Y}": False, "{0:%Y}-Q{1}": False,
    "{0:%y}-Q{1}": False, "FY{0:%Y} Q{1}": True, "FY{0:%y}-Q{1}": True,
    "FY{0:%y}Q{1}": True, "Q{1} FY{0:%Y}": True, "Q{1} FY{0:%y}": True,
}  # fmt: skip


@pytest.mark.parametrize("form", [*MONTH_FORMS, *QUARTER_FORMS])
@pytest.mark.parametrize("is_newest_first", [False, True])
def test_months_and_quarters_are_read_as_people_write_them(
    form, is_newest_first, tmp_path
):
    has_note = {**MONTH_FORMS, **QUARTER_FORMS}[form]
    days = MONTHLY if form in MONTH_FORMS else QUARTERS
    # Numbers of six digits that fall are months by their name alone.
    days = days[::-1] if is_newest_first and form != "{0:%Y%m}" else days
    cells = [form.format(day, (day.month + 2) // 3) for day in days]
    encoder, rounds = read(tmp_path, cells, "obs", time="auto")
    found = rounds.time[:, 0].view("datetime64[ns]").astype("datetime64[D]")
    assert found.astype(object).tolist() == days[1:]
    assert any(f"'obs': {cells[0]!r} is taken as" in n for n in encoder.notes()) == (
        has_note
    )


def test_what_was_taken_for_a_month_or_a_quarter_is_said(tmp_path):
    _, notes = times_of(tmp_path, ["Jan-15", "Feb-15", "Mar-15"])
    sentence = "'Jan-15' is taken as January 2015, not as a day of the month."
    assert notes == (f"Column 'when': {sentence}",)
    _, notes = times_of(tmp_path, ["FY10-Q4", "FY11-Q1"])
    assert "'FY10-Q4' is taken as quarter 4 of the year 2010, for nobody" in notes[0]


def test_days_without_a_year_are_no_months(tmp_path):
    for first in (1, 25):
        days = [date(2019, 1, first) + timedelta(days=k) for k in range(20)]
        encoder, _ = read(tmp_path, [f"{day:%b-%d}" for day in days], time="auto")
        assert encoder.state.schema.time_column is None
        assert "looks like dates, and 'Jan-" in " ".join(encoder.notes())


@pytest.mark.parametrize(
    ("name", "cells", "are_months"),
    [
        ("month", ["201512", "201512"], True),
        ("period", ["201503", "201501"], True),
        ("obs", ["201511", "201512", "201601"], True),
        ("obs", ["201510", "201511", "201512"], False),  # a counter, perhaps
        ("obs", ["201511", "201601", "201512"], False),
        ("month", ["201512", "201513"], False),
        ("month", ["101512", "101601"], False),
    ],
)
def test_six_digits_are_months_only_by_a_name_or_in_order(
    name, cells, are_months, tmp_path
):
    encoder, _ = read(tmp_path, cells, name)
    assert (encoder.feature_names() == ("y lag 1",)) == are_months


@pytest.mark.parametrize(
    ("name", "cells", "are_days"),
    [
        ("date", ["19580329", "19580405"], True),
        ("sale_date", ["19580329", "19580329"], True),
        ("obs", ["19580329", "19580405", "19580412"], True),
        ("obs", ["19580329", "19580405"], False),
        ("obs", ["19580329", "19580405", "19580401"], False),
        ("date", ["19580329", "19581405"], False),
        ("date", ["1958", "1959"], False),
        ("update", ["19580329", "19580405"], False),
    ],
)
def test_whole_numbers_are_days_only_by_a_name_or_in_order(
    name, cells, are_days, tmp_path
):
    encoder, rounds = read(tmp_path, cells, name)
    assert encoder.feature_names() == (("y lag 1",) if are_days else (name, "y lag 1"))


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["1,5", "2"], [1.5, 2.0]),
        (["1.234,5", "7"], [1234.5, 7.0]),
        (["1 234,5", "-1"], [1234.5, -1.0]),
        (["1,234.5", "12"], [1234.5, 12.0]),
        (["1'234.5", "12"], [1234.5, 12.0]),
        (["1,234,567", "1,234"], [1234567.0, 1234.0]),
        (["0,123", "1,234"], [0.123, 1.234]),
        (["$1,234.50", "-$3"], [1234.5, -3.0]),
        (["5 %", "1.5%"], [5.0, 1.5]),
        (["(1,234)", "1,144"], [-1234.0, 1144.0]),
        (["(1,234.50)", "($1,234)"], [-1234.5, -1234.0]),
        (["$(1,234)", "-$1,234"], [-1234.0, -1234.0]),
        (["(1.234,50)", "(5 €)"], [-1234.5, -5.0]),
        (["(2368)", "(3)"], [-2368.0, -3.0]),
        (["(1.2M)", "1.3M"], [-1.2e6, 1.3e6]),
        (["NA", "1,5"], [np.nan, 1.5]),
        (["1.234", "2.345"], [1.234, 2.345]),
    ],
)
def test_numbers_are_read_as_people_write_them(cells, numbers, tmp_path):
    encoder, rounds = read(tmp_path, ["0", *cells], "x", missing="skip")
    assert np.array_equal(rounds.x[:, 0], numbers, equal_nan=True)


def test_advice_names_what_else_is_no_number(tmp_path):
    (tmp_path / "x.csv").write_text('y\n"1,234"\n"(5)"\nsee note\n')
    encoder = Encoder(Recipe(("y",), lags=(1,), decimal="."))
    message = (
        "Row 1 (line 2) of x.csv: 'y' is '1,234', which is no number in plain digits, "
        "and 'see note' in the same column is none with a decimal point either."
    )
    with pytest.raises(StreamError, match=re.escape(message)):
        encode_table(read_table(tmp_path / "x.csv"), encoder=encoder)


def test_other_columns_tell_what_a_comma_is(tmp_path):
    data = "a;b;c;y\n1,234;1.234;1,5;1\n2,345;2.345;2,5;2\n3,456;3.456;3,5;3\n"
    (tmp_path / "x.csv").write_text(data)
    encoder = Encoder(Recipe(("y",), lags=()))
    rounds = encode_table(read_table(tmp_path / "x.csv"), encoder=encoder)
    assert rounds.x[0].tolist() == [1.234, 1234.0, 1.5]
    assert encoder.notes() == (
        "Columns 'a', 'b', 'c': '1,234' is taken as 1.234 (decimal comma); --decimal "
        "point says otherwise.",
    )
    encoder = Encoder(Recipe(("y",), lags=(), features=("a",), decimal="."))
    rounds = encode_table(read_table(tmp_path / "x.csv"), encoder=encoder)
    assert (rounds.x[0].tolist(), encoder.notes()) == ([1234.0], ())


def test_a_list_of_codes_leaves_other_numbers_as_they_are(tmp_path):
    (tmp_path / "x.csv").write_text('a,codes,y\n10.5,"1,2",1\n11.25,"3,4",2\n')
    encoder = Encoder(Recipe(("y",), features=("a",)))
    rounds = encode_table(read_table(tmp_path / "x.csv"), encoder=encoder)
    assert rounds.x[:, 0].tolist() == [10.5, 11.25]


def test_a_first_cell_that_is_missing_decides_nothing_in_a_file(tmp_path):
    encoder, _ = read(tmp_path, ["", "red", "blue"], "x", missing="skip", categories=2)
    assert encoder.feature_names()[:2] == ("x=red", "x=blue")


DATED = st.lists(st.dates(date(2000, 1, 1), date(2030, 1, 1)), min_size=2, max_size=30)


@given(
    days=DATED, layout=st.sampled_from(["%m/%d/%Y", "%d/%m/%Y"]), cut=st.integers(1, 9)
)
def test_a_file_reads_the_same_however_it_is_cut(days, layout, cut, tmp_path_factory):
    path = tmp_path_factory.mktemp("cut") / "x.csv"
    lines = [
        f"{day.strftime(layout)};{k},5;{k}\n" for k, day in enumerate(sorted(days))
    ]
    path.write_text("when;x;y\n" + "".join(lines))
    recipe = Recipe(("y",), calendar="when")
    encoder, parts = Encoder(recipe), []
    for chunk in read_table(path, chunk_rows=cut).chunks():
        parts.append(encoder.encode(chunk))
        encoder = Encoder.restore(recipe, through_file(encoder.state))
    whole = encode_table(read_table(path), recipe)
    assert_same(concatenate(parts), whole)


@pytest.mark.parametrize("cut", [1, 2, 100])
def test_of_a_pipe_the_first_row_alone_decides(cut):
    data = b"when;x;y\n02/01/2019;1;1\n13/01/2019;2;2\n"
    encoder = Encoder(Recipe(("y",), time="when"))
    with pytest.raises(StreamError, match="day first: --dayfirst"):
        for chunk in read_table(io.BytesIO(data), chunk_rows=cut).chunks():
            encoder.encode(chunk)
    encoder = Encoder(Recipe(("y",), time="when", dayfirst=True))
    encode_table(read_table(io.BytesIO(data)), encoder=encoder)
    assert encoder.last_time().isoformat() == ["2019-01-13T00:00:00"]


@pytest.mark.parametrize("layout", ["%m/%d/%Y", "%d.%m.%Y"])
def test_times_that_nobody_has_named_have_their_order_too(layout, tmp_path):
    lines = [f"{day.strftime(layout)},{k}\n" for k, day in enumerate(DAILY)]
    (tmp_path / "x.csv").write_text("when,y\n" + "".join(lines))
    rounds = encode_table(read_table(tmp_path / "x.csv"), Recipe(("y",)))
    days = rounds.time[:, 0].view("datetime64[ns]").astype("datetime64[D]")
    assert days.astype(object).tolist() == DAILY


def non_time_notes(tmp_path, cells, **settings):
    encoder, _ = read(tmp_path, cells, **settings)
    return [note for note in encoder.notes() if "one of times" in note]


def test_a_line_that_keeps_a_column_from_being_times_is_named(tmp_path):
    cells = [*map(str, DAILY), "(end)"]
    (note,) = non_time_notes(tmp_path, cells)
    assert note == (
        "Row 41 (line 42) of x.csv: 'when' is '(end)', and all other rows hold times: "
        "the column does not count as one of times. Delete or correct that line, or "
        "skip it: --time when --on-error skip."
    )
    cells = [*map(str, DAILY * 6), "(end)", "(x)"]
    (note,) = non_time_notes(tmp_path, cells)
    assert "Row 241 (line 242)" in note and "all but 2 rows hold times" in note
    assert "Delete or correct those lines, or skip them" in note


@pytest.mark.parametrize(
    "cells",
    [
        [*map(str, DAILY), "(end)", "(x)"],  # more than one, and more than 1 %
        [*map(str, DAILY[:10]), "(end)"],  # too few to tell
        [*map(str, DAILY * 20), *"abcdef"],
        [*map(str, DAILY), ""],
        ["shop", "office"] * 20,
    ],
)
def test_a_column_that_is_hardly_one_of_times_has_no_such_note(cells, tmp_path):
    assert non_time_notes(tmp_path, cells) == []


def test_a_first_line_that_is_no_time_is_found_too(tmp_path):
    (note,) = non_time_notes(tmp_path, ["Opening", *map(str, DAILY)])
    assert note.startswith("Row 1 (line 2) of x.csv: 'when' is 'Opening', and all")
