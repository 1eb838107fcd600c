"""Schemas in /openapi.json for routes whose bodies the server parses itself."""

from typing import Any

from fastapi import FastAPI

OBSERVE = "/v1/models/{key:path}/observe"
OBSERVE_MANY = "/v1/observe"
PREDICT = "/v1/models/{key:path}/predict"
FORECAST = "/v1/models/{key:path}/forecast"

FEATURES_SCHEMA: dict[str, Any] = {
    "description": "Features: a list of numbers, or an object of them by name; null "
    "where one is missing.",
    "oneOf": [
        {"type": "array", "items": {"type": ["number", "null"]}},
        {"type": "object"},
    ],
}
ROW_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["x", "y"],
    "properties": {
        "key": {"type": "string", "description": "Where the path has none."},
        "x": FEATURES_SCHEMA,
        "y": {
            "description": "The target, or a list of several; null where unknown.",
            "oneOf": [
                {"type": ["number", "null"]},
                {"type": "array", "items": {"type": ["number", "null"]}},
            ],
        },
        "seq": {
            "type": "integer",
            "description": "Counts the rows of a key upwards. Not needed with the "
            "header Idempotency-Key.",
        },
        "weight": {"type": "number", "default": 1},
        "elapsed": {"type": "number", "default": 1, "description": "Time since the "
                    "row before."},
    },
    "example": {"x": [0.5, 1.0], "y": 2.0, "seq": 17},
}  # fmt: skip
KEY: dict[str, Any] = {
    "name": "key", "in": "path", "required": True, "schema": {"type": "string"},
}  # fmt: skip
IDEMPOTENCY_KEY: dict[str, Any] = {
    "name": "Idempotency-Key", "in": "header", "schema": {"type": "string"},
    "description": "Instead of seq: a repeated request is learnt once.",
}  # fmt: skip


def _body(schema: dict[str, Any]) -> dict[str, Any]:
    return {"required": True, "content": {"application/json": {"schema": schema}}}


_BATCH = {
    "type": "object",
    "required": ["rows"],
    "properties": {"rows": {"type": "array", "items": ROW_SCHEMA}},
}
_FEATURE_ROWS = {
    "type": "object",
    "required": ["x"],
    "properties": {
        "x": {"oneOf": [FEATURES_SCHEMA, {"type": "array", "items": FEATURES_SCHEMA}]},
        "interval": {"type": "number", "description": "Share that bands hold."},
    },
    "example": {"x": [0.5, 1.0], "interval": 0.9},
}
_OPERATIONS: dict[str, Any] = {
    OBSERVE: {
        "summary": "Learn one row of this key, or several",
        "requestBody": _body({"oneOf": [ROW_SCHEMA, _BATCH]}),
        "parameters": [KEY, IDEMPOTENCY_KEY],
    },
    OBSERVE_MANY: {
        "summary": "Learn rows of many keys",
        "requestBody": _body(_BATCH),
        "parameters": [IDEMPOTENCY_KEY],
    },
    PREDICT: {
        "summary": "Predict one row or several, each as the next one",
        "requestBody": _body(_FEATURE_ROWS),
        "parameters": [KEY],
    },
    FORECAST: {
        "summary": "Predict rows to come, one after the other, with bands",
        "requestBody": _body(_FEATURE_ROWS),
        "parameters": [KEY],
    },
}


def describe_routes(app: FastAPI) -> None:
    """Add these routes to what FastAPI says of its own."""
    schema = app.openapi()
    for path, operation in _OPERATIONS.items():
        responses = {"200": {"description": "Done; rows are on the disk."}}
        responses |= {"4XX": {"description": "Refused: {error: a sentence}."}}
        schema["paths"][path.replace(":path", "")] = {
            "post": {**operation, "responses": responses}
        }
