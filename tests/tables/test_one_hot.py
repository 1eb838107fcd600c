"""Text with more levels than there are features for it."""

import io

import pytest

from tests.tables.sample_tables import through_file
from thalweg.tables import Encoder, Recipe, read_table

RECIPE = Recipe(("y",), lags=())
SHARED = (
    "Column 'x' has more than 8 levels: the later ones share a feature, unless "
    "--categories allows for more."
)
USELESS = (
    "Column 'x' looks like identifiers, which are of no use as a feature: it has more "
    "than 8 levels, and the first 8 hardly come again."
)
ORDERS = [f"order {k}" for k in range(600)]
CITIES = [f"city {k * k % 61}" for k in range(600)]
COLUMNS = {
    "orders": (ORDERS, USELESS),
    "days of orders": ([order for order in ORDERS[::24] for _ in range(24)], USELESS),
    "cities": (CITIES, SHARED),
    "few rows": (ORDERS[:40], SHARED),
}


@pytest.mark.parametrize("chunk_rows", [1, 7, 65_536])
@pytest.mark.parametrize("named", COLUMNS)
def test_a_note_explains_too_many_levels(named, chunk_rows):
    values, note = COLUMNS[named]
    data = "x,y\n" + "".join(f"{x},{k}\n" for k, x in enumerate(values))
    encoder = Encoder(RECIPE)
    for chunk in read_table(io.BytesIO(data.encode()), chunk_rows=chunk_rows).chunks():
        encoder.encode(chunk)
        encoder = Encoder.restore(RECIPE, through_file(encoder.state))
    assert encoder.notes() == (note,)


def test_a_few_levels_need_no_note():
    data = b"x,y\n" + b"red,1\nblue,2\n" * 100
    encoder = Encoder(RECIPE)
    for chunk in read_table(io.BytesIO(data)).chunks():
        encoder.encode(chunk)
    assert encoder.notes() == ()
