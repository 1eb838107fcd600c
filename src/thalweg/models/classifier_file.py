"""``Classifier`` in a file: the background model as ``Online`` saves it, and classes.

docs/file-format.md, "What Classifier saves".
"""

import os
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from thalweg import models, persistence
from thalweg.errors import PersistenceError
from thalweg.persistence.snapshots import StateOf
from thalweg.rules import Condition, OneOf, restore_snapshot

if TYPE_CHECKING:
    from thalweg.models.model_file import ModelFileContents

FIELD = "classifier"
"""The name in a file's ``extra`` by which it is a file of ``Classifier``."""


STORABLE = Condition("all(map(_is_storable, labels))", "labels that a file can hold")
DIFFERENT = Condition(
    "len({*labels}) == len(labels) <= max_classes", "different labels"
)


class ClassifierRecord(NamedTuple):
    """What a file holds beside the background model."""

    # In the order in which they first appeared.
    labels: Annotated[tuple[Any, ...], STORABLE, DIFFERENT]
    # Of the learner, one for each label; None before the first round.
    states: Annotated[tuple[Any, ...], "(state_rule,) * len(labels)"]


class ClassifierFileContents(NamedTuple):
    """All that a file holds of a ``Classifier``."""

    background: "ModelFileContents"
    labels: tuple[Any, ...]
    states: tuple[Any, ...]


def write_classifier(
    path: str | os.PathLike[str], classifier: ClassifierFileContents
) -> None:
    """Save the classifier to a file."""
    background, labels, states = classifier
    for label in labels:
        if not _is_storable(label):
            raise PersistenceError(
                f"The classifier cannot be saved: a file holds labels that are text, "
                f"numbers, truth values or tuples of them. Got {label!r:.80} instead."
            )
    models.model_file.write_model(
        path, background, {FIELD: ClassifierRecord(labels, states)}
    )


def read_classifier(
    path: str | os.PathLike[str], max_classes: int
) -> ClassifierFileContents:
    """The classifier in a file; ``PersistenceError`` where any of it is wrong."""
    saved = persistence.load(path)
    if FIELD not in saved.extra:
        raise PersistenceError(f"{path} holds no Classifier.")
    background = models.model_file.decode_model(path, saved)
    start = background.snapshot.state
    state_rule: OneOf | StateOf = OneOf((None,))
    if start is not None:  # else classes were added before the first round
        state_rule = StateOf(background.settings.learner, len(start.theta))
    own = SimpleNamespace(max_classes=max_classes, state_rule=state_rule)
    try:
        record = restore_snapshot(ClassifierRecord, saved.extra[FIELD], FIELD, (own,))
    except PersistenceError as error:
        raise PersistenceError(f"{path} cannot be loaded: {error}.") from None
    return ClassifierFileContents(background, record.labels, record.states)


def _is_storable(label: Any) -> bool:
    """Whether a file can hold this label, and give back one that is equal."""
    if type(label) is tuple:
        return all(map(_is_storable, label))
    return type(label) in (bool, int, float, str) and label == label
