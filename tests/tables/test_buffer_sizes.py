"""Files that are as long as a buffer, or a byte more or less, are read whole.

What the readers give is compared with the parsers of the standard library.
"""

import csv
import io
import json

import pytest

from thalweg.errors import StreamError
from thalweg.tables import read_table
from thalweg.tables.records import MAX_RECORD_BYTES
from thalweg.tables.sources import FILE_READ_BYTES, PIPE_READ_BYTES

PADDING = "x" * 1000
LONGEST = 2 * MAX_RECORD_BYTES + PIPE_READ_BYTES
SIZES = sorted(
    {
        size + step
        for size in (
            PIPE_READ_BYTES, FILE_READ_BYTES, FILE_READ_BYTES + PIPE_READ_BYTES,
            2 * FILE_READ_BYTES, LONGEST,
        )
        for step in (-1, 0, 1)
    }
)  # fmt: skip


def rows_of_size(size, write):
    """Text of exactly ``size`` bytes that ``write`` makes of rows."""
    rows = [{"n": 10**6, "text": PADDING}]
    count = (size - 1) // (len(write(2 * rows)) - len(write(rows)))
    rows = [{"n": 10**6 + k, "text": PADDING} for k in range(count)]
    while (excess := len(write(rows)) - size) > 0:
        rows.pop()
    rows[-1]["text"] += "y" * -excess
    text = write(rows)
    assert len(text) == size
    return text


def records(rows):
    return json.dumps(rows)


def columns(rows):
    return json.dumps({name: [row[name] for row in rows] for name in ("n", "text")})


def lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def comma_separated(rows):
    file = io.StringIO()
    writer = csv.DictWriter(file, ["n", "text"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue()


def parse(name, text):
    """What the standard library reads: the numbers, and the lengths of the texts."""
    if name == "csv":
        rows = list(csv.DictReader(io.StringIO(text)))
    elif name == "jsonl":
        rows = [json.loads(line) for line in text.splitlines()]
    else:
        document = json.loads(text)
        if isinstance(document, dict):
            pairs = zip(document["n"], document["text"], strict=True)
            document = [{"n": n, "text": part} for n, part in pairs]
        rows = document
    return [(float(row["n"]), len(row["text"])) for row in rows]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    ("name", "write"),
    [("json", records), ("json", columns), ("jsonl", lines), ("csv", comma_separated)],
)
def test_no_row_is_lost_around_the_size_of_a_buffer(name, write, size, tmp_path):
    text = rows_of_size(size, write)
    expected = parse(name, text)
    path = tmp_path / f"x.{name}"
    path.write_text(text)
    for source in (str(path), io.BytesIO(text.encode())):
        read = []
        for chunk in read_table(source, format=name).chunks():
            text = chunk.categories("text")
            lengths = [len(text.levels[code]) for code in text.codes]
            read += zip(chunk.numbers("n").tolist(), lengths, strict=True)
        assert len(read) == len(expected)
        assert read == expected


@pytest.mark.parametrize("size", [1000, MAX_RECORD_BYTES + PIPE_READ_BYTES])
def test_lines_may_end_as_once_on_the_mac(tmp_path, size):
    text = rows_of_size(max(size, 5000), comma_separated).replace("\n", "\r")
    path = tmp_path / "mac.csv"
    path.write_bytes(text.encode())
    chunks = [*read_table(path).chunks()]
    assert sum(map(len, chunks)) == text.count("\r") - 1


@pytest.mark.parametrize("name", ["json", "jsonl"])
@pytest.mark.parametrize("where", ["start", "later"])
def test_json_that_is_nested_too_deep_is_refused(tmp_path, name, where):
    path = tmp_path / f"deep.{name}"
    deep = "[" * 100_000 + "]" * 100_000
    first = "" if where == "start" else '{"y": 1}\n'
    path.write_text(f'{first}{{"y": {deep}}}\n{{"y": 2}}\n')
    with pytest.raises(StreamError, match=r"deep.* is not JSON|line 2 .*is not JSON"):
        for _ in read_table(path).chunks():
            pass
