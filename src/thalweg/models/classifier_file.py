"""``Classifier`` in a file: the background model as ``Online`` saves it, and classes.

docs/file-format.md, "What Classifier saves".
"""

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from thalweg import models, persistence
from thalweg.errors import PersistenceError
from thalweg.persistence.snapshots import StateOf
from thalweg.rules import Condition, restore_snapshot, validate_snapshot

if TYPE_CHECKING:
    from thalweg.models.model_file import ModelFileContents

FIELD = "classifier"
"""The name in a file's ``extra`` by which it is a file of ``Classifier``."""


class ClassifierRecord(NamedTuple):
    """What a file holds beside the background model."""

    labels: Any  # in the order in which they first appeared
    states: Any  # of the learner, one for each label; None before the first round


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
    try:
        record = restore_snapshot(ClassifierRecord, saved.extra[FIELD], FIELD)
        _check_record(record, background, max_classes)
    except PersistenceError as error:
        raise PersistenceError(f"{path} cannot be loaded: {error}.") from None
    return ClassifierFileContents(background, record.labels, record.states)


def _check_record(
    record: ClassifierRecord, background: "ModelFileContents", max_classes: int
) -> None:
    labels, states = record
    is_list = type(labels) is tuple and all(map(_is_storable, labels))
    is_legal = is_list and len(set(labels)) == len(labels) <= max_classes
    validate_snapshot(
        Condition(is_legal, f"at most {max_classes} different labels"),
        labels,
        f"{FIELD}.labels",
    )
    start = background.snapshot.state
    is_legal = type(states) is tuple and len(states) == len(labels)
    if start is None:  # classes that were added before the first round
        is_legal = is_legal and all(state is None for state in states)
    validate_snapshot(
        Condition(is_legal, "one state for each label"), states, f"{FIELD}.states"
    )
    for k, state in enumerate(states if start is not None else ()):
        rule = StateOf(background.settings.learner, len(start.theta))
        validate_snapshot(rule, state, f"{FIELD}.states[{k}]")


def _is_storable(label: Any) -> bool:
    """Whether a file can hold this label, and give back one that is equal."""
    if type(label) is tuple:
        return all(map(_is_storable, label))
    return type(label) in (bool, int, float, str) and label == label
