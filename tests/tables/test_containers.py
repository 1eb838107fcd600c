"""Tables in archives, JSON documents and workbooks; names that say nothing."""

import gzip
import json
import sys
import zipfile

import numpy as np
import pytest

from tests.tables.sample_tables import assert_same, encode_table
from thalweg.errors import StreamError
from thalweg.tables import Recipe, read_table
from thalweg.tables.csv_files import sniff_delimiter

ROWS = [{"a": 1.5, "site": "north", "y": 1.0}, {"a": 2, "site": "south", "y": None}]
CSV = b"a,site,y\n1.5,north,1\n2,south,\n"
RECIPE = Recipe(("y",), missing="skip")


def rounds(path, **settings):
    return encode_table(read_table(path, **settings), RECIPE)


@pytest.fixture
def expected(tmp_path):
    (tmp_path / "expected.csv").write_bytes(CSV)
    return rounds(tmp_path / "expected.csv")


def zipped(path, **files):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name.replace("_csv", ".csv"), data)
    return path


def test_the_one_table_in_an_archive_is_read(tmp_path, expected):
    path = zipped(tmp_path / "x.zip", x_csv=CSV, **{"__MACOSX/x_csv": b"?"})
    assert_same(rounds(path), expected)
    assert_same(rounds(path.rename(tmp_path / "x.csv.zip")), expected)
    assert_same(rounds(path.with_name("x.csv.zip").rename(tmp_path / "x")), expected)


def test_several_tables_in_an_archive_are_named(tmp_path):
    path = zipped(tmp_path / "x.zip", a_csv=CSV, b_csv=CSV)
    with pytest.raises(StreamError) as refused:
        read_table(path)
    assert str(refused.value) == (
        "x.zip holds 2 files: a.csv, b.csv. It must hold one table; extract the one "
        "that you mean."
    )
    with pytest.raises(StreamError, match="x.zip holds no file"):
        read_table(zipped(tmp_path / "x.zip"))
    path.write_bytes(b"PK\x03\x04 no archive")
    with pytest.raises(StreamError, match="x.zip is damaged or cut short"):
        read_table(path)


@pytest.mark.parametrize(
    "document",
    [
        ROWS,
        {"a": [1.5, 2], "site": ["north", "south"], "y": [1, None]},
        {
            "a": {"0": 1.5, "1": 2},
            "site": {"0": "north", "1": "south"},
            "y": {"0": 1, "1": None},
        },
        {"status": "ok", "count": 2, "data": ROWS},
    ],
    ids=["records", "columns", "pandas", "records under a key"],
)
@pytest.mark.parametrize("indent", [None, 2])
def test_json_documents_are_read(document, indent, tmp_path, expected):
    (tmp_path / "x.json").write_text(json.dumps(document, indent=indent))
    assert_same(rounds(tmp_path / "x.json"), expected)


def test_json_lines_may_end_in_json(tmp_path, expected):
    lines = "".join(json.dumps(row) + "\n" for row in ROWS)
    (tmp_path / "x.json").write_text(lines)
    assert_same(rounds(tmp_path / "x.json"), expected)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[1, 2]", "x.json holds [1.0, 2.0]. A list of objects is needed"),
        ('{"a": [1], "b": [1, 2]}', "A list of objects is needed"),
        ("[]", r"x.json holds []. A list"),
        ('[{"a": 1},', "x.json is not JSON: Expecting value"),
    ],
)
def test_json_that_is_no_table_is_refused(text, sentence, tmp_path):
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(StreamError) as refused:
        read_table(tmp_path / "x.json")
    assert sentence in str(refused.value)


def test_a_name_that_says_nothing_leaves_it_to_the_content(tmp_path, expected):
    for name, data in {
        "x": CSV,
        "x.dat": gzip.compress(CSV),
        "x.gz": gzip.compress(CSV),
        "x.data": json.dumps(ROWS).encode(),
    }.items():
        (tmp_path / name).write_bytes(data)
        assert_same(rounds(tmp_path / name), expected)


def test_parquet_without_a_suffix_is_parquet(tmp_path, expected):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pa.Table.from_pylist(ROWS), tmp_path / "x")
    assert_same(rounds(tmp_path / "x"), expected)


def test_a_workbook_is_read(tmp_path, expected):
    openpyxl = pytest.importorskip("openpyxl")
    workbook = openpyxl.Workbook()
    for row in [[], ["a", "site", "y"], [1.5, "north", 1], [], [2, "south", None]]:
        workbook.active.append(row)
    workbook.create_sheet("notes")
    workbook.save(tmp_path / "x.xlsx")
    table = read_table(tmp_path / "x.xlsx")
    assert_same(encode_table(table, RECIPE), expected)
    assert table.notes() == ("The sheet 'Sheet' of x.xlsx is read; 1 other is not.",)
    (tmp_path / "x.xlsx").rename(tmp_path / "book")
    assert_same(rounds(tmp_path / "book"), expected)
    (tmp_path / "x.xlsx").write_bytes(b"no workbook")
    with pytest.raises(StreamError, match="x.xlsx cannot be read as a workbook"):
        read_table(tmp_path / "x.xlsx")


def test_times_of_a_workbook_are_times(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    workbook = openpyxl.Workbook()
    workbook.active.append(["when", "y"])
    times = np.array(["2024-01-01T00:00", "2024-01-01T12:00"], "datetime64[s]")
    for k, time in enumerate(times.tolist()):
        workbook.active.append([time, k])
    workbook.save(tmp_path / "x.xlsx")
    recipe = Recipe(("y",), time="when", lags=(1,))
    found = encode_table(read_table(tmp_path / "x.xlsx"), recipe).time[:, 0]
    assert found.view("datetime64[ns]").tolist() == [times[1].astype("M8[ns]").item()]


def test_a_workbook_without_openpyxl_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    monkeypatch.delitem(sys.modules, "thalweg.tables.xlsx_files", raising=False)
    (tmp_path / "x.xlsx").write_bytes(b"PK")
    with pytest.raises(StreamError) as refused:
        read_table(tmp_path / "x.xlsx")
    assert str(refused.value) == (
        "Reading x.xlsx needs openpyxl: pip install 'thalweg[xlsx]'."
    )


@pytest.mark.parametrize(
    ("header", "rows", "delimiter"),
    [
        (b"a,b", [], ","),
        (b"a;b,c;d", [], ";"),
        (b"Datum;Leistung (kW, netto)", [b"1.8.2019;1,5"], ";"),
        (b'"a;x","b;y"', [b"1,2"], ","),
        (b'"a,x";"b,y"', [b"1,5;2,5"], ";"),
        (b"a,b;c", [b"1,2", b"3,4"], ","),
        (b"a\tb, c", [b"1\t2"], "\t"),
        (b"a|b", [b"1|2"], "|"),
        (b"one", [b"1"], ","),
    ],
)
def test_delimiters_are_found_out(header, rows, delimiter):
    assert sniff_delimiter(header, rows) == delimiter


def test_comments_before_the_header_are_skipped(tmp_path, expected):
    (tmp_path / "x.csv").write_bytes(b"# made by a logger\n#\n\n" + CSV)
    assert_same(rounds(tmp_path / "x.csv"), expected)


def test_a_header_may_be_written_as_a_comment(tmp_path):
    (tmp_path / "x.csv").write_bytes(b"# a logger\n# t, a, y\n2024-01-01,1,2\n")
    table = read_table(tmp_path / "x.csv")
    assert table.columns == ("t", "a", "y")
    (chunk,) = table.chunks()
    assert (chunk.numbers("y").tolist(), chunk.line_of(0)) == ([2.0], 3)
