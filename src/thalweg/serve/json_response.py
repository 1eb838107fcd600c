"""Responses in JSON, and the status of each kind of error."""

import math
from typing import Any

import numpy as np
from fastapi import Response
from pydantic_core import to_json

from thalweg.errors import PersistenceError, StorageError, ThalwegError
from thalweg.keyed.store import FULL_CODES

DISK_FULL, UNAVAILABLE, UNPROCESSABLE = 507, 503, 422


def json_response(
    value: Any, status: int = 200, headers: dict[str, str] | None = None
) -> Response:
    """A response that holds ``value``."""
    # Three times as fast as the standard library, of answers with many rows.
    return Response(
        to_json(value, inf_nan_mode="null"), status, headers, "application/json"
    )


def error_response(
    sentence: str, status: int, headers: Any = None, **details: Any
) -> Response:
    """A response that says what was wrong, as the Open Inference Protocol has it."""
    return json_response({"error": sentence, **details}, status, headers)


def error_status(error: ThalwegError) -> int:
    """The status of one of the library's own errors."""
    if isinstance(error, StorageError):
        code = getattr(error.__cause__, "sqlite_errorcode", None)
        return DISK_FULL if code in FULL_CODES else UNAVAILABLE
    return UNAVAILABLE if isinstance(error, PersistenceError) else UNPROCESSABLE


def json_numbers(value: Any) -> Any:
    """A number, or an array as lists; null where one is infinite or not known."""
    if type(value) is float and math.isfinite(value):
        return value
    if value is None:
        return None
    if np.ndim(value):
        return [json_numbers(part) for part in value]
    number = float(value)
    return number if math.isfinite(number) else None
