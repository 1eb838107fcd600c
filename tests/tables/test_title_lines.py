"""Titles above the header: found in files, and skipped with a note."""

import io

import pytest
from openpyxl import Workbook

from thalweg.errors import InvalidParameterError, StreamError
from thalweg.tables import read_table
from thalweg.tables.title_lines import count_title_lines

ROWS = ["2024-01-01,3.5,north", "2024-01-02,4.5,south", "2024-01-03,,north"]
HEADER = "date,units,shop"


def opened(path, lines, **settings):
    path.write_text("\n".join(lines) + "\n")
    with read_table(path, **settings) as table:
        return table


@pytest.mark.parametrize(
    "titles",
    [
        ["Sales report 2024"],
        ["Sales report 2024", "Printed by, Excel"],
        ["Sales report 2024,,", ",,", "all shops,,"],
        ["Sales report 2024", ""],
        ["Region,north,Berlin", "", ""],
        ['"Sales, all shops"', "2024-01-05"],
    ],
)
def test_titles_are_skipped(tmp_path, titles):
    opened(tmp_path / "sales.csv", [*titles, HEADER, *ROWS])
    with read_table(tmp_path / "sales.csv") as table:
        chunk = next(table.chunks())
    assert table.columns == ("date", "units", "shop")
    assert len(chunk) == 3 and chunk.line_of(0) == len(titles) + 2
    (note,) = table.notes()
    assert f"line {len(titles) + 1} names the columns; --header 1" in note


@pytest.mark.parametrize(
    "lines",
    [
        [HEADER, *ROWS],
        [HEADER, "", *ROWS],
        ["city,2019,2020", "Rome,2,3", "Oslo,5,6"],
        [",units,", *ROWS],
        ["a,b", "x,y", "z,w"],
        ["a,b", "NA,NA", "1,2"],
        ["y", "1", "2"],
        ['a,b,"long', 'name"', "1,2,3"],
    ],
)
def test_a_first_line_that_may_be_the_header_is(tmp_path, lines):
    table = opened(tmp_path / "plain.csv", lines)
    assert table.notes() == () and table.columns[0] in (
        lines[0].split(",")[0], "column 1"
    )  # fmt: skip


def test_the_delimiter_may_be_a_semicolon(tmp_path):
    lines = ["Load, all plants", "Date;Power (kW, net)", "1.8.2019;1,5", "2.8.2019;2,5"]
    table = opened(tmp_path / "load.csv", lines)
    assert table.columns == ("Date", "Power (kW, net)")


def test_the_header_may_be_named(tmp_path):
    lines = ["Sales report 2024", "by,shop,and,day", HEADER, *ROWS]
    for header in (1, 2):
        table = opened(tmp_path / "sales.csv", lines, header=header)
        assert table.columns[0] == ("Sales report 2024", "by")[header - 1]
    table = opened(tmp_path / "sales.csv", lines, header=3)
    assert table.columns == ("date", "units", "shop") and table.notes() == ()
    data = "\n".join([*lines, ""]).encode()
    assert read_table(io.BytesIO(data), header=3).columns == ("date", "units", "shop")
    with pytest.raises(InvalidParameterError, match="'header'"):
        read_table(tmp_path / "sales.csv", header=0)


def test_a_first_row_of_another_width_points_to_the_header(tmp_path):
    opened(tmp_path / "sales.csv", ["Sales", "a,b", "x,y", "z,w"])
    with (
        read_table(tmp_path / "sales.csv") as table,
        pytest.raises(StreamError, match="--header LINE"),
    ):
        next(table.chunks())


def test_titles_of_a_workbook_are_skipped(tmp_path):
    workbook = Workbook()
    for row in (["Sales 2024"], [], ["date", "units"], ["2024-01-01", 3], ["x", 4]):
        workbook.active.append(row)
    workbook.save(tmp_path / "x.xlsx")
    with read_table(tmp_path / "x.xlsx") as table:
        assert table.columns == ("date", "units")
        assert "Lines 1 to 2 of x.xlsx are taken as a title" in table.notes()[0]
        assert len(next(table.chunks())) == 2
    with read_table(tmp_path / "x.xlsx", header=1) as table:
        assert table.columns == ("Sales 2024",)


def test_lines_of_an_open_quote_are_no_titles():
    assert count_title_lines([b'"Sales', b'2024"', b"a,b", b"1,2"], (",",)) == 0


def test_a_line_may_be_longer_than_a_cell():
    lines = [b"a," * 100_000 + b"b", b"1," * 100_000 + b"2"]
    assert count_title_lines(lines, (",", ";")) == 0
