"""Rules beside the fields of records: expressions of other fields and of a scope."""

from types import SimpleNamespace
from typing import Annotated, Any, NamedTuple

import numpy as np
import pytest

from thalweg.errors import PersistenceError
from thalweg.rules import (
    Array,
    Condition,
    Count,
    Given,
    Number,
    OneOf,
    obeys,
    restore_snapshot,
    validate_snapshot,
)
from thalweg.types import FloatArray

LIMIT = 9


class Part(NamedTuple):
    """A record within another."""

    values: Annotated[FloatArray, Array(("rows", "width"), 0.0, "LIMIT", whole=True)]
    seen: Annotated[int, Count("rows", "min(1, rows)")] = 0


LABEL = Condition("label is None or rows", "None at first")


class Whole(NamedTuple):
    """A record whose rules name its fields, in any order, and a scope."""

    part: Annotated[Part, Given(width="columns + 1")]
    rows: int
    ratio: Annotated[float, Number(0.0, "rows")]
    parts: tuple[Part, ...] = ()
    label: Annotated[
        str | None, Condition("label is None or rows", "None at first")
    ] = None
    other: Annotated[Any, "OneOf((0,)) if rows else OneOf((1,))"] = 0
    maybe: Annotated[int, Count("rows")] | None = None

    def is_small(self) -> bool:
        """Methods of a record can be named as well."""
        return self.rows < LIMIT


SCOPE = (SimpleNamespace(columns=1, width=3),)
RECORD = Whole(Part(np.ones((2, 2)), 1), 2, 2.0)


def test_names_are_those_of_fields_then_of_the_scope():
    restored = restore_snapshot(Whole, RECORD._asdict(), "run", SCOPE)
    assert type(restored.part) is Part and restored.rows == 2
    wider = RECORD._replace(parts=(Part(np.ones((2, 3)), 2),))
    assert obeys(Whole, wider, SCOPE)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"part": Part(np.ones((2, 3)), 1)}, "'run.part.values' must be 2×2 finite"),
        ({"part": Part(np.full((2, 2), 10.0), 1)}, "'run.part.values' .* from 0 to 9"),
        ({"part": Part(np.ones((2, 2)), 0)}, "'run.part.seen' .* from 1 to 2"),
        ({"parts": (Part(np.ones((2, 2)), 1),)}, r"'run.parts\[0\].values' .* 2×3"),
        ({"ratio": 2.5}, "its 'run.ratio' must be a float .* at most 2. Got 2.5"),
        ({"rows": 0, "ratio": 0.0, "part": Part(np.ones((0, 2))), "label": "a"},
         "its 'run.label' must be None at first"),
        ({"other": 1}, "its 'run.other' must be one of 0"),
        ({"maybe": 3}, "its 'run.maybe' must be a whole number from 0 to 2"),
        ({"rows": 2.0}, "its 'run.rows' must be a whole number"),
    ],
)  # fmt: skip
def test_a_broken_rule_is_named_by_its_field_with_the_value(change, message):
    with pytest.raises(PersistenceError, match=message):
        restore_snapshot(Whole, RECORD._replace(**change), "run", SCOPE)


def test_without_a_scope_only_types_and_constant_rules_are_asked_for():
    wrong = RECORD._replace(ratio=5.0)
    assert restore_snapshot(Whole, wrong) == wrong
    with pytest.raises(PersistenceError, match="'ratio'"):
        validate_snapshot(Whole, wrong, "", SCOPE)


def test_a_name_that_nobody_has_is_a_mistake_of_the_rule():
    with pytest.raises(NameError, match="'columns' in the rule 'columns \\+ 1'"):
        restore_snapshot(Whole, RECORD, "run", ())


def test_methods_and_generators_can_be_in_expressions():
    text = "is_small() and all(one < rows for one in (0, 1))"
    validate_snapshot(Condition(text, "small"), RECORD, "run", (RECORD,))
    validate_snapshot(OneOf((2,)), RECORD.rows)
