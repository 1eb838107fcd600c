"""The streams of the demonstration: real, drifting, and installed by ``make data``."""

from typing import NamedTuple

from thalweg.lab.datasets import MissingDataError, PublicStream, load_stream

DEMO_ROUNDS = 6000
"""Of each stream the last ones: other libraries' loops, in Python, take most time."""


class DemoStream(NamedTuple):
    """A stream of the demonstration, and its names for readers."""

    name: str  # in datasets.PUBLIC_STREAMS
    title: str
    target: str
    features: tuple[str, ...]


DEMO_STREAMS = (
    DemoStream(
        "treasury", "US Treasury yields, daily", "10-year yield",
        ("3 months", "1 year", "2 years", "5 years"),
    ),
    DemoStream(
        "flights", "Flights from New York, as they land", "arrival delay",
        (
            "departure delay", "distance", "from JFK", "from LGA", "United", "JetBlue",
            "ExpressJet", "Delta", "hour, sine", "hour, cosine",
        ),
    ),
)  # fmt: skip


def load_demo_streams() -> tuple[dict[DemoStream, PublicStream], list[str]]:
    """The streams that are installed, and a sentence about each that is not."""
    streams, missing = {}, []
    for demo in DEMO_STREAMS:
        try:
            streams[demo] = load_stream(demo.name)
        except MissingDataError as error:
            missing.append(str(error))
    return streams, missing
