"""Standard input, line by line: nothing waits for a second line."""

import io
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from tests.tables.sample_tables import (
    RECIPE,
    WEATHER,
    assert_same,
    concatenate,
    encode_table,
)
from thalweg.tables import Encoder, Recipe, read_table


@pytest.fixture
def pipe():
    """The two ends of a pipe, the reading one as standard input has it."""
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as out, os.fdopen(writing, "wb", 0) as into:
        yield out, into


def test_each_line_is_a_chunk_as_soon_as_it_is_there(pipe):
    out, into = pipe
    header, *lines = WEATHER.splitlines(keepends=True)
    into.write(header)
    table = read_table(out)
    chunks, encoder, result = table.chunks(), Encoder(RECIPE), []
    for row, line in enumerate(lines):
        # One thread writes and reads in turn: reading on would wait for ever.
        into.write(line)
        chunk = next(chunks)
        assert (len(chunk), chunk.first_row) == (1, row)
        result.append(encoder.encode(chunk))
    into.close()
    assert list(chunks) == []
    assert_same(concatenate(result), encode_table(read_table(io.BytesIO(WEATHER))))


@pytest.mark.parametrize("given", ["jsonl", None])
def test_json_comes_line_by_line_too_and_is_known_by_its_brace(pipe, given):
    out, into = pipe
    into.write(b'{"y": 1, "a": "x"}\n')
    chunks = read_table(out, format=given).chunks()
    assert next(chunks).numbers("y").tolist() == [1.0]
    into.write(b'{"y": 2}\n{"y": 3}\n{"y": 4')
    assert next(chunks).numbers("y").tolist() == [2.0, 3.0]
    into.write(b"5}\n")
    assert next(chunks).numbers("y").tolist() == [45.0]


def test_a_chunk_is_all_the_lines_that_have_arrived(pipe):
    out, into = pipe
    into.write(b"a,y\n1,2\n3,4\n5,")
    chunks = read_table(out).chunks()
    assert next(chunks).numbers("a").tolist() == [1.0, 3.0]
    into.write(b"6\n")
    assert next(chunks).numbers("y").tolist() == [6.0]
    into.write(b'7,"8\n')
    into.write(b'"\n9,10')
    into.close()
    assert [chunk.numbers("y").tolist() for chunk in chunks] == [[8.0], [10.0]]


def test_a_line_half_written_is_waited_for(pipe):
    out, into = pipe
    into.write(b"a,y\n1,2\n3")
    chunks = read_table(out).chunks()
    assert len(next(chunks)) == 1
    late = threading.Timer(0.05, into.write, [b"3,4\n"])
    late.start()
    assert next(chunks).numbers("a").tolist() == [33.0]
    late.join()


def test_a_dash_is_standard_input():
    code = (
        "from thalweg.tables import read_table\n"
        "table = read_table('-')\n"
        "print(table.name, table.is_live, table.columns)\n"
        "print([chunk.numbers('a').tolist() for chunk in table.chunks()])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        input="a,b\n1,2\n3,4\n",
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == [
        "standard input True ('a', 'b')",
        "[[1.0, 3.0]]",
    ]


def test_a_named_pipe_is_live(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(b"a,y\n1,2\n3,4\n",))
    writer.start()
    table = read_table(path, format="csv")
    assert table.is_live
    assert encode_table(table, Recipe(("y",), lags=())).x.tolist() == [[1.0], [3.0]]
    writer.join()


def test_small_text_needs_no_pyarrow():
    code = (
        "import io, sys\n"
        "from thalweg import tables\n"
        "list(tables.read_table(io.BytesIO(b'a,y\\n1,2\\n')).chunks())\n"
        "print({'pyarrow', 'pandas', 'numba', 'scipy'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "set()"


def test_a_live_table_has_no_known_number_of_rows():
    table = read_table(io.BytesIO(WEATHER))
    assert table.rows is None
    assert table.fraction() is None
    assert np.isnan(next(table.chunks()).numbers("load")[3])
