"""CSV and TSV: headers, quotes, line ends, and two readers that agree."""

import io
import random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.tables.sample_tables import PiecewiseFile
from thalweg.errors import StreamError
from thalweg.tables import csv_files, read_table
from thalweg.tables.csv_files import CsvHeader
from thalweg.tables.records import RecordBlock, csv_record_end

HEADER = CsvHeader(("a", "b"), ",")


def texts(chunk):
    """Every cell of a chunk as text, None where missing."""
    if chunk is None:
        return None
    result = {name: chunk.categories(name) for name in chunk.cells}
    return {
        name: [[*coded.levels, None][code] for code in coded.codes]
        for name, coded in result.items()
    }


def table_of(data, **settings):
    return read_table(io.BytesIO(data), **settings)


def whole(table, every=1):
    """The text of all rows, with the lines of some."""
    rows, lines = {name: [] for name in table.columns}, []
    for chunk in table.chunks():
        for name, column in texts(chunk).items():
            rows[name] += column
        lines += [chunk.line_of(i) for i in range(0, len(chunk), every)]
    return rows, lines


@settings(max_examples=400)
@given(st.text('ab1 ,"\n\r-', max_size=40))
@example('"a""b",1\n')
@example('a"b,"c\nd"\n')
@example('"a"b"c,1\n')
@example(' "a",1\n')
@example("1,2\r3,4\n")
@example("1,2\r\n\r\n\n3,4\n")
@example('"",\n')
@example('"1\n2\r\n3",x\n')
def test_the_pyarrow_reader_agrees_with_the_standard_library_or_declines(text):
    data = (text + "\n").encode()
    data = data[: csv_record_end(",")(data)]
    block = RecordBlock(data, 1, 0, "x.csv")
    by_pyarrow = csv_files.read_block_by_pyarrow(block, HEADER, 0)
    if by_pyarrow is not None:
        slow = csv_files.read_block_by_csv_module(block, HEADER, 0)
        assert texts(by_pyarrow) == texts(slow)
        for i in range(len(slow)):
            assert by_pyarrow.line_of(i) == slow.line_of(i)


@given(st.text('ab ,"\n\r', max_size=30), st.lists(st.integers(1, 7), max_size=20))
def test_records_are_whole_however_the_bytes_arrive(text, sizes):
    """Cut at any byte, the rows and their lines are those of the whole text."""
    data = ("x,y\n" + text).encode()

    def outcome(file):
        try:
            return whole(read_table(file))
        except StreamError as refusal:
            return str(refusal)

    assert outcome(PiecewiseFile(data, sizes)) == outcome(io.BytesIO(data))


def test_quoted_cells_may_hold_anything():
    data = b'a,"b\nc"\r\n"x, y","line 1\nline ""2"""\r\n\r\nz,"w"\r\n'
    rows, lines = whole(table_of(data))
    assert rows == {"a": ["x, y", "z"], "b\nc": ['line 1\nline "2"', "w"]}
    assert lines == [3, 6]


def test_crlf_and_lf_and_a_missing_last_line_end_are_the_same():
    plain = whole(table_of(b"a,b\n1,2\n3,4\n"))
    assert whole(table_of(b"a,b\r\n1,2\r\n3,4\r\n")) == plain
    assert whole(table_of(b"a,b\n1,2\n3,4")) == plain
    assert whole(table_of(b"\xef\xbb\xbfa,b\n1,2\n3,4")) == plain


def test_blank_lines_are_no_rows_but_count_as_lines():
    rows, lines = whole(table_of(b"\n\na,b\n\n1,2\n\n3,4\n\n"))
    assert rows == {"a": ["1", "3"], "b": ["2", "4"]}
    assert lines == [5, 7]


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_the_header_says_what_separates_cells(mark):
    data = f'"a;b|c,d"{mark}e\n1{mark}2\n'.encode()
    assert whole(table_of(data))[0] == {"a;b|c,d": ["1"], "e": ["2"]}


def test_tsv_is_separated_by_tabs_only():
    assert table_of(b"a,b\tc\n1\t2\n", format="tsv").columns == ("a,b", "c")


def test_one_column_is_a_table_too():
    assert whole(table_of(b"a\n1\n\n2\n"))[0] == {"a": ["1", "2"]}


def test_columns_without_a_name_get_one():
    assert table_of(b",a, b \n0,1,2\n").columns == ("column 1", "a", "b")


def test_a_large_file_with_quotes_reads_alike_either_way(tmp_path, monkeypatch):
    rng = random.Random(0)
    cells = ["1", "x", '"q"', '"a,b"', '"l\nm"', '"d""e"', 'f"g', "", "NA", " 5 "]
    rows = [",".join(rng.choices(cells, k=3)) for _ in range(20_000)]
    path = tmp_path / "quotes.csv"
    path.write_text("a,b,c\n" + "\n".join(rows))
    by_pyarrow = whole(read_table(path), every=999)
    monkeypatch.setattr(csv_files, "is_worth_pyarrow", lambda data: False)
    assert whole(read_table(path), every=999) == by_pyarrow
