"""What is refused, each in one sentence that names the culprit."""

import gzip
import io
import lzma

import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from tests.tables.sample_tables import encode_table
from thalweg.errors import InvalidParameterError, StreamError
from thalweg.tables import Encoder, Recipe, csv_files, optional_packages, read_table

Y = Recipe(("y",))
CONTENTS = {
    "unknown column": (
        b"temp,y\n1,2\n",
        Recipe(("y",), features=("tmp",)),
        "x.csv has no column 'tmp'. Did you mean 'temp'? It has 'temp', 'y'.",
    ),
    "unknown column like no other": (
        b"temp,y\n1,2\n",
        Recipe(("load",)),
        "x.csv has no column 'load'. It has 'temp', 'y'.",
    ),
    "unknown column among many": (
        b"c0,c1,c2,c3,c4,c5,c6,c7,c8,c9,d0,d1,d2,d3\n" + b",".join([b"1"] * 14),
        Recipe(("load",)),
        "x.csv has no column 'load'. It has 'c0', 'c1', 'c2', 'c3', 'c4', 'c5', 'c6', "
        "'c7', 'c8', 'c9', 'd0', 'd1' and 2 more.",
    ),
    "text among numbers": (
        b"a,y\n1,2\n\nNA,2\nabc,2\n",
        Recipe(("y",), missing="skip"),
        "Row 3 (line 5) of x.csv: 'a' is 'abc', which is no number. If the column is "
        "text, say so: --text a.",
    ),
    "text in the target": (
        b"a,y\n1,x\n",
        Y,
        "Row 1 (line 2) of x.csv: 'y' is 'x', which is no number.",
    ),
    "thousands after plain digits": (
        b"a,y\n" + b"1,1\n" * 10_000 + b'1,"1,234.5"\n',
        Y,
        "Row 10,001 (line 10,002) of x.csv: 'y' is '1,234.5', which is no number in "
        "plain digits; read thousands separators as well: --decimal point.",
    ),
    "a decimal comma after plain digits": (
        b"a;y\n" + b"1;1\n" * 10_000 + b"1;1,5\n",
        Y,
        "Row 10,001 (line 10,002) of x.csv: 'y' is '1,5', which is no number with a "
        "decimal point; read all with a decimal comma: --decimal comma.",
    ),
    "a decimal point after commas": (
        b"a;y\n" + b"1;1,5\n" * 10_000 + b"1;1.5\n",
        Y,
        "Row 10,001 (line 10,002) of x.csv: 'y' is '1.5', which is no number with a "
        "decimal comma; read all with a decimal point: --decimal point.",
    ),
    "text with a comma": (
        b'a,y\n1,"a,b"\n',
        Y,
        "Row 1 (line 2) of x.csv: 'y' is 'a,b', which is no number.",
    ),
    "a long text": (
        b"a,y\n1," + b"x" * 1000,
        Y,
        f"Row 1 (line 2) of x.csv: 'y' is '{'x' * 59}..., which is no number.",
    ),
    "infinite": (
        b"a,y\n1,2\n-inf,2\n",
        Y,
        "Row 2 (line 3) of x.csv: 'a' is -inf. Numbers must be finite and at most "
        "1e+150 in size.",
    ),
    "beyond learners": (
        b"a,y\n1,2e150\n",
        Y,
        "Row 1 (line 2) of x.csv: 'y' is 2e+150. Numbers must be finite and at most "
        "1e+150 in size.",
    ),
    "missing number": (
        b"a,y\n1,2\n?,2\n",
        Y,
        "Row 2 (line 3) of x.csv: 'a' is missing. Fill it in, or say what to do: "
        "--missing skip or --missing impute.",
    ),
    "missing text": (
        b"a,y\nq,2\n,2\n",
        Y,
        "Row 2 (line 3) of x.csv: 'a' is missing. Fill it in, or say what to do: "
        "--missing skip or --missing impute.",
    ),
    "missing time": (
        b"t,a,y\n2024-01-01,1,2\nNA,1,2\n",
        Recipe(("y",), time="t", missing="skip"),
        "Row 2 (line 3) of x.csv: 't' is missing. Every row needs its time.",
    ),
    "back in time": (
        b"t,y,a\n2024-01-01 06:00,1,1\n2024-01-01 05:00:00.5,2,2\n",
        Recipe(("y",), time="t"),
        "Row 2 (line 3) of x.csv: 't' goes back to 2024-01-01T05:00:00.5 from "
        "2024-01-01T06:00:00 in row 1. Sort the rows by 't' first.",
    ),
    "back by number": (
        b"t,y,a\n1,1,1\n5,2,2\n4.5,2,2\n",
        Recipe(("y",), time="t"),
        "Row 3 (line 4) of x.csv: 't' goes back to 4.5 from 5.0 in row 2. Sort the "
        "rows by 't' first.",
    ),
    "day and month": (
        b"t,y,a\n01/02/2024,1,1\n13/02/2024,1,1\n",
        Recipe(("y",), time="t", dayfirst=False),
        "Row 2 (line 3) of x.csv: 't' is '13/02/2024', which is no time with the month "
        "first; read all with the day first: --dayfirst.",
    ),
    "day and month, later": (
        b"t,y,a\n" + b"01/02/2024,1,1\n" * 10_000 + b"02/13/2024,1,1\n",
        Recipe(("y",), time="t", dayfirst=True),
        "Row 10,001 (line 10,002) of x.csv: 't' is '02/13/2024', which is no time with "
        "the day first; read all with the month first: --monthfirst.",
    ),
    "calendar of numbers": (
        b"t,y,a\n5,1,1\n",
        Recipe(("y",), calendar="t"),
        "Row 1 (line 2) of x.csv: 't' is '5', which is no time such as 2024-01-31, "
        "2024-01-31T18:30:00 or Jan 31 2024.",
    ),
    "time as a feature": (
        b"t,y\n2024-01-01,1\n",
        Recipe(("y",), features=("t",)),
        "Column 't' of x.csv holds times, which are no numbers. Features can be made "
        "of them: --calendar t.",
    ),
    "nothing to learn from": (
        b"y\n1\n2\n",
        Recipe(("y",), lags=()),
        "x.csv has no column to learn from. Earlier targets can serve as features: "
        "--lags 1.",
    ),
    "empty": (b"", Y, "x.csv is empty."),
    "blank": (b"\xef\xbb\xbf \n\n", Y, "x.csv is empty."),
    "header only": (b"a,y\n", Y, "x.csv names its columns and has no rows."),
    "header only, half a line": (b"a,y", Y, "x.csv names its columns and has no rows."),
    "no header": (
        b"0,2.5\n3,4\n",
        Y,
        "Line 1 of x.csv holds numbers only. It must be a header that names the "
        "columns.",
    ),
    "duplicate header": (
        b"a,y,a\n1,2,3\n",
        Y,
        "Columns 1 and 3 of x.csv are both called 'a'. Rename one of them.",
    ),
    "short row": (
        b"a,b,y\n1,2,3\n4,5\n",
        Y,
        "Row 2 (line 3) of x.csv has 2 cells, and the header has 3. To "
        "skip such lines, say --on-error skip.",
    ),
    "long row": (
        b"a\n1\n\n4,5\n",
        Y,
        "Row 2 (line 4) of x.csv has 2 cells, and the header has 1. To "
        "skip such lines, say --on-error skip.",
    ),
    "row of one cell": (
        b"a,y\n1\n",
        Y,
        "Row 1 (line 2) of x.csv has 1 cell, and the header has 2. To "
        "skip such lines, say --on-error skip.",
    ),
    "open quote": (
        b'a,y\n1,2\n"3,4\n5,6\n',
        Y,
        "Line 3 of x.csv opens a quote that never ends.",
    ),
    "latin-1 after UTF-8": (
        b"a,y\n\xc3\xaf,2\nna\xefve,3\n",
        Y,
        "Byte 12 of x.csv (line 3) is 0xef, which is not UTF-8 as the lines before "
        "are. Say how all are encoded, such as --encoding latin-1.",
    ),
    "utf-16 without a mark": (
        "a,y\n1,2\n".encode("utf-16-le"),
        Y,
        "x.csv is no text: it has a byte 0. If it is UTF-16 without a mark, say "
        "--encoding utf-16-le or --encoding utf-16-be.",
    ),
    "half a character of utf-16": (
        "a,y\n1,2\n".encode("utf-16")[:-1],
        Y,
        "x.csv is not utf-16 text: truncated data. Another encoding is chosen by "
        "--encoding.",
    ),
}
JSON = {
    "no JSON": (
        b'{"y": 1}\n{"y": \n',
        "Line 2 of x.jsonl is not JSON: Expecting value: line 1 column 7 (char 6).",
    ),
    "no object": (
        b"[1, 2]\n",
        "Line 1 of x.jsonl is [1.0, 2.0]. Every line must be a JSON object.",
    ),
    "no keys": (b"{}\n", "The first object of x.jsonl has no keys."),
    "a list late": (
        b'{"a": 1, "y": 1}\n{"a": [1], "y": 1}\n',
        "Row 2 (line 2) of x.jsonl: 'a' is [1.0], which is no number. If the column "
        "is text, say so: --text a.",
    ),
    "a list among words": (
        b'{"a": "x", "y": 1}\n{"a": [1], "y": 1}\n',
        "Row 2 (line 2) of x.jsonl: 'a' is [1.0], which is no text.",
    ),
}


def refusal(call):
    with pytest.raises((StreamError, InvalidParameterError)) as refused:
        call()
    return str(refused.value)


@pytest.mark.parametrize("case", CONTENTS)
@pytest.mark.parametrize("worth_pyarrow", [False, True])
def test_a_file_is_refused_in_a_sentence(case, worth_pyarrow, tmp_path, monkeypatch):
    data, recipe, sentence = CONTENTS[case]
    monkeypatch.setattr(csv_files, "is_worth_pyarrow", lambda data: worth_pyarrow)
    (tmp_path / "x.csv").write_bytes(data)
    assert (
        refusal(lambda: encode_table(read_table(tmp_path / "x.csv"), recipe))
        == sentence
    )


@pytest.mark.parametrize("case", JSON)
def test_json_is_refused_in_a_sentence(case, tmp_path):
    data, sentence = JSON[case]
    (tmp_path / "x.jsonl").write_bytes(data)
    assert (
        refusal(lambda: encode_table(read_table(tmp_path / "x.jsonl"), Y)) == sentence
    )


def test_text_deep_in_a_file_is_located(tmp_path):
    rows = ["1,2"] * 80_000  # more than a chunk
    rows[70_678] = '"quoted\nline",2'
    rows[70_679] = "oops,2"
    (tmp_path / "x.csv").write_text("a,y\n" + "\n".join(rows))
    assert refusal(lambda: encode_table(read_table(tmp_path / "x.csv"), Y)) == (
        "Row 70,679 (line 70,680) of x.csv: 'a' is 'quoted\\nline', which is no "
        "number. If the column is text, say so: --text a."
    )
    rows[70_678] = '"7\n",2'
    (tmp_path / "x.csv").write_text("a,y\n" + "\n".join(rows))
    assert refusal(lambda: encode_table(read_table(tmp_path / "x.csv"), Y)) == (
        "Row 70,680 (line 70,682) of x.csv: 'a' is 'oops', which is no number. If "
        "the column is text, say so: --text a."
    )


def test_a_quote_left_open_does_not_fill_the_memory(tmp_path):
    (tmp_path / "x.csv").write_text('a,y\n1,2\n"3' + ",4\n" * 3_000_000)
    assert refusal(lambda: encode_table(read_table(tmp_path / "x.csv"), Y)) == (
        "Line 3 of x.csv begins a record of more than 4 MiB: is a quote left open?"
    )


def test_a_cell_too_long_for_the_standard_library(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_files, "is_worth_pyarrow", lambda data: False)
    (tmp_path / "x.csv").write_bytes(b"a,y\n1," + b"2" * 200_000)
    assert refusal(lambda: encode_table(read_table(tmp_path / "x.csv"), Y)) == (
        "Line 2 of x.csv cannot be read: field larger than field limit (131072)."
    )


def test_files_that_are_not_there(tmp_path):
    (tmp_path / "stream.csv").touch()
    near = tmp_path / "strem.csv"
    assert refusal(lambda: read_table(near)) == (
        f"There is no file {near}. Did you mean {tmp_path / 'stream.csv'}?"
    )
    far = tmp_path / "other.parquet"
    assert refusal(lambda: read_table(str(far))) == f"There is no file {far}."
    lost = tmp_path / "nowhere" / "x.csv"
    assert refusal(lambda: read_table(lost)) == (
        f"There is no file {lost}. Nor is there a folder {tmp_path / 'nowhere'}."
    )
    assert refusal(lambda: read_table(tmp_path)) == (
        f"{tmp_path} is a folder. A file is needed."
    )


def test_a_file_that_may_not_be_opened(tmp_path, monkeypatch):
    path = tmp_path / "x.csv"
    path.write_bytes(b"a,y\n1,2\n")

    def denied(*arguments, **settings):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(type(path), "open", denied)
    assert (
        refusal(lambda: read_table(path))
        == f"{path} cannot be opened: Permission denied."
    )


def test_a_folder_that_may_not_be_entered(tmp_path, monkeypatch):
    def denied(path):
        raise PermissionError(13, "Permission denied")

    path = tmp_path / "x.csv"
    monkeypatch.setattr(type(path), "exists", denied)
    assert (
        refusal(lambda: read_table(path))
        == f"{path} cannot be opened: Permission denied."
    )


@pytest.mark.parametrize("name", ["x.dat", "x"])
def test_formats_that_are_not_clear(name, tmp_path):
    (tmp_path / name).write_bytes(b"a\0y")
    assert refusal(lambda: read_table(tmp_path / name)) == (
        f"The format of {name} is not clear from its name, nor from its content. It "
        f"may end in .csv, .txt, .tsv, .jsonl, .ndjson, .json, .xlsx, .parquet, "
        f".feather, .arrow, .ipc; text also in .gz, .bz2, .xz, .zst, .zip after that."
    )


def test_binary_formats_are_not_read_from_compressed_files(tmp_path):
    (tmp_path / "x.parquet.gz").write_bytes(b"a,y\n1,2\n")
    assert refusal(lambda: read_table(tmp_path / "x.parquet.gz")) == (
        "x.parquet.gz is parquet in .gz, which is not read. Extract it first."
    )


def test_settings_of_read_table_are_checked():
    assert refusal(lambda: read_table("-", format="xls")) == (
        "The 'format' parameter of read_table must be one of 'csv', 'tsv', 'jsonl', "
        "'json', 'xlsx', 'parquet', 'arrow'. Got 'xls' instead."
    )
    assert refusal(lambda: read_table("-", chunk_rows=0)) == (
        "The 'chunk_rows' parameter of read_table must be in [1, inf). Got 0 instead."
    )
    assert refusal(lambda: read_table(io.BytesIO(), format="parquet")) == (
        "Parquet is read from its end, which the stream does not have. Give the path."
    )
    assert refusal(lambda: read_table(io.BytesIO(b"hello"), format="arrow")).startswith(
        "the stream cannot be read: "
    )


@pytest.mark.parametrize(
    ("name", "compress"),
    [
        ("x.csv.gz", gzip.compress),
        ("x.csv.xz", lzma.compress),
        ("x.csv.zst", lambda data: pa.compress(data, codec="zstd", asbytes=True)),
    ],
)
def test_damaged_compression(name, compress, tmp_path):
    data = compress(b"a,y\n" + b"".join(b"%d,2\n" % i for i in range(100_000)))
    (tmp_path / name).write_bytes(data[: len(data) // 2])
    cut = refusal(lambda: encode_table(read_table(tmp_path / name), Y))
    assert cut.startswith(f"{name} is damaged or cut short: ")
    (tmp_path / name).write_bytes(b"a,y\n1,2\n")
    plain = refusal(lambda: encode_table(read_table(tmp_path / name), Y))
    assert plain.startswith(f"{name} is damaged or cut short: ")


@pytest.mark.parametrize("name", ["x.parquet", "x.feather"])
def test_what_is_no_parquet_or_arrow(name, tmp_path):
    (tmp_path / name).write_bytes(b"a,y\n1,2\n" * 10)
    sentence = refusal(lambda: read_table(tmp_path / name))
    assert sentence.startswith(f"{name} cannot be read: ")
    (tmp_path / name).write_bytes(b"")
    assert refusal(lambda: read_table(tmp_path / name)) == f"{name} is empty."


def test_parquet_cut_in_the_middle_of_its_data(tmp_path):
    path = tmp_path / "x.parquet"
    parquet.write_table(pa.table({"a": list(range(9999)), "y": [0.5] * 9999}), path)
    data = bytearray(path.read_bytes())
    data[100:4000] = b"\xff" * 3900
    path.write_bytes(data)
    sentence = refusal(lambda: encode_table(read_table(path), Y))
    assert sentence.startswith("x.parquet cannot be read: ")


def test_typed_files_name_rows_without_lines(tmp_path):
    table = pa.table({"a": [1.0, None], "y": [1.0, 2.0]})
    parquet.write_table(table, tmp_path / "x.parquet")
    assert refusal(lambda: encode_table(read_table(tmp_path / "x.parquet"), Y)) == (
        "Row 2 of x.parquet: 'a' is missing. Fill it in, or say what to do: --missing "
        "skip or --missing impute."
    )
    feather.write_feather(pa.table({"a": [[1]], "y": [1.0]}), tmp_path / "x.feather")
    recipe = Recipe(("y",), features=("a",))
    assert refusal(
        lambda: encode_table(read_table(tmp_path / "x.feather"), recipe)
    ) == ("Column 'a' of x.feather holds neither numbers nor text.")
    twice = pa.table([[1.0], [2.0]], names=["y", "y"])
    parquet.write_table(twice, tmp_path / "x.parquet")
    assert refusal(lambda: read_table(tmp_path / "x.parquet")) == (
        "Columns 1 and 2 of x.parquet are both called 'y'. Rename one of them."
    )
    parquet.write_table(pa.table({}), tmp_path / "x.parquet")
    assert (
        refusal(lambda: read_table(tmp_path / "x.parquet"))
        == "x.parquet has no columns."
    )


def test_without_pyarrow(tmp_path, monkeypatch):
    def missing(module):
        raise ModuleNotFoundError("No module named 'pyarrow'", name="pyarrow")

    monkeypatch.setattr(optional_packages, "import_module", missing)
    for name, what in (("x.parquet", "x.parquet"), ("x.csv.zst", "a .zst file")):
        (tmp_path / name).write_bytes(b"x")
        assert refusal(lambda name=name: read_table(tmp_path / name)) == (
            f"Reading {what} needs pyarrow: pip install 'thalweg[io]'."
        )


def test_a_table_is_iterated_once(tmp_path):
    (tmp_path / "x.csv").write_bytes(b"a,y\n1,2\n")
    table = read_table(tmp_path / "x.csv")
    list(table.chunks())
    assert refusal(lambda: list(table.chunks())) == (
        "x.csv has been read. Open it again."
    )


RECIPES = {
    "lags of no target": (
        dict(targets=(), lags=(1,)),
        "The lags of a Recipe are of targets, of which it names none. Got lags=(1,).",
    ),
    "a name for names": (
        dict(targets="y"),
        "The 'targets' parameter of Recipe must be a tuple without repetitions. "
        "Got 'y' instead.",
    ),
    "a target twice": (
        dict(targets=("y", "y")),
        "The 'targets' parameter of Recipe must be a tuple without repetitions. "
        "Got ('y', 'y') instead.",
    ),
    "a target as feature": (
        dict(targets=("y",), features=("a", "y")),
        "The target 'y' cannot be in 'features' as well.",
    ),
    "a target as time": (
        dict(targets=("y",), time="y"),
        "The target 'y' cannot be in 'time' as well.",
    ),
    "a target as text": (
        dict(targets=("y",), text=("y",)),
        "The target 'y' cannot be in 'text' as well.",
    ),
    "a lag of zero": (
        dict(targets=("y",), lags=(0,)),
        "The 'lags' parameter of Recipe must be in [1, inf). Got 0 instead.",
    ),
    "a lag of a half": (
        dict(targets=("y",), lags=(0.5,)),
        "The 'lags' parameter of Recipe must be of type int. Got 0.5 instead.",
    ),
    "a lag within the delay": (
        dict(targets=("y",), lags=(24, 12), delay=12),
        "Lag 12 is not known in time: with a delay of 12 rows, lags must be 13 or "
        "more.",
    ),
    "a negative delay": (
        dict(targets=("y",), delay=-1),
        "The 'delay' parameter of Recipe must be in [0, inf). Got -1 instead.",
    ),
    "no categories": (
        dict(targets=("y",), categories=0),
        "The 'categories' parameter of Recipe must be in [1, inf). Got 0 instead.",
    ),
    "another policy": (
        dict(targets=("y",), missing="drop"),
        "The 'missing' parameter of Recipe must be one of 'refuse', 'skip', 'impute'. "
        "Got 'drop' instead.",
    ),
}


@pytest.mark.parametrize("case", RECIPES)
def test_a_recipe_is_refused_in_a_sentence(case):
    settings, sentence = RECIPES[case]
    assert refusal(lambda: Recipe(**settings)) == sentence


TARGETS = {
    "one row": (b"a,y\n1,2\n", Y, "x.csv has one row; at least two are needed."),
    "constant": (
        b"a,y\n" + b"1,3\n" * 1000,
        Y,
        "The target 'y' of x.csv is 3.0 in all 1,000 rows: there is nothing to learn.",
    ),
    "constant where known": (
        b"a,y\n1,3\n2,NA\n3,3\n",
        Recipe(("y",), missing="skip"),
        "The target 'y' of x.csv is 3.0 in all 2 rows: there is nothing to learn.",
    ),
    "always missing": (
        b"a,y\n1,\n2,\n",
        Recipe(("y",), missing="skip"),
        "The target 'y' of x.csv is always missing.",
    ),
    "too few for lags": (
        b"a,y\n1,2\n2,3\n",
        Recipe(("y",), lags=(24,)),
        "x.csv has 2 rows; with lags up to 24, at least 26 are needed.",
    ),
}


@pytest.mark.parametrize("case", TARGETS)
def test_targets_without_information_are_refused(case, tmp_path):
    data, recipe, sentence = TARGETS[case]
    (tmp_path / "x.csv").write_bytes(data)
    encoder = Encoder(recipe)
    encode_table(read_table(tmp_path / "x.csv"), encoder=encoder)
    assert refusal(encoder.check_targets) == sentence


def test_targets_that_change_are_fine():
    encoder = Encoder(Recipe(("y", "z"), lags=(1,)))
    encode_table(read_table(io.BytesIO(b"y,z\n5,1\n1,2\n2,3\n")), encoder=encoder)
    encoder.check_targets()


def test_a_continued_run_needs_the_same_recipe_and_columns():
    first = Encoder(Recipe(("y",), time="t", lags=(1,)))
    encode_table(read_table(io.BytesIO(b"t,a,y\n1,1,2\n2,3,4\n")), encoder=first)
    other = Recipe(("y",), time="t", lags=(1, 2))
    assert refusal(lambda: other.refuse_changes(first.recipe)) == (
        "The 'lags' of the run before is (1,). Got (1, 2) instead."
    )
    second = Encoder.restore(first.recipe, first.state)
    (chunk,) = read_table(io.BytesIO(b"t,b,y\n3,1,2\n")).chunks()
    assert refusal(lambda: second.encode(chunk)) == (
        "The stream has no column 'a'. It has 't', 'b', 'y'."
    )
    (chunk,) = read_table(io.BytesIO(b"t,a,y\n1,1,2\n")).chunks()
    assert refusal(lambda: second.encode(chunk)) == (
        "Row 1 (line 2) of the stream: 't' goes back to 1.0 from 2.0 in the run "
        "before. Sort the rows by 't' first."
    )
