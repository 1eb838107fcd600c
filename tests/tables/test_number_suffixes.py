"""Numbers such as 1.2M: read where a whole column is like that."""

import pyarrow as pa
import pytest

from thalweg.tables import Encoder, Recipe, read_table
from thalweg.tables.arrow_cells import ArrowCells
from thalweg.tables.cells import PythonCells
from thalweg.tables.literals import (
    NUMBER_STYLES,
    SUFFIX_STYLES,
    parse_styled_number,
)

POINT, COMMA = SUFFIX_STYLES
CASES = [
    ("1.20M", POINT, 1_200_000.0),
    ("3.5K", POINT, 3500.0),
    ("3.5k", POINT, 3500.0),
    ("2B", POINT, 2e9),
    ("1.1 M", POINT, 1_100_000.0),
    ("$1.2T", POINT, 1.2e12),
    ("-0.3M", POINT, -300_000.0),
    ("950", POINT, 950.0),
    ("1,234.5K", POINT, 1_234_500.0),
    ("1,2M", COMMA, 1_200_000.0),
    ("1,2 M €", COMMA, 1_200_000.0),
]


@pytest.mark.parametrize(("text", "style", "number"), CASES)
def test_a_suffix_multiplies(text, style, number):
    assert parse_styled_number(text, style) == number
    assert ArrowCells(pa.array([text, None])).numbers(style)[0] == number
    assert PythonCells([text]).numbers(style)[0] == number


@pytest.mark.parametrize("text", ["M", "1.2X", "1.2MK", "1e5K", "1.2m", "K5", "12A"])
def test_what_is_no_such_number_stays_text(text):
    assert all(parse_styled_number(text, s) is None for s in SUFFIX_STYLES)


@pytest.mark.parametrize(("text", "style", "number"), CASES[:3])
def test_other_styles_know_no_suffix(text, style, number):
    assert all(parse_styled_number(text, other) is None for other in NUMBER_STYLES)


def encoder_of(path, cells, **settings):
    lines = ["size;y\n", *(f'"{cell}";{k}.5\n' for k, cell in enumerate(cells))]
    path.write_text("".join(lines))
    encoder = Encoder(Recipe(("y",), lags=(), **settings))
    with read_table(path) as table:
        rounds = [encoder.encode(chunk) for chunk in table.chunks()]
    return encoder, rounds[0].x[:, 0].tolist()


def test_a_column_with_suffixes_is_one_of_numbers(tmp_path):
    cells = ["n.a.", "950", "1.20M", "3.5K"]
    encoder, numbers = encoder_of(tmp_path / "x.csv", cells, missing="skip")
    assert numbers[1:] == [950.0, 1_200_000.0, 3500.0]
    assert "Column 'size': '1.20M' is taken as 1200000.0" in encoder.notes()[0]


@pytest.mark.parametrize("cells", [["1B", "2B", "3B"], ["1.5M", "2.5X"], ["5K", "HR"]])
def test_names_that_look_alike_are_text(tmp_path, cells):
    encoder, _ = encoder_of(tmp_path / "x.csv", cells)
    assert encoder.state.schema.inputs[0].kind == "text"


def test_a_column_that_is_named_as_text_is_text(tmp_path):
    encoder, _ = encoder_of(tmp_path / "x.csv", ["1.5M", "2.5M"], text=("size",))
    assert encoder.state.schema.inputs[0].kind == "text"
