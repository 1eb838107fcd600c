"""The streams of the demonstration: real, drifting, and installed by ``make data``."""

from typing import NamedTuple

from thalweg.lab.datasets import MissingDataError, Task, load

ROUNDS = 6000
"""Of each stream, the last ones: the rivals, in plain Python, take most of the time."""


class Shown(NamedTuple):
    """A stream of the demonstration."""

    name: str  # in evaluation.public
    title: str
    target: str
    features: tuple[str, ...]


STREAMS = (
    Shown(
        "treasury", "US Treasury yields, daily", "10-year yield",
        ("3 months", "1 year", "2 years", "5 years"),
    ),
    Shown(
        "flights", "Flights from New York, as they land", "arrival delay",
        (
            "departure delay", "distance", "from JFK", "from LGA", "United", "JetBlue",
            "ExpressJet", "Delta", "hour, sine", "hour, cosine",
        ),
    ),
)  # fmt: skip


def available() -> tuple[dict[Shown, Task], list[str]]:
    """The streams that are installed, and a sentence about each that is not."""
    found, missing = {}, []
    for shown in STREAMS:
        try:
            found[shown] = load(shown.name)
        except MissingDataError as error:
            missing.append(str(error))
    return found, missing
