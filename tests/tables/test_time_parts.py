"""Times in several columns: what is joined, and what is not."""

import itertools

import numpy as np
import pytest

from thalweg.errors import StreamError
from thalweg.tables import read_table
from thalweg.tables.cell_formats import FormatSettings, detect_formats
from thalweg.tables.column_format import ColumnFormat
from thalweg.tables.validation import read_any_times

HOURS = (np.datetime64("2024-01-30T00") + np.arange(72)).astype(object)


def joined(tmp_path, header, line, given=()):
    """The name of the joined column and its times; None if there is none."""
    path = tmp_path / "s.csv"
    path.write_text(header + "\n" + "".join(line(hour) + "\n" for hour in HOURS))
    with read_table(path).join_times(given) as table:
        chunk = next(iter(table.chunks()))
    name = next(iter(chunk.cells))
    if " + " not in name:
        return None
    return name, chunk.timestamps(name).instants


@pytest.mark.parametrize(
    ("header", "form"),
    [
        ("y,Date,Time", "1,{0:%Y-%m-%d},{0:%H:%M}"),
        ("y,Date,Time", "1,{0:%Y-%m-%d},{0:%H:%M:%S}"),
        ("y,Date,Time", "1,{0:%Y-%m-%d},{0:%H.%M.%S}"),
        ("y,Date,Time", "1,{0:%Y-%m-%d},{0:%I:%M %p}"),
        ("y,Date,at", "1,{0:%m/%d/%Y},{0:%H:%M}"),
        ("y,Date,hr", "1,{0:%Y-%m-%d},{0.hour}"),
        ("y,date,Hour", "1,{0:%Y%m%d},{0.hour}"),
        ("y,Year,Month,Day,Hour", "1,{0.year},{0.month},{0.day},{0.hour}"),
        ("y,YR,mo,dd,HR", "1,{0.year},{0.month},{0.day},{0.hour}"),
    ],
)
def test_dates_and_clocks_are_joined(tmp_path, header, form):
    found = joined(tmp_path, header, form.format)
    assert found is not None
    assert found[0] == " + ".join(header.split(",")[1:])
    assert found[1].astype("datetime64[h]").astype(object).tolist() == list(HOURS)


@pytest.mark.parametrize("header", ["y,year,quarter", "y,Year,QTR"])
def test_years_and_quarters_are_joined(tmp_path, header):
    count = itertools.count()

    def line(_):
        k = next(count)
        return f"1,{1959 + k // 4},{k % 4 + 1}"

    found = joined(tmp_path, header, line)
    assert found is not None
    months = found[1].astype("datetime64[M]").astype(int)
    assert months[0] == (1959 - 1970) * 12 and set(np.diff(months)) == {3}


def test_hour_24_is_hour_0_of_the_next_day(tmp_path):
    form = "1,{0.year},{0.month},{0.day},{1}"
    line = lambda hour: form.format(hour, hour.hour + 1)  # noqa: E731
    found = joined(tmp_path, "y,Year,Month,Day,Hour", line)
    assert found is not None
    assert (found[1] == np.array(HOURS, "M8[ns]") + np.timedelta64(1, "h")).all()


@pytest.mark.parametrize(
    ("header", "form"),
    [
        ("y,when,Time", "1,{0:%Y-%m-%dT%H:%M},{0:%H:%M}"),  # a clock is there already
        ("y,Date,Year,Month,Day", "1,{0:%Y-%m-%d},{0.year},{0.month},{0.day}"),
        ("y,Year,Day", "1,{0.year},{0.day}"),
        ("y,yr,mo", "1,1,{0.month}"),  # the first year, not a date
        ("y,Date,count", "1,{0:%Y-%m-%d},{0.hour}"),
    ],
)
def test_other_columns_are_not_joined(tmp_path, header, form):
    assert joined(tmp_path, header, form.format) is None


def test_a_clock_for_every_day_is_joined_if_it_is_called_a_time(tmp_path):
    days = dict(zip(HOURS, np.datetime64("2024-01-30") + np.arange(72), strict=True))
    line = lambda hour: f"1,{days[hour]},06:{hour.hour:02d}"  # noqa: E731
    assert joined(tmp_path, "y,Date,sunrise", line) is None
    assert joined(tmp_path, "y,Date,Time", line) is not None


def test_columns_that_are_named_are_joined(tmp_path):
    form = "1,{0:%Y-%m-%d},{0:%H:%M}".format
    found = joined(tmp_path, "y,a,b", form, given=("a", "b"))
    assert found is not None
    assert found[0] == "a + b"
    with pytest.raises(StreamError, match="has no column 'c'"):
        joined(tmp_path, "y,a,b", form, given=("a", "c"))
    with pytest.raises(StreamError, match="cannot be joined"):
        joined(tmp_path, "y,a,b", form, given=("y", "a", "b"))


def test_a_part_that_is_missing_makes_the_time_missing(tmp_path):
    def line(hour):
        clock = "" if hour.hour == 5 else f"{hour:%H:%M}"
        return f"1,{hour:%Y-%m-%d},{clock}"

    found = joined(tmp_path, "y,Date,Time", line)
    assert found is not None
    assert np.isnat(found[1]).sum() == 3


@pytest.mark.parametrize(
    ("header", "form", "bad"),
    [
        ("y,Date,Time", "1,{0:%d.%m.%Y},{0:%H:%M}", "1,x,12:00"),
        ("y,Date,hr", "1,{0:%Y-%m-%d},{0.hour}", "1,2024-02-01,noon"),
        ("y,Year,Month,Day,Hour", "1,{0.year},{0.month},{0.day},{0.hour}", "1,x,1,2,3"),
    ],
)
@pytest.mark.parametrize("cut", [1, 7, 200])
def test_a_part_that_is_none_leaves_other_rows_as_they_are(
    tmp_path, monkeypatch, header, form, bad, cut
):
    monkeypatch.setattr("thalweg.tables.chunk.SAMPLE_ROWS", 24)
    lines = [form.format(hour) for hour in HOURS]
    lines[40] = bad
    (tmp_path / "s.csv").write_text("\n".join([header, *lines]) + "\n")
    name = " + ".join(header.split(",")[1:])
    with read_table(tmp_path / "s.csv", chunk_rows=cut).join_times() as table:
        chunks = list(table.chunks())
    column = ColumnFormat(name, "time", "plain", "day first")
    known = [
        read_any_times(chunk.with_formats([column]), name).is_known().tolist()
        for chunk in chunks
    ]
    assert sum(known, []) == [k != 40 for k in range(72)]


def test_a_date_that_is_none_is_named_with_the_columns_that_are_joined(tmp_path):
    lines = [f"1,{hour:%d.%m.%Y},{hour:%H:%M}" for hour in HOURS]
    lines[40] = "1,x,12:00"
    (tmp_path / "s.csv").write_text("\n".join(["y,Date,at Time", *lines]) + "\n")
    with read_table(tmp_path / "s.csv").join_times(["Date", "at Time"]) as table:
        (chunk,) = table.chunks()
    for can_skip in (False, True):
        settings = FormatSettings(can_skip=can_skip)
        (note,) = detect_formats(chunk, [*chunk.cells], settings).notes
        assert note.startswith("Row 41 (line 42) of s.csv: 'Date + at Time' is 'x'")
        advice = ", or skip it: --time 'Date,at Time' --on-error skip."
        assert note.endswith("correct that line" + (advice if can_skip else "."))
