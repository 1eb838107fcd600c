"""Rows of units below the header: skipped in files, and said to be."""

import io

import pytest
from openpyxl import Workbook

from thalweg.tables import read_table

ROWS = ["2024-01-01,3.5,10\n", "2024-01-02,4.5,\n", "2024-01-03,5,12\n"]
HEADER = "time,load,temp\n"


def read(path, lines):
    path.write_text("".join(lines))
    with read_table(path) as table:
        (chunk,) = table.chunks()
        return chunk, table.notes()


@pytest.mark.parametrize(
    "units", [",kW,°C\n", "UTC,kW,degC\n", "yyyy-mm-dd,[kW],-\n", ",MW,\n"]
)
def test_a_row_of_units_is_skipped(tmp_path, units):
    chunk, (note,) = read(tmp_path / "x.csv", [HEADER, units, *ROWS])
    assert chunk.numbers("load").tolist() == [3.5, 4.5, 5]
    assert (chunk.first_row, chunk.line_of(0)) == (0, 3)
    assert chunk.kind("time") == "time" and len(chunk.sample["time"]) == 3
    assert note.startswith("The first row (line 2) of x.csv is skipped: text such")


def test_names_in_several_rows_are_skipped(tmp_path):
    lines = ["Price,Close,High\n", "Ticker,AAPL,AAPL\n", "Date,,\n", *ROWS]
    chunk, (note,) = read(tmp_path / "x.csv", lines)
    assert chunk.numbers("Close").tolist() == [3.5, 4.5, 5]
    assert "The first 2 rows (lines 2 to 3) of x.csv are skipped" in note


def test_a_workbook_has_units_too(tmp_path):
    book = Workbook()
    for row in [("time", "load"), (None, "kW"), ("2024-01-01", 1.5), ("2024-01-02", 2)]:
        book.active.append(row)
    book.save(tmp_path / "x.xlsx")
    with read_table(tmp_path / "x.xlsx") as table:
        (chunk,) = table.chunks()
    assert chunk.numbers("load").tolist() == [1.5, 2]


@pytest.mark.parametrize(
    "lines",
    [
        [HEADER, "2024-01-01,n.v,kW\n", *ROWS],  # a time is a value
        [HEADER, ",,\n", *ROWS],  # no text
        ["a,b,c\n", "31/08/2023,1.4M,($5)\n", "1/9/2023,2,1\n", "2/9/2023,3,2\n"],
        ["a,b\n", "31-Aug-23,\n", "30-Sep-23,1\n", "31-Oct-23,1\n"],
        ["time,load,shop\n", ",kW,a\n", "2024-01-01,3,b\n", "2024-01-02,4,c\n"],
        ["a,b\n", "x,y\n", "z,w\n", "v,u\n"],
        ["a,b\n", "x,y\n", "1,2\n"],  # one row of values tells nothing
    ],
)
def test_other_first_rows_stay(tmp_path, lines):
    chunk, notes = read(tmp_path / "x.csv", lines)
    assert len(chunk) == len(lines) - 1 and notes == ()


def test_the_first_row_of_a_pipe_stays():
    table = read_table(io.BytesIO("".join([HEADER, ",kW,C\n", *ROWS]).encode()))
    assert sum(map(len, table.chunks())) == 4 and table.notes() == ()
