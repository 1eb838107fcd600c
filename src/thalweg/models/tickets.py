"""Tickets: the result of ``Online.ask`` for a row whose label is still to come."""

from typing import Any, NamedTuple

from thalweg.types import Interval

Key = str | int
"""The key under which the label of a waiting row is told."""


class Ticket(NamedTuple):
    """The prediction of a row that waits for its label."""

    prediction: Any  # a number, or (k,) of k targets
    interval: Interval | None  # where one was asked for
    key: Key  # to tell the label by


class TicketCounts(NamedTuple):
    """Numbers of the rows that a model was asked for."""

    asked: int
    answered: int  # their labels were told
    given_up: int  # their labels will not come, or too many rows waited
    waiting: int  # their labels are still to come
