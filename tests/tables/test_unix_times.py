"""Numbers since 1970 are times where their column is called like one."""

import io
import json

import numpy as np
import pytest

from tests.cli.streams import thalweg, written
from thalweg.errors import StreamError
from thalweg.tables import Encoder, Recipe, read_table
from thalweg.tables.cells import CellError, PythonCells
from thalweg.tables.column_format import PARTS, find_unix_unit, unix_times

FIRST = np.datetime64("2026-03-01T21:20:00", "ns")
ROWS = 60
LAST_STEP = np.timedelta64(ROWS - 1, "m")


def stamps(unit):
    """One a minute, as whole numbers."""
    seconds = FIRST.astype("datetime64[s]").astype(int) + 60 * np.arange(ROWS)
    return (seconds * PARTS[unit]).tolist()


def table(folder, name, values, suffix="csv"):
    lines = [f"{name},y\n", *(f"{v},{k % 7}\n" for k, v in enumerate(values))]
    if suffix == "jsonl":
        rows = ({name: v, "y": k % 7} for k, v in enumerate(values))
        lines = [json.dumps(row) + "\n" for row in rows]
    return written(folder / f"rows.{suffix}", lines)


@pytest.mark.parametrize("unit", PARTS)
@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
@pytest.mark.parametrize("name", ["ts", "epoch", "timestamp", "event_time"])
def test_they_are_times_in_every_unit(tmp_path, unit, suffix, name):
    encoder = Encoder(Recipe(("y",)))
    with read_table(table(tmp_path, name, stamps(unit), suffix)) as rows:
        times = [encoder.encode(chunk)[2] for chunk in rows.chunks()]
    assert times[0].instants[0] == FIRST
    assert times[-1].instants[-1] == FIRST + LAST_STEP
    assert any(
        f"is taken as 2026-03-01 21:20:00 UTC ({unit} since 1970)" in note
        for note in encoder.notes()
    )


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("revenue", stamps("seconds")),  # the name tells of something else
        ("time", list(range(ROWS))),  # numbers of rows
        ("ts", [*stamps("seconds")[:-1], 12]),
        ("ts", [*stamps("seconds")[:-1], stamps("milliseconds")[-1]]),
    ],
)
def test_other_numbers_stay_numbers(name, values):
    assert find_unix_unit(name, PythonCells(values)) == ""


def test_parts_of_a_second_and_gaps_are_kept():
    times = unix_times(PythonCells([1772400000.25, None, 1772400001]), "seconds")
    assert str(times.instants[0]) == "2026-03-01T21:20:00.250000000"
    assert np.isnat(times.instants[1])
    assert str(times.instants[2]) == "2026-03-01T21:20:01.000000000"


@pytest.mark.parametrize("value", [1e30, -1e30, "soon"])
def test_what_is_no_time_is_refused_by_its_position(value):
    with pytest.raises(CellError) as error:
        unix_times(PythonCells([1772400000, value]), "seconds")
    assert error.value.position == 1


def test_a_pipe_knows_them_by_its_first_row_and_names_what_is_none(tmp_path):
    source = table(tmp_path, "ts", [*stamps("seconds"), "soon"])
    encoder = Encoder(Recipe(("y",), time="ts"))
    rows = read_table(io.BytesIO(source.read_bytes()), chunk_rows=ROWS)
    chunks = rows.chunks()
    assert encoder.encode(next(chunks))[2].instants[-1] == FIRST + LAST_STEP
    with pytest.raises(StreamError) as error:
        encoder.encode(next(chunks))
    assert "'ts' is 'soon', which is no time" in str(error.value)


def test_a_forecast_has_dates(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    source = table(tmp_path, "ts", stamps("seconds"))
    done = thalweg("forecast", str(source), "-t", "y", "--horizon", "3", "--no-report")
    assert done.exit_code == 0 and "2026-03-01 22:20" in done.output
