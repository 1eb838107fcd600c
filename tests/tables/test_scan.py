"""The one scan of a file: what it finds, and how often the file is read for it."""

import numpy as np
import pytest

from thalweg import tables
from thalweg.calendar.row_clock import GRID_ROWS
from thalweg.tables import Recipe
from thalweg.tables.schema import Schema
from thalweg.tables.table import Table

DAYS = [str(day) for day in np.datetime64("2024-01-01") + np.arange(60)]
VALUES = np.random.default_rng(0).normal(10, 1, 60).round(3).tolist()


@pytest.fixture
def scan(tmp_path, monkeypatch):
    """Scans a file of this text; ``opened`` and ``rows`` count what was read of it."""

    def scan_text(header, rows, chunk_rows=16, **options):
        path = tmp_path / "table.csv"
        lines = [",".join(map(str, row)) for row in rows]
        path.write_text("\n".join([header, *lines]) + "\n")
        counts["opened"] = counts["rows"] = 0

        def opened():
            counts["opened"] += 1
            return tables.read_table(path, chunk_rows=chunk_rows)

        return tables.scan_table(opened, tables.ScanOptions(("y",), **options))

    chunks = Table.chunks

    def counted(table):
        for chunk in chunks(table):
            counts["rows"] += len(chunk)
            yield chunk

    counts = {}
    monkeypatch.setattr(Table, "chunks", counted)
    scan_text.counts = counts
    return scan_text


SHAPES = {
    "ordered": [
        (day, "a", k % 3, y)
        for k, (day, y) in enumerate(zip(DAYS, VALUES, strict=True))
    ],
    "newest first": [
        (day, "a", 1, y) for day, y in zip(DAYS[::-1], VALUES, strict=True)
    ],
    "glued": [(d, s, 1, y) for s in "abc" for d, y in zip(DAYS, VALUES, strict=True)],
    "mixed": [(d, s, 1, y) for d, y in zip(DAYS, VALUES, strict=True) for s in "abc"],
    "glued, newest first": [
        (d, s, 1, y) for s in "abc" for d, y in zip(DAYS[::-1], VALUES, strict=True)
    ],
    "without order": [
        (DAYS[k], "a", 1, y)
        for k, y in zip(np.random.default_rng(1).permutation(60), VALUES, strict=True)
    ],
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("chunk_rows", [7, 64])
def test_every_row_is_read_once_whatever_the_shape(scan, shape, chunk_rows):
    rows = SHAPES[shape]
    found = scan("day,name,size,y", rows, chunk_rows)
    assert scan.counts == {"opened": 1, "rows": len(rows)}
    has_key = shape.startswith(("glued", "mixed"))
    assert found.columns.keys == (("name",) if has_key else ())
    assert found.columns.time == "day"
    assert found.newest_first == shape.endswith("newest first")
    assert found.is_ordered() == (shape != "without order")
    assert sum(one.rows for one in found.series.values()) == len(rows)
    assert found.columns.features == ("size",)


def test_rows_in_order_are_known_after_the_first_chunk(scan):
    scan("day,name,size,y", SHAPES["ordered"], keys=(), has_values=False)
    assert scan.counts["rows"] == 16


def test_series_are_those_of_a_key_that_was_given(scan):
    rows = [(d, s, k % 4, "" if s == "b" and k > 49 else y) for s in "ab"
            for k, (d, y) in enumerate(zip(DAYS, VALUES, strict=True))]  # fmt: skip
    for order in (rows, sorted(rows), sorted(rows)[::-1]):
        found = scan("day,name,size,y", order)
        given = scan("day,name,size,y", order, keys=("name",))
        for scanned in (found, given):
            a, b = scanned.series[("a",)], scanned.series[("b",)]
            assert (a.rows, a.known, a.future, a.out_of_order) == (60, 60, 0, 0)
            assert (b.rows, b.known, b.future, b.out_of_order) == (60, 50, 10, 0)
            assert b.present.tolist() == [10]
            assert scanned.known_features() == ("size",)
        assert len(found.first_times) == len(given.first_times) == GRID_ROWS


@pytest.mark.parametrize("name", ["year", "t", "Time"])
def test_numbers_that_rise_are_times_if_they_are_called_so(scan, name):
    rising = [(1900 + k, 7 - k, y) for k, y in enumerate(VALUES)]
    found = scan(f"{name},size,y", rising)
    assert found.columns.time == name and found.columns.features == ("size",)
    series = [(1900 + k, s, y) for s in "ab" for k, y in enumerate(VALUES)]
    found = scan(f"{name},shop,y", series)
    assert found.columns.time == name and found.columns.keys == ("shop",)
    falling = scan(f"{name},size,y", rising[::-1])
    assert falling.newest_first and falling.columns.time == name
    for numbers in (VALUES, [3] * 60, list(range(12)) * 5):
        rows = [(number, 1, y) for number, y in zip(numbers, VALUES, strict=True)]
        found = scan(f"{name},size,y", rows)
        assert found.columns.time is None
        assert found.columns.features == ("size", name)
        assert not found.newest_first and found.is_ordered()


def test_numbers_are_no_times_beside_a_date_or_if_they_are_a_feature(scan):
    rows = [
        (1900 + k, day, y) for k, (day, y) in enumerate(zip(DAYS, VALUES, strict=True))
    ]
    assert scan("year,when,y", rows).columns.time == "when"
    found = scan("year,name,y", [(a, "b", y) for a, _, y in rows], features=("year",))
    assert found.columns.time is None and found.columns.features == ("year",)


def test_groups_that_explain_times_only_as_chance_would_are_no_key(scan):
    """Several customers sign up in one day; their kind and age make many small groups,
    in which a day hardly comes twice."""
    rng = np.random.default_rng(3)
    days = np.sort(rng.integers(0, 730, 1500)) + np.datetime64("2022-01-01")
    rows = [
        (day, f"C{k}", rng.choice(["private", "business", "public"]),
         rng.integers(1, 61), round(rng.normal(), 3))
        for k, day in enumerate(days)
    ]  # fmt: skip
    found = scan("day,customer,segment,months,y", rows, chunk_rows=512)
    assert found.columns.keys == () and found.columns.time == "day"


def test_series_with_a_row_at_each_time_are_found_however_many_they_are(scan):
    rows = [
        (f"{year}-01-01", f"country {k}", year + 0.5 * k)
        for year in range(1990, 2010)
        for k in range(150)
    ]
    assert scan("day,country,y", rows, chunk_rows=512).columns.keys == ("country",)


@pytest.mark.parametrize("shape", ["ordered", "newest first"])
def test_what_the_scan_has_found_is_not_decided_by_the_run_again(
    scan, tmp_path, monkeypatch, shape
):
    rows = [
        (*row[:3], f'"1.234,{k % 100:02d}"', row[3])
        for k, row in enumerate(SHAPES[shape])
    ]
    found = scan("day,name,size,price,y", rows, has_values=False)
    recipe = Recipe(("y",), missing="impute")

    def schema(table):
        return Schema.from_first_chunk(recipe, next(table.chunks()))

    path = tmp_path / "table.csv"
    table = tables.read_table(path)
    expected = schema(table.reverse_rows("day") if found.newest_first else table)
    monkeypatch.setattr("thalweg.tables.schema.detect_formats", None)
    monkeypatch.setattr("thalweg.tables.schema.find_time_column", None)
    decided = schema(found.prepare(tables.read_table(path)))
    assert decided == expected
    assert (decided.time_column, decided.formats) == ("day", found.columns.formats)
    assert "decimal comma" in decided.notes[0]
