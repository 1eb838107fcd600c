"""Limits of the server: each protects memory, the disk or other clients' time."""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Self

from thalweg import checks
from thalweg.errors import InvalidParameterError


@dataclass(frozen=True)
class Limits:
    """The most that clients may send, keep open and have written."""

    body_bytes: int = 4 * 2**20
    key_bytes: int = 256
    rows: int = 10_000  # of one request
    keys: int = 5_000  # of one request
    features: int = 256  # of one row: a model needs memory by the square of them
    model_bytes: int = 256 * 2**20  # of models that a request or transaction writes
    waiting_rows: int = 100_000  # of all requests that wait to be committed
    commit_rows: int = 10_000  # of one transaction, or one request
    idempotency_keys: int = 100_000  # that are remembered, the newest
    live_bytes: int = 32 * 2**20  # of the last rows that live pages begin with
    connections: int = 1_000  # that are open, if the system allows as many files
    request_seconds: int = 20  # from the first byte of a request to its last

    def __post_init__(self) -> None:
        for field in fields(self):
            checks.require_type(self, field.name, int)
            checks.require_interval(self, field.name, "[1, inf)")

    @classmethod
    def parse(cls, settings: Iterable[str]) -> Self:
        """The limits with some of them set, as in ``rows=500``."""
        names, given = [field.name for field in fields(cls)], {}
        for setting in settings:
            name, _, number = setting.partition("=")
            if name not in names or not number.isascii() or not number.isdigit():
                raise InvalidParameterError(
                    f"A limit is a name and a whole number, as in rows=500, and its "
                    f"name one of {', '.join(names)}. Got {setting!r:.80} instead."
                )
            given[name] = int(number)
        return cls(**given)
