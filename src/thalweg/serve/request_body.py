"""Bodies of requests: JSON within limits, and the rows in it, or a refusal.

JSON is all that enters: no pickle, and no NaN or Infinity, which JSON does not have.
A refusal is an ``HTTPException`` with a sentence.
"""

from types import NoneType
from typing import Any, NamedTuple
from unicodedata import category

import numpy as np
from fastapi import HTTPException, Request
from pydantic_core import from_json
from starlette.requests import ClientDisconnect

from thalweg.serve.limits import Limits

MAX_QUOTED = 60
"""Limit of the characters of a value that a message quotes."""
ROW_FIELDS = frozenset({"key", "x", "y", "seq", "weight", "elapsed"})
MAX_TARGETS = 64
ROW_EXAMPLE = '{"x": [0.5, 1.0], "y": 2.0, "seq": 17}'


class Row(NamedTuple):
    """A row to learn from, as a client gave it."""

    key: str
    x: Any  # (n,) float64, or a dict by name
    y: Any  # a number, or an array of several; NaN: it has no target
    seq: int | None  # None: the server numbers it
    weight: float = 1.0
    elapsed: float = 1.0


async def read_json(request: Request, limits: Limits) -> dict[str, Any]:
    """The JSON object in the body of a request."""
    return parse_object(await read_body(request, limits))


async def read_body(request: Request, limits: Limits) -> bytes:
    """The bytes of a body that says it is JSON; too long a one is not read on."""
    # By hand, as this is done for every row: the framework's way takes three times as
    # long.
    given = [
        value for name, value in request.scope["headers"] if name == b"content-type"
    ]
    kind = (given[0] if given else b"").partition(b";")[0].strip().lower()
    if kind != b"application/json":
        raise HTTPException(
            415,
            "The body must be JSON, with the header Content-Type: application/json. "
            f"Got {quote(kind.decode('latin-1'))} instead.",
        )
    body = b""
    while True:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        body += message.get("body", b"")
        if len(body) > limits.body_bytes:
            raise HTTPException(
                413, f"A body may have {limits.body_bytes:,} bytes. This one has more."
            )
        if not message.get("more_body", False):
            return bytes(body)


def parse_object(body: bytes) -> dict[str, Any]:
    """The JSON object in ``body``."""
    try:
        value = from_json(body, allow_inf_nan=False)
    except ValueError as error:
        raise HTTPException(
            400,
            f"The body is not JSON: {error}. NaN and Infinity are not JSON either; a "
            "value that is missing is null.",
        ) from None
    if not isinstance(value, dict):
        raise HTTPException(400, f"The body must be a JSON object. Got {quote(value)}.")
    return value


def read_key(request: Request, limits: Limits) -> str:
    """The key in the path of a request."""
    return check_key(request.path_params["key"], limits)


def check_key(key: Any, limits: Limits, number: int | None = None) -> str:
    """``key``, if it is text of a length that is allowed; ``number`` is its row's."""
    try:
        size = len(key.encode()) if isinstance(key, str) else 0
    except UnicodeEncodeError:  # half of a pair of surrogates
        size = 0
    is_text = 0 < size <= limits.key_bytes and "\ufffd" not in key
    # A path with a control character reaches no route.
    if not is_text or any(category(one) == "Cc" for one in key):
        place = "" if number is None else f"{_name(number)}: "
        raise HTTPException(
            400,
            f"{place}A key is text of 1 to {limits.key_bytes} bytes in UTF-8, without "
            f"control characters. Got {quote(key)} instead.",
        )
    return str(key)


def read_rows(
    body: dict[str, Any], limits: Limits, key: str | None, needs_seq: bool
) -> list[Row]:
    """The rows to learn in ``body``: itself, or those of its list ``rows``.

    ``key`` is that of the path; without one each row names its own.
    """
    if "rows" not in body:
        return [_read_row(body, limits, key, needs_seq, None)]
    rows = body["rows"]
    if not isinstance(rows, list) or not rows:
        raise HTTPException(
            400, f"'rows' must be a list of objects like {ROW_EXAMPLE}."
        )
    if len(rows) > limits.rows:
        raise HTTPException(
            413, f"A request may have {limits.rows:,} rows. Got {len(rows):,}."
        )
    found = [
        _read_row(row, limits, key, needs_seq, number)
        for number, row in enumerate(rows)
    ]
    if key is None and len(keys := {row.key for row in found}) > limits.keys:
        raise HTTPException(
            413, f"A request may name {limits.keys:,} keys. Got {len(keys):,}."
        )
    return found


def _read_row(
    row: Any, limits: Limits, key: str | None, needs_seq: bool, number: int | None
) -> Row:
    """A row of a request; ``number`` is its place among several."""
    if not isinstance(row, dict) or "x" not in row:
        raise HTTPException(
            400,
            f"{_name(number)} must be an object like {ROW_EXAMPLE}. Got {quote(row)}.",
        )
    if unknown := sorted(row.keys() - ROW_FIELDS):
        raise HTTPException(
            400,
            f"{_name(number)} may have {', '.join(sorted(ROW_FIELDS))}. Got "
            f"{quote(unknown[0])} as well.",
        )
    if (key is None) != ("key" in row):
        rule = "must not name a key: the path does."
        if key is None:
            rule = "must name its key, as the path names none."
        raise HTTPException(400, f"{_name(number)} {rule}")
    seq = row.get("seq")
    if (seq is None) == needs_seq or type(seq) not in (int, NoneType):
        raise HTTPException(400, _seq_rule(seq, needs_seq, number))
    weight, elapsed = row.get("weight", 1.0), row.get("elapsed", 1.0)
    return Row(
        check_key(row["key"], limits, number) if key is None else key,
        read_features(row["x"], limits, number),
        _read_target(row, number),
        seq,
        weight if type(weight) is float else read_number(weight, "weight"),
        elapsed if type(elapsed) is float else read_number(elapsed, "elapsed"),
    )


def _name(number: int | None) -> str:
    return "The row" if number is None else f"Row {number}"


def _seq_rule(seq: Any, needs_seq: bool, number: int | None) -> str:
    """The error in the ``seq`` of a row."""
    if seq is None:
        return (
            f"{_name(number)} needs 'seq', a whole number that counts the rows of its "
            "key upwards, or the request the header Idempotency-Key: else a repeated "
            "request would be learnt twice."
        )
    if not needs_seq:
        return (
            f"{_name(number)} has 'seq', and the request an Idempotency-Key. Give one."
        )
    return f"The 'seq' of a row must be a whole number. Got {quote(seq)} instead."


def _read_target(row: dict[str, Any], number: int | None) -> Any:
    """The target of a row, or an array of several."""
    try:
        y = row["y"]
        if type(y) is float:
            return y
        if isinstance(y, list) and 0 < len(y) <= MAX_TARGETS:
            return np.array([_as_float(value) for value in y])
        return _as_float(y)
    except (KeyError, TypeError):
        raise HTTPException(
            400,
            f"{_name(number)} must have a target 'y': a number, a list of at most "
            f"{MAX_TARGETS} of them, or null where it is missing. Got "
            f"{quote(row.get('y'))} instead.",
        ) from None


def read_features(x: Any, limits: Limits, number: int | None = None) -> Any:
    """One row of features: a list of numbers, or an object of them by name."""
    if type(x) is list and len(x) <= limits.features:
        if all(type(value) is float for value in x):
            return np.array(x, np.float64)
    elif not isinstance(x, dict) or len(x) > limits.features:
        raise HTTPException(
            400,
            f"'x' of {_name(number).lower()} must be a list of at most "
            f"{limits.features} numbers, or an object of them by name. Got {quote(x)} "
            "instead.",
        )
    try:
        if isinstance(x, list):
            return np.array([_as_float(value) for value in x], np.float64)
        return {
            feature: value if type(value) is str else _as_float(value)
            for feature, value in x.items()
        }
    except TypeError:
        raise HTTPException(
            400,
            f"'x' of {_name(number).lower()} must hold numbers, or null where one is "
            f"missing. Got {quote(x)} instead.",
        ) from None


def read_feature_rows(body: dict[str, Any], limits: Limits) -> tuple[list[Any], bool]:
    """The rows of features in ``x``, and whether it was one row by itself."""
    x = body.get("x")
    is_many = isinstance(x, list) and any(isinstance(row, list | dict) for row in x)
    if not is_many:
        return [read_features(x, limits)], True
    assert isinstance(x, list)
    if len(x) > limits.rows:
        raise HTTPException(
            413, f"A request may have {limits.rows:,} rows. Got {len(x):,}."
        )
    return [read_features(row, limits, k) for k, row in enumerate(x)], False


def read_interval(value: Any) -> float | None:
    """The share of values that bands are to hold, if one was given."""
    if value is None:
        return None
    share = read_number(value, "interval")
    if not 0 < share < 1:
        raise HTTPException(
            400,
            f"'interval' must be a share between 0 and 1, such as 0.9. Got {share:g}.",
        )
    return share


def read_number(value: Any, name: str) -> float:
    """The number."""
    if type(value) not in (int, float):
        raise HTTPException(
            400, f"{name!r} must be a number. Got {quote(value)} instead."
        )
    return _as_float(value)


def _as_float(value: Any) -> float:
    kind = type(value)
    if kind is float:
        return float(value)
    if value is None:
        return float("nan")
    if kind is not int:
        raise TypeError
    try:
        return float(value)
    except OverflowError:
        return float("inf")  # which the model refuses


def quote(value: Any) -> str:
    """The value for a sentence, cut where it is long."""
    text = repr(value)
    text = text if len(text) <= MAX_QUOTED else f"{text[: MAX_QUOTED - 1]}…"
    return text.encode("utf-8", "backslashreplace").decode()
