"""Every format and compression gives the same table."""

import bz2
import gzip
import io
import json
import lzma

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, feather, ipc, parquet

from tests.tables.sample_tables import RECIPE, assert_same, encode_table
from thalweg.tables import read_table

ROWS = 3000


@pytest.fixture(scope="module")
def content():
    """A table with gaps, of numbers, truths, text and times."""
    rng = np.random.default_rng(0)
    minutes = np.cumsum(rng.integers(0, 400, ROWS))
    temp = rng.normal(size=ROWS)
    site = rng.choice(["north", "south", "east", "west", ""], ROWS).tolist()
    return pa.table(
        {
            "time": np.datetime64("2023-12-30T00:00:00", "s") + minutes * 60,
            "temp": pa.array(temp, mask=rng.random(ROWS) < 0.1),
            "count": rng.integers(-(10**9), 10**9, ROWS),
            "site": pa.array([place or None for place in site]),
            "wet": pa.array(rng.random(ROWS) < 0.5, mask=rng.random(ROWS) < 0.1),
            "load": pa.array(rng.normal(size=ROWS), mask=rng.random(ROWS) < 0.1),
        }
    )


def as_csv(table, delimiter=","):
    out = io.BytesIO()
    csv.write_csv(table, out, csv.WriteOptions(delimiter=delimiter))
    return out.getvalue()


def as_stream(table):
    out = io.BytesIO()
    with ipc.new_stream(out, table.schema) as writer:
        writer.write_table(table)
    return out.getvalue()


def zstandard(data):
    return pa.compress(data, codec="zstd", asbytes=True)


WRITERS = {
    "x.csv": as_csv,
    "x.txt": lambda table: as_csv(table, ";"),
    "x.TSV": lambda table: as_csv(table, "\t"),
    "x.csv.gz": lambda table: gzip.compress(as_csv(table)),
    "x.csv.bz2": lambda table: bz2.compress(as_csv(table)),
    "x.csv.xz": lambda table: lzma.compress(as_csv(table)),
    "x.csv.zst": lambda table: zstandard(as_csv(table)),
    "two.csv.gz": lambda table: halves(as_csv(table), gzip.compress),
    "two.csv.zst": lambda table: halves(as_csv(table), zstandard),
    "x.arrow": as_stream,
}


def halves(data, compress):
    """Compressed in two parts, as appending to a compressed file does."""
    return compress(data[: len(data) // 2]) + compress(data[len(data) // 2 :])


@pytest.fixture(scope="module")
def expected(content, tmp_path_factory):
    path = tmp_path_factory.mktemp("tables") / "x.parquet"
    parquet.write_table(content, path, row_group_size=1000)
    return encode_table(read_table(path), RECIPE)


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("chunk_rows", [100, 65_536])
def test_files_agree_whatever_their_format(
    name, chunk_rows, content, expected, tmp_path
):
    (tmp_path / name).write_bytes(WRITERS[name](content))
    with read_table(tmp_path / name, chunk_rows=chunk_rows) as table:
        assert table.columns == tuple(content.column_names)
        assert_same(encode_table(table), expected)
        assert table.fraction() in (1.0, None)


@pytest.mark.parametrize("name", ["x.jsonl", "x.ndjson"])
def test_json_lines_agree_too(name, content, expected, tmp_path):
    rows = content.set_column(0, "time", content["time"].cast(pa.string())).to_pylist()
    (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert_same(encode_table(read_table(tmp_path / name)), expected)


@pytest.mark.parametrize("compression", ["uncompressed", "lz4", "zstd"])
@pytest.mark.parametrize("name", ["x.feather", "x.ipc"])
def test_feather_agrees_too(name, compression, content, expected, tmp_path):
    path = tmp_path / name
    feather.write_feather(content, path, compression=compression, chunksize=700)
    table = read_table(path, chunk_rows=300)
    assert table.rows == ROWS
    assert_same(encode_table(table), expected)
    assert table.fraction() == 1.0


def test_parquet_knows_its_number_of_rows_and_the_fraction_read(content, tmp_path):
    parquet.write_table(content, tmp_path / "x.parquet")
    table = read_table(tmp_path / "x.parquet", chunk_rows=1000)
    assert table.rows == ROWS
    seen = [(chunk.first_row, len(chunk), table.fraction()) for chunk in table.chunks()]
    assert [row for row, _, _ in seen] == [0, 1000, 2000]
    assert table.fraction() == 1.0


def test_dictionaries_and_categories_are_text(content, expected, tmp_path):
    coded = content.set_column(3, "site", content["site"].dictionary_encode())
    parquet.write_table(coded, tmp_path / "x.parquet")
    assert_same(encode_table(read_table(tmp_path / "x.parquet")), expected)


def test_a_file_object_is_read_in_the_given_format(content, expected):
    stream = io.BytesIO(as_stream(content))
    table = read_table(stream, format="arrow")
    assert table.is_live and table.fraction() is None
    assert_same(encode_table(table), expected)
    assert not stream.closed


def test_the_fraction_of_a_compressed_file_counts_bytes_on_disk(content, tmp_path):
    many = pa.concat_tables([content] * 100)
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(as_csv(many), 1))
    table = read_table(tmp_path / "x.csv.gz")
    fractions = [table.fraction() for _ in table.chunks()]
    assert 0 < fractions[0] < fractions[-1] <= 1
    assert table.fraction() == 1.0


def test_a_file_is_closed_though_it_was_not_read_to_its_end(content, tmp_path):
    (tmp_path / "x.csv").write_bytes(as_csv(content))
    with read_table(tmp_path / "x.csv", chunk_rows=10) as table:
        next(table.chunks())
    assert table.fraction() == 1.0  # that is what closed files say


def test_columns_are_typed_by_their_first_row(content, tmp_path):
    (tmp_path / "x.csv").write_bytes(as_csv(content))
    chunk = next(read_table(tmp_path / "x.csv").chunks())
    kinds = {name: chunk.kind(name) for name in chunk.cells}
    number = dict.fromkeys(["temp", "count", "wet", "load"], "number")
    assert kinds == {"time": "time", "site": "text"} | number
    assert set(chunk.categories("site").levels) == {"north", "south", "east", "west"}
