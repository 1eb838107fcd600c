"""Limits of what one request may bring: each protects memory or other clients' time."""

from dataclasses import dataclass, fields

from thalweg import checks


@dataclass(frozen=True)
class Limits:
    """The most that a request may hold, and that may wait for the writer."""

    body_bytes: int = 4 * 2**20
    key_bytes: int = 256
    rows: int = 10_000  # of one request
    features: int = 256  # of one row: a model needs memory by the square of them
    waiting_rows: int = 100_000  # of all requests that wait to be committed
    commit_rows: int = 10_000  # of one transaction, or one request
    idempotency_keys: int = 100_000  # that are remembered, the newest

    def __post_init__(self) -> None:
        for field in fields(self):
            checks.require_type(self, field.name, int)
            checks.require_interval(self, field.name, "[1, inf)")
