"""A state is restored only if an encoder of that recipe could have it."""

import io

import numpy as np
import pytest

from tests.tables.sample_tables import RECIPE, WEATHER, encode_table
from thalweg.errors import PersistenceError
from thalweg.tables import Encoder, read_table
from thalweg.tables.encoder_state import feature_count


@pytest.fixture
def encoder():
    encoder = Encoder(RECIPE)
    encode_table(read_table(io.BytesIO(WEATHER)), encoder=encoder)
    return encoder


def test_a_state_can_be_restored_before_and_after_the_first_row(encoder):
    assert Encoder.restore(RECIPE, encoder.state).notes() == encoder.notes()
    assert Encoder.restore(RECIPE, Encoder(RECIPE).state).feature_names() == ()


def test_features_are_counted_as_they_are_made(encoder):
    assert feature_count(encoder.state.schema, RECIPE) == len(encoder.feature_names())


@pytest.mark.parametrize(
    "changes",
    [
        {"rows": -1},
        {"schema": None},
        {"text_columns": ()},
        {"past_targets": np.zeros((2, 1))},
        {"known_targets": np.array([8.0])},
        {"min_targets": np.zeros(2)},
        {"last_time": -(2**63)},
        {"last_time": 1.5},
        {"last_offset": 24 * 3600 * 10**9},
        {"time_has_offset": 1},
    ],
)
def test_an_impossible_state_is_refused_by_name(encoder, changes):
    (field,) = changes
    with pytest.raises(PersistenceError, match=f"its 'encoder.{field}' must be"):
        Encoder.restore(RECIPE, encoder.state._replace(**changes))
