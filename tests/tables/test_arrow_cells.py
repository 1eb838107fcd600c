"""Cells of pyarrow mean what those of the standard library mean."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.tables.sample_tables import as_array, bits
from thalweg.tables.arrow_cells import ArrowCells
from thalweg.tables.cells import CellError, PythonCells

NUMERIC = st.text("0123456789+-.eE infatruy_", max_size=9)
TIMES = st.from_regex(
    r"(19|20|99)[0-9][0-9]-[01][0-9]-[0-3][0-9]"
    r"([ T][0-2][0-9](:[0-5][0-9](:[0-6][0-9](\.[0-9]{0,10})?)?)?"
    r"(Z|[+-][0-2][0-9](:?[0-5][0-9])?)?)?",
    fullmatch=True,
)
DATES = st.from_regex(
    r"([0-3]?[0-9][-/.][0-3]?[0-9][-/.](19|20)?[0-9][0-9]|20[0-9][0-9]/[01]?[0-9]/[0-3]?[0-9])"
    r"([ T][0-2]?[0-9]:[0-5][0-9](:[0-6][0-9])?( [AP]M)?)?",
    fullmatch=True,
)
SAME_DATES = st.from_regex(
    r"[0-3]?[0-9]/[01]?[0-9]/20[0-9]{2} [0-2]?[0-9]:[0-6][0-9]", fullmatch=True
)
STYLED = st.from_regex(
    r"[+-]?\$?\(?\$?[0-9]{0,4}([,.' ][0-9]{2,4}){0,3}([,.][0-9]{0,3})?(e[+-]?[0-9])?"
    r"( ?%)?\)?",
    fullmatch=True,
)
CELL = (
    NUMERIC
    | TIMES
    | DATES
    | STYLED
    | st.text(max_size=3)
    | st.sampled_from(["NA", "?", " - ", ""])
)
COLUMNS = (
    st.lists(NUMERIC, min_size=1)
    | st.lists(TIMES, min_size=1)
    | st.lists(DATES, min_size=1)
    | st.lists(SAME_DATES, min_size=1)
    | st.lists(STYLED, min_size=1)
    | st.lists(CELL | st.none(), min_size=1)
)


def outcome(cells, reading, *settings):
    """What a reading gives, in bytes; or which cell it refuses."""
    try:
        result = getattr(cells, reading)(*settings)
    except CellError as error:
        return error.position, error.value
    if reading == "categories":
        return result.codes.tolist(), result.levels
    return str(as_array(result).dtype), bits(as_array(result))


@pytest.mark.parametrize("reading", ["numbers", "timestamps", "categories"])
@given(values=COLUMNS)
@example(values=["1e999"])
@example(values=["-0", "0"])
@example(values=["2024-01-01", "2024-01-01T00:00Z"])
@example(values=["1677-09-21T00:12:43.145224193"])
@example(values=["2262-04-11T23:47:16.854775807"])
def test_text_in_an_array_reads_like_text_in_a_list(reading, values):
    result = outcome(ArrowCells(pa.array(values, pa.string())), reading)
    assert result == outcome(PythonCells(values), reading)


@pytest.mark.parametrize(
    ("reading", "setting"),
    [
        ("numbers", "decimal point"),
        ("numbers", "decimal comma"),
        ("timestamps", "day first"),
    ],
)
@given(values=COLUMNS)
@example(values=["1.234,5", "1 234,5", "5 %", "1,234"])
@example(values=["(1,234.5)", "$(5)", "($ 1'234)", "(3 %)", "-$1,234", "(2) €"])
@example(values=["31/01/2024 07:45", None, "1/2/2024 7:45"])
@example(values=["31/01/2024", "01/31/2024"])
@example(values=["2024/1/31 23:59:59"])
def test_texts_read_alike_in_every_format(reading, setting, values):
    by_arrow = outcome(ArrowCells(pa.array(values, pa.string())), reading, setting)
    assert by_arrow == outcome(PythonCells(values), reading, setting)


@given(values=st.lists(CELL | st.none()))
def test_distinct_texts_agree(values):
    by_arrow = ArrowCells(pa.array(values, pa.string())).distinct_texts()
    assert by_arrow == PythonCells(values).distinct_texts()


PERIODS = st.from_regex(
    r"(FY ?)?(20)?[0-3][0-9][- ]?Q[0-5]|Q[1-4][- ]('|FY)?(20)?1[0-9]|[1-4]Q(20)?1[0-9]"
    r"|[JF](an|eb)[- ]'?(20)?[0-3][0-9]|20[0-9]{2}M?[0-1][0-9]|[01]?[0-9]/20[0-9]{2}",
    fullmatch=True,
)


@given(values=st.lists(PERIODS | st.none(), min_size=1))
def test_periods_read_alike_in_every_format(values):
    by_arrow = outcome(ArrowCells(pa.array(values, pa.string())), "timestamps")
    assert by_arrow == outcome(PythonCells(values), "timestamps")


EIGHT_DIGITS = st.dates().map(lambda day: int(f"{day:%Y%m%d}"))
SIX_DIGITS = st.dates().map(lambda day: int(f"{day:%Y%m}"))


@given(
    values=st.lists(st.integers(0, 30_000_000) | EIGHT_DIGITS | SIX_DIGITS, min_size=1)
)
def test_whole_numbers_of_six_or_eight_digits_are_dates(values):
    by_arrow = outcome(ArrowCells(pa.array(values)), "timestamps")
    assert by_arrow == outcome(PythonCells(values), "timestamps")
    assert by_arrow == outcome(PythonCells([float(v) for v in values]), "timestamps")


@given(values=st.lists(CELL, min_size=1))
def test_kinds_agree(values):
    by_arrow = ArrowCells(pa.array(values, pa.string()), kind_if_missing="number")
    assert by_arrow.kind() == PythonCells(values).kind()


@pytest.mark.parametrize(
    "values",
    [
        [1, None, 3],
        [1.5, None, float("nan"), -0.0],
        [True, False, None],
        [None, None],
        ["a", None, "b", "a"],
    ],
)
@pytest.mark.parametrize("reading", ["numbers", "categories"])
def test_typed_arrays_read_like_lists(values, reading):
    expected = outcome(PythonCells(values), reading)
    assert outcome(ArrowCells(pa.array(values)), reading) == expected
    if values[0] is not None:
        encoded = pa.array(values).dictionary_encode()
        if not pa.types.is_boolean(encoded.type.value_type):
            assert outcome(ArrowCells(encoded), reading) == expected


@pytest.mark.parametrize(
    "kind",
    [pa.int8(), pa.uint64(), pa.float16(), pa.float32(), pa.decimal128(30, 2)],
)
def test_numbers_of_any_width_are_float64(kind):
    whole = pa.array([1, 0, 3]).cast(kind)
    assert ArrowCells(whole).kind() == "number"
    assert ArrowCells(whole).numbers().tolist() == [1.0, 0.0, 3.0]


@pytest.mark.parametrize("kind", [pa.large_string(), pa.string_view()])
def test_text_of_any_width_is_text(kind):
    cells = ArrowCells(pa.array(["a", None]).cast(kind))
    assert cells.kind() == "text"
    assert cells.categories().levels == ["a"]


@pytest.mark.parametrize(
    "kind",
    [
        pa.timestamp("s"),
        pa.timestamp("us"),
        pa.timestamp("ns"),
        pa.timestamp("ms", "UTC"),
        pa.timestamp("ns", "Europe/Paris"),
        pa.date32(),
        pa.date64(),
    ],
)
def test_times_of_any_unit_are_nanoseconds_in_utc(kind):
    cells = ArrowCells(pa.array([86400, None], pa.timestamp("s")).cast(kind))
    assert cells.kind() == "time"
    expected = np.array(["1970-01-02", "NaT"], "datetime64[ns]")
    assert bits(cells.timestamps().instants) == bits(expected)
    assert cells.categories().levels[0].startswith("1970-01-02")


def test_a_time_beyond_nanoseconds_is_refused_where_it_stands():
    days = pa.array(["2024-01-01", "9999-12-31"]).cast(pa.date32())
    with pytest.raises(CellError) as refused:
        ArrowCells(days).timestamps()
    assert (refused.value.position, refused.value.value) == (1, "9999-12-31")


@pytest.mark.parametrize("reading", ["numbers", "timestamps", "categories"])
def test_lists_are_neither_numbers_nor_times_nor_text(reading):
    cells = ArrowCells(pa.array([None, [1, 2]]))
    assert cells.kind() == "other"
    assert outcome(cells, reading) == (1, [1, 2])
    assert outcome(PythonCells([None, [1, 2]]), reading) == (1, [1, 2])
    assert PythonCells([[1, 2]]).kind() == "other"


def test_a_time_is_no_number_and_a_number_no_time():
    ticks = pa.array([None, 86400], pa.timestamp("s"))
    assert outcome(ArrowCells(ticks), "numbers") == (1, "1970-01-02 00:00:00")
    assert outcome(ArrowCells(pa.array([5.0])), "timestamps") == (0, 5.0)
    assert outcome(PythonCells([5.0]), "timestamps") == (0, 5.0)


def test_a_declared_column_of_text_is_text_though_its_first_cell_is_missing():
    assert ArrowCells(pa.array([None, "a"])).kind() == "text"
    assert ArrowCells(pa.array(["NA", "a"])).kind() == "text"
    assert PythonCells(["NA", "a"]).kind() == "number"


def test_an_integer_beyond_floats_is_infinite():
    assert PythonCells([10**400]).numbers().tolist() == [np.inf]
