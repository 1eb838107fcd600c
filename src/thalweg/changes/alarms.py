"""A change alarm, as results list it."""

from dataclasses import dataclass

from thalweg import checks
from thalweg.changes.change_words import CHANGE_KINDS


@dataclass(frozen=True)
class ChangeAlarm:
    """A change of the target, or of its relation to a column, that was noticed."""

    row: int  # in which it was noticed, the first row of all being 1
    onset: int  # the estimated row in which it began
    kind: str  # one of CHANGE_KINDS (change_words.py)
    text: str  # what changed, in plain words
    before: float  # the level before the onset
    after: float  # the level from the onset until it was noticed
    time: str | None = None  # of ``row``, where rows have times
    onset_time: str | None = None

    def __post_init__(self) -> None:
        checks.require_choice(self, "kind", CHANGE_KINDS)
