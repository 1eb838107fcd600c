"""What is wrong with an input is said in one sentence or two, and nothing is written.

python -m tests.cli.test_bad_inputs    # the table of all of them
"""

import gzip
import os
from pathlib import Path

import pytest

from tests.cli.streams import thalweg

HOURS = [f"2024-01-{1 + t // 24:02d}T{t % 24:02d}:00" for t in range(60)]
STREAM = "t,x,y\n" + "".join(f"{t},{k % 7},{k % 5}\n" for k, t in enumerate(HOURS))
FILES = {
    "stream.csv": STREAM,
    "text.csv": STREAM.replace(",3,3\n", ",three,3\n", 1),
    "decimal.csv": STREAM.replace(",", ";").replace(";3;3\n", ";3.5;3\n", 1),
    "empty.csv": "",
    "head.csv": "t,x,y\n",
    "one.csv": "x,y\n1,2\n",
    "constant.csv": "x,y\n" + "".join(f"{k},3\n" for k in range(60)),
    "twice.csv": "x,y,x\n1,2,3\n2,3,4\n",
    "latin.csv": "größe,y\n1,2\n2,ö\n".encode() + b"\xf6,1\n",
    "ragged.csv": "x,y\n1,2\n1,2,3\n",
    "bare.csv": "1,2\n3,4\n",
    "back.csv": "t,x,y\n2024-01-02,1,2\n2024-01-01,2,3\n2024-01-03,3,4\n",
    "when.csv": "t,x,y\n31.1.2024,1,2\n1.2.2024,2,3\n",
    "gap.csv": "x,y\n1,2\n,3\n",
    "never.csv": "x,y\n1,\n2,\n3,\n",
    "cut.csv.gz": gzip.compress(STREAM.encode())[:-20],
    "stream.bin": "x\0",
    "infinite.csv": "x,y\n1,2\ninf,3\n",
    "bad.jsonl": '{"x": 1, "y": 2}\n{"x": 1,\n',
    "alone.csv": "y\n1\n2\n3\n",
}
TOLD = "stream.csv --target y"
BAD = {
    "straem.csv --target y": "There is no file straem.csv. Did you mean stream.csv?",
    "folder --target y": "folder is a folder. A file is needed.",
    "stream.csv --target yy": (
        "stream.csv has no column 'yy'. Did you mean 'y'? It has 't', 'x', 'y'."
    ),
    "text.csv --target y": (
        "Row 4 (line 5) of text.csv: 'x' is 'three', which is no number. If the column "
        "is text, say so: --text x."
    ),
    "decimal.csv --target y --decimal ,": (
        "Row 4 (line 5) of decimal.csv: 'x' is '3.5', which is no number with a "
        "decimal comma; read all with a decimal point: --decimal point. If the column "
        "is text, say so: --text x."
    ),
    "stream.csv --target y --decimal x": (
        "--decimal takes point, comma, . or ,. Got 'x' instead."
    ),
    "empty.csv --target y": "empty.csv is empty.",
    "head.csv --target y": "head.csv names its columns and has no rows.",
    "one.csv --target y": "one.csv has one row; at least two are needed.",
    "constant.csv --target y": (
        "The target 'y' of constant.csv is 3.0 in all 60 rows: there is nothing to "
        "learn."
    ),
    "twice.csv --target y": (
        "Columns 1 and 3 of twice.csv are both called 'x'. Rename one of them."
    ),
    "latin.csv --target y": (
        "Byte 20 of latin.csv (line 4) is 0xf6, which is not UTF-8 as the lines before "
        "are. Say how all are encoded, such as --encoding latin-1."
    ),
    "ragged.csv --target y": (
        "Row 2 (line 3) of ragged.csv has 3 cells, and the header has 2. To skip "
        "such lines, say --on-error skip."
    ),
    "bare.csv --target y": (
        "Line 1 of bare.csv holds numbers only. It must be a header that names the "
        "columns."
    ),
    "back.csv --target y --time t": (
        "Row 2 (line 3) of back.csv: 't' goes back to 2024-01-01T00:00:00 from "
        "2024-01-02T00:00:00 in row 1. Sort the rows by 't' first."
    ),
    "when.csv --target y --calendar t --monthfirst": (
        "Row 1 (line 2) of when.csv: 't' is '31.1.2024', which is no time with the "
        "month first; read all with the day first: --dayfirst."
    ),
    "gap.csv --target y --missing refuse": (
        "Row 2 (line 3) of gap.csv: 'x' is missing. Fill it in, or say what to do: "
        "--missing skip or --missing impute."
    ),
    "never.csv --target y --missing skip": (
        "The target 'y' of never.csv is always missing."
    ),
    "cut.csv.gz --target y": (
        "cut.csv.gz is damaged or cut short: Compressed file ended before the "
        "end-of-stream marker was reached."
    ),
    "stream.bin --target y": (
        "The format of stream.bin is not clear from its name, nor from its content. It "
        "may end in .csv, .txt, .tsv, .jsonl, .ndjson, .json, .xlsx, .parquet, "
        ".feather, .arrow, .ipc; text also in .gz, .bz2, .xz, .zst, .zip after that."
    ),
    f"{TOLD} --encoding latin-99": (
        "The encoding 'latin-99' is not known. Known are utf-8, utf-16, latin-1, "
        "cp1252, shift_jis and the others of Python."
    ),
    f"{TOLD} --on-error ignore": (
        "--on-error takes stop or skip. Got 'ignore' instead."
    ),
    "infinite.csv --target y": (
        "Row 2 (line 3) of infinite.csv: 'x' is inf. Numbers must be finite and at "
        "most 1e+150 in size."
    ),
    "bad.jsonl --target y": (
        "Line 2 of bad.jsonl is not JSON: Expecting property name enclosed in double "
        "quotes: line 1 column 9 (char 8)."
    ),
    "alone.csv --target y --lags none": (
        "alone.csv has no column to learn from. Earlier targets can serve as features: "
        "--lags 1."
    ),
    "stream.csv": "Say which column to predict: --target NAME.",
    f"{TOLD} --features t": (
        "Column 't' of stream.csv holds times, which are no numbers. Features can be "
        "made of them: --calendar t."
    ),
    f"{TOLD} --lags 1,two": (
        "--lags takes whole numbers from 1 on, such as 1,2,24. Got '1,two' instead."
    ),
    f"{TOLD} --lags 0": (
        "--lags takes whole numbers from 1 on, such as 1,2,24. Got '0' instead."
    ),
    f"{TOLD} --lags 1,2,1": "--lags names 1 more than once.",
    f"{TOLD} --features x,x": "--features names x more than once.",
    f"{TOLD} --text x,x": "--text names x more than once.",
    f"{TOLD} --lags 3 --delay 3": (
        "Lag 3 is not known in time: with a delay of 3 rows, lags must be 4 or more."
    ),
    f"{TOLD} --lags 60": (
        "stream.csv has 60 rows; with lags up to 60, at least 62 are needed."
    ),
    f"{TOLD} --missing drop": (
        "--missing takes refuse, skip or impute. Got 'drop' instead."
    ),
    f"{TOLD} --predictions full.csv": (
        "The predictions (full.csv) cannot be written: it is a character device, and "
        "only a regular file is replaced. Write elsewhere: --out, --predictions or "
        "--model."
    ),
    f"{TOLD} --predictions said.xlsx": (
        "--predictions takes a file that ends in .csv or .parquet. Got said.xlsx "
        "instead."
    ),
    f"{TOLD} --out stream.csv/out": (
        "The folder stream.csv/out cannot be made: Not a directory."
    ),
    "stream.csv --resume none.thalweg": (
        "There is no model none.thalweg to resume. Start without --resume: thalweg run "
        "stream.csv -t NAME."
    ),
    "stream.csv --resume text.csv": (
        "text.csv cannot be loaded: it is no thalweg model."
    ),
}  # fmt: skip


def laid_out(folder):
    """The folder, in which the files are now."""
    (folder / "folder").mkdir()
    (folder / "full.csv").symlink_to("/dev/full")
    for name, content in FILES.items():
        data = content if isinstance(content, bytes) else content.encode()
        (folder / name).write_bytes(data)
    return folder


@pytest.mark.parametrize("arguments", BAD)
def test_a_bad_input_is_one_sentence_and_leaves_nothing(
    arguments, tmp_path, monkeypatch
):
    monkeypatch.chdir(laid_out(tmp_path))
    before = sorted(tmp_path.rglob("*"))
    done = thalweg("run", *arguments.split())
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == f"{BAD[arguments]}\n"
    assert sorted(tmp_path.rglob("*")) == before


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as here:
        os.chdir(laid_out(Path(here)))
        print("| thalweg run ... | says |\n|---|---|")
        for given in BAD:
            print(f"| `{given}` | {thalweg('run', *given.split()).stderr.strip()} |")
