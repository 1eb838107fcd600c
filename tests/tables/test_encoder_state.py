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
    ("changes", "part"),
    [
        ({"rows": -1}, "rows"),
        ({"schema": None}, "columns"),
        ({"text_columns": ()}, "levels"),
        ({"past_targets": np.zeros((2, 1))}, "lags"),
        ({"known_targets": np.array([8.0])}, "targets"),
        ({"min_targets": np.zeros(2)}, "targets"),
        ({"last_time": -(2**63)}, "times"),
        ({"last_time": 1.5}, "times"),
        ({"last_offset": 24 * 3600 * 10**9}, "times"),
        ({"time_has_offset": 1}, "times"),
    ],
)
def test_an_impossible_state_is_refused_by_name(encoder, changes, part):
    with pytest.raises(PersistenceError, match=f"its {part} could not have come"):
        Encoder.restore(RECIPE, encoder.state._replace(**changes))
