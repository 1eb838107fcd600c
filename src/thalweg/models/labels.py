"""Labels of classes as callers give them: any values that can be the keys of a dict."""

from typing import Any

from thalweg.errors import StreamError
from thalweg.preprocessing.imputer import POLICY_RULES, MissingPolicy

LIST_METHODS = ("to_pylist", "to_list", "tolist")
"""Names of the conversion to a list in pyarrow, in pandas and polars, and in NumPy."""


class MissingLabel:
    """The type of ``MISSING``."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING = MissingLabel()
"""Stands for the label of a round that has none: it is None or NaN."""


def as_label(label: Any, policy: MissingPolicy) -> Any:
    """A label as the key of its class; refused where it can be none."""
    if type(label) is str:
        return label
    if hasattr(label, "dtype") and getattr(label, "shape", None) == ():
        label = label.item()  # a NumPy scalar as the Python number or text that it is
    try:
        hash(label)
    except TypeError:
        raise StreamError(
            "A label must be hashable, such as text, a number or a truth value. "
            f"Got {label!r:.80} instead."
        ) from None
    if not _is_missing(label):
        return label
    if POLICY_RULES[policy].accepts:
        return MISSING
    raise StreamError(
        f"A round needs a label where missing is {policy!r}. Got {label!r} instead."
    )


def as_labels(labels: Any, policy: MissingPolicy) -> list[Any]:
    """The labels of many rounds, as the keys of their classes."""
    for name in LIST_METHODS:
        if hasattr(labels, name):
            labels = getattr(labels, name)()
            break
    if not isinstance(labels, list | tuple):
        raise StreamError(
            "Labels must be a list, an array or a column of them. "
            f"Got {labels!r:.80} instead."
        )
    return [as_label(label, policy) for label in labels]


def _is_missing(label: Any) -> bool:
    try:
        return label is None or bool(label != label)
    except TypeError:  # pandas.NA is neither equal to itself nor not
        return True
