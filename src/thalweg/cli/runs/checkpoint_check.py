"""What a checkpoint holds as JSON, held to what a run could have left."""

from typing import Any

from thalweg.evaluation.kept import need, whole
from thalweg.tables import Encoder
from thalweg.tables.encoder_state import feature_count


def check_told(told: dict[str, Any], encoder: Encoder) -> None:
    """Raise unless a session with this encoder could go on from it."""
    rows, features = whole("rows", told["rows"]), whole("features", told["features"])
    whole("rows", told["before"], rows)
    need(told["start"] is None or isinstance(told["start"], str), "start")
    need(encoder.state.rows == rows, "rows")
    schema = encoder.state.schema
    need(schema is not None, "columns")
    if schema is not None:
        need(features == feature_count(schema, encoder.recipe), "features")
