"""Times with offsets: order by moments, calendar by the clock on the wall."""

import io
from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from tests.tables.sample_tables import (
    PiecewiseFile,
    as_array,
    assert_same,
    encode_bytes,
    encode_table,
    through_file,
)
from thalweg.errors import StreamError
from thalweg.tables import Encoder, Recipe, read_table
from thalweg.tables.arrow_cells import ArrowCells
from thalweg.tables.optional_packages import MIN_PYARROW_BYTES
from thalweg.tables.timestamps import Timestamps, calendar_features

RECIPE = Recipe(("y",), time="t", calendar="t", lags=())
# Clocks go back at 03:00 in Paris: the hour from two to three is there twice.
AUTUMN = ["2024-10-27T02:30:00+02:00", "2024-10-27T02:00:00+01:00"]
OFFSETS = st.integers(-14 * 60, 14 * 60).map(
    lambda minutes: timezone(timedelta(minutes=minutes))
)
MOMENTS = st.datetimes(
    datetime(1700, 1, 1), datetime(2200, 1, 1), timezones=OFFSETS
).map(lambda moment: moment.replace(microsecond=moment.microsecond // 1000 * 1000))


def csv(times):
    return ("t,y\n" + "".join(f"{t},{k}\n" for k, t in enumerate(times))).encode()


def times_of(data, **settings):
    (chunk,) = read_table(io.BytesIO(data), **settings).chunks()
    return chunk.timestamps("t")


def test_rows_are_ordered_by_instants_and_the_calendar_uses_local_time():
    (chunk,) = read_table(io.BytesIO(csv(AUTUMN))).chunks()
    result = Encoder(RECIPE).encode(chunk)
    assert result.time.isoformat() == AUTUMN
    wall = np.array([text[:19] for text in AUTUMN], "datetime64[ns]")
    assert (result.x == calendar_features(wall)).all()
    with pytest.raises(StreamError, match=r"goes back to 2024-10-27T02:30:00\+02:00 f"):
        encode_bytes(csv(AUTUMN[::-1]), RECIPE)


@given(st.lists(MOMENTS, min_size=1))
def test_times_come_back_as_they_were_written(moments):
    texts = [moment.isoformat() for moment in moments]
    result = times_of(csv(texts))
    assert [datetime.fromisoformat(text) for text in result.isoformat()] == moments
    wall = [moment.replace(tzinfo=None) for moment in moments]
    assert (result.local_times() == np.array(wall, "datetime64[ns]")).all()


@given(st.lists(MOMENTS, min_size=1), st.booleans())
def test_pyarrow_finds_the_same_offsets(moments, colon):
    texts = [moment.isoformat(sep=" ") for moment in moments]
    if not colon:
        texts = [f"{text[:-3]}{text[-2:]}" for text in texts]
    by_arrow = ArrowCells(pa.array([*texts, None])).timestamps()
    listed = times_of(csv(texts))
    assert (as_array(by_arrow)[:-1] == as_array(listed)).all()
    assert np.isnat(by_arrow.instants[-1]) and np.isnat(by_arrow.offsets[-1])


@pytest.mark.parametrize("repeated", [1, MIN_PYARROW_BYTES // 20])
@pytest.mark.parametrize(
    ("times", "sentence"),
    [
        (
            ["2024-01-01T00:00", "2024-01-01T01:00Z"],
            "'t' is 2024-01-01T01:00:00+00:00, with an offset from UTC, and the rows "
            "before are without one. Write all of them one way.",
        ),
        (
            ["2024-01-01T00:00+01:00", "2024-01-01"],
            "'t' is 2024-01-01T00:00:00, without an offset from UTC, and the rows "
            "before are with one. Write all of them one way.",
        ),
    ],
)
@pytest.mark.parametrize("chunk_rows", [1, 65_536])
def test_a_column_has_offsets_or_has_none(times, sentence, chunk_rows, repeated):
    rows, where = [times[0]] * repeated + [times[1]], repeated + 1
    ordered = Recipe(("y",), time="t", lags=(1,))
    for recipe in (RECIPE, Recipe(("y",), calendar="t"), ordered):
        with pytest.raises(StreamError) as refused:
            encode_table(
                read_table(io.BytesIO(csv(rows)), chunk_rows=chunk_rows), recipe
            )
        place = f"Row {where:,} (line {where + 1:,}) of the stream: "
        assert str(refused.value) == place + sentence


def test_a_restored_encoder_remembers_whether_times_have_offsets():
    first, second = read_table(io.BytesIO(csv([*AUTUMN, "NA"])), chunk_rows=2).chunks()
    recipe = Recipe(("y",), calendar="t", missing="skip")
    encoder = Encoder(recipe)
    encoder.encode(first)
    encoder.encode(second)  # a missing time tells nothing
    state = through_file(encoder.state)
    (naive,) = read_table(io.BytesIO(csv(["2024-12-01"]))).chunks()
    with pytest.raises(StreamError, match="the rows before are with one"):
        Encoder.restore(recipe, state).encode(naive)


def test_the_last_time_is_saved_with_its_offset():
    (chunk,) = read_table(io.BytesIO(csv(AUTUMN))).chunks()
    encoder = Encoder(RECIPE)
    encoder.encode(chunk)
    state = through_file(encoder.state)
    assert Encoder.restore(RECIPE, state).last_time().isoformat() == AUTUMN[1:]
    with pytest.raises(StreamError, match=r"\+01:00 in the run before"):
        Encoder.restore(RECIPE, state).encode(chunk)


def test_line_by_line_is_like_a_file():
    hours = [datetime(2024, 3, 31, tzinfo=UTC) + timedelta(hours=k) for k in range(999)]
    zones = [timezone(timedelta(hours=1 + (k > 0))) for k in range(999)]
    moments = zip(hours, zones, strict=True)
    data = csv([hour.astimezone(zone).isoformat() for hour, zone in moments])
    assert len(data) > MIN_PYARROW_BYTES  # by pyarrow
    lines = [len(line) for line in data.splitlines(keepends=True)]
    by_line = encode_table(read_table(PiecewiseFile(data, lines)), RECIPE)
    assert_same(encode_bytes(data, RECIPE), by_line)


@pytest.mark.parametrize("unit", ["s", "ns"])
def test_a_time_zone_of_parquet_decides_the_local_time(tmp_path, unit):
    utc = [datetime.fromisoformat(text).astimezone(UTC) for text in AUTUMN]
    zoned = pa.array([*utc, None], pa.timestamp(unit, "Europe/Paris"))
    result = ArrowCells(zoned).timestamps()
    assert result[:2].isoformat() == AUTUMN
    parquet.write_table(
        pa.table({"t": zoned[:2], "y": [0.0, 1.0]}), tmp_path / "x.parquet"
    )
    by_parquet = encode_table(read_table(tmp_path / "x.parquet"), RECIPE)
    assert_same(by_parquet, encode_bytes(csv(AUTUMN), RECIPE))


def test_utc_is_an_offset_too():
    result = ArrowCells(pa.array([0], pa.timestamp("s", "UTC"))).timestamps()
    assert result.isoformat() == ["1970-01-01T00:00:00+00:00"]


def test_an_unknown_time_zone_is_refused():
    times = pa.array([0], pa.timestamp("s", "Mars/Phobos"))
    with pytest.raises(StreamError, match="The time zone 'Mars/Phobos' is not known"):
        ArrowCells(times).timestamps()


def test_offsets_of_solar_time_are_formatted_to_the_second():
    instants = np.array(["1850-01-01T12:00"], "datetime64[ns]")
    offsets = np.array([-(9 * 60 + 21)], "timedelta64[s]").astype("timedelta64[ns]")
    assert Timestamps(instants, offsets).isoformat() == ["1850-01-01T11:50:39-00:09:21"]


@pytest.mark.parametrize("repeated", [1, MIN_PYARROW_BYTES])
def test_missing_markers_are_recognised_in_any_letter_case(repeated):
    ways = ["N/A", "n/a", "NULL", "#N/A", "nAn", "none", " Na "]
    recipe = Recipe(("y",), lags=(), missing="skip")
    data = "x,y\n" + "".join(f"{x},1\n" for x in ["0", *ways * repeated])
    result = encode_bytes(data.encode(), recipe)
    assert np.isnan(result.x[1:]).all() and result.x[0] == 0
    text = "x,y\n" + "".join(f"{x},1\n" for x in ["red", *ways * repeated])
    result = encode_bytes(text.encode(), recipe)
    assert np.isnan(result.x[1:]).all() and result.x[0, 0] == 1
