from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
import pytest

import thalweg as tw
from tests.persistence.test_round_trip import is_identical
from thalweg.errors import PersistenceError
from thalweg.persistence import SavedModel, dumps, loads
from thalweg.persistence.snapshots import Component, StateOf
from thalweg.rules import (
    Array,
    Condition,
    Count,
    Number,
    OneOf,
    restore_snapshot,
    validate_snapshot,
)
from thalweg.types import FloatArray

RLS = tw.RecursiveLeastSquares()


class Inner(NamedTuple):
    """A component's state."""

    sums: FloatArray
    count: int = 0


class Counted(NamedTuple):
    """A component's state with a rule."""

    sums: Annotated[FloatArray, Array(("count",))]
    count: int = 0


class Outer(NamedTuple):
    """A snapshot of several components."""

    inner: Inner
    state: Any
    parts: tuple[Inner, ...]
    name: str
    ratio: float
    flag: bool
    perhaps: int | None
    choice: Literal["a", "b"]


SNAPSHOT = Outer(
    Inner(np.array([1.0, 2.0]), 3), RLS.init(np.zeros(2)), (Inner(np.zeros(1)),),
    "name", 0.5, True, None, "b",
)  # fmt: skip


def through_a_file(value):
    saved = SavedModel(RLS, tw.SquaredError(), None, {"snapshot": value})
    return loads(dumps(saved)).extra["snapshot"]


def test_a_snapshot_comes_back_from_a_file_as_it_was():
    for snapshot in (SNAPSHOT, SNAPSHOT._replace(perhaps=4, parts=())):
        restored = restore_snapshot(Outer, through_a_file(snapshot))
        assert type(restored) is Outer and type(restored.inner) is Inner
        assert is_identical(restored, snapshot)


def test_an_array_comes_back_in_the_order_that_kernels_ask_for():
    value = {"sums": np.asfortranarray(np.ones((2, 3)))}
    assert restore_snapshot(Inner, value).sums.flags.c_contiguous


def test_a_field_that_came_later_has_its_default():
    value = through_a_file(SNAPSHOT)
    del value["inner"]["count"]
    assert restore_snapshot(Outer, value).inner.count == 0


@pytest.mark.parametrize(
    ("place", "wrong"),
    [
        (("inner", "sums"), np.zeros(2, np.float32)), (("inner", "sums"), None),
        (("inner", "sums"), np.zeros(2, bool)), (("inner", "sums"), 0.0),
        (("inner", "sums"), np.array(0.0)),
        (("inner", "count"), -1), (("inner", "count"), True), (("inner", "count"), 1.0),
        (("inner", "count"), 2**53 + 1), (("inner",), (1, 2)), (("inner",), None),
        (("name",), 1), (("ratio",), 1), (("ratio",), np.float64(1)), (("flag",), 1),
        (("flag",), None), (("perhaps",), -1), (("perhaps",), "x"), (("choice",), "c"),
        (("choice",), None), (("parts",), [1, 2]), (("parts",), (1,)),
        (("parts",), ({"sums": 1},)),
    ],
)  # fmt: skip
def test_a_value_of_another_type_is_refused_by_the_name_of_its_field(place, wrong):
    value = through_a_file(SNAPSHOT)
    at = value
    for name in place[:-1]:
        at = at[name]
    at[place[-1]] = wrong
    with pytest.raises(PersistenceError, match=rf"its 'run\.{'.'.join(place)}"):
        restore_snapshot(Outer, value, "run")


@pytest.mark.parametrize("name", ["inner", "state", "flag"])
def test_a_field_that_is_lost_or_unknown_is_named(name):
    value = through_a_file(SNAPSHOT)
    with pytest.raises(PersistenceError, match="its 'run.other' is no field of Outer"):
        restore_snapshot(Outer, {**value, "other": 1}, "run")
    del value[name]
    with pytest.raises(PersistenceError, match=f"it comes without 'run.{name}'"):
        restore_snapshot(Outer, value, "run")


@pytest.mark.parametrize(
    ("rule", "name"),
    [
        ({"inner": {"sums": Array((3,))}}, "inner.sums"),
        ({"inner": {"sums": Array((2,), high=1.0)}}, "inner.sums"),
        ({"inner": {"count": Count(2)}}, "inner.count"),
        ({"state": StateOf(tw.SlidingWindow(3), 2)}, "state"),
        ({"ratio": Number(0.0, 0.25)}, "ratio"),
        ({"perhaps": {"count": Count()}}, "perhaps"),
        ({"parts": ()}, "parts"),
        ({"parts": ({"sums": Array((2,))},)}, r"parts\[0\].sums"),
        ({"name": Condition(False, "another")}, "name"),
    ],
)
def test_a_rule_that_is_broken_is_named_by_its_field(rule, name):
    with pytest.raises(PersistenceError, match=f"its 'run.{name}'"):
        validate_snapshot(rule, SNAPSHOT, "run")


def test_rules_of_fields_are_obeyed_together():
    rule = {
        "inner": {"sums": Array((2,)), "count": Count(3)},
        "state": StateOf(RLS, 2),
        "parts": ({"count": OneOf((0,))},),
    }
    validate_snapshot(rule, SNAPSHOT)


RIGHT_AND_WRONG = [
    (Count(3), [0, 3], [4, -1, 1.0, None]),
    (Number(0.0), [0.0, 1e300], [-1.0, np.nan, np.inf, 1]),
    (Number(-1.0, 2.0), [-1.0, 2.0], [-1.1, 2.1]),
    (Number(may_be_nan=True), [np.nan, -1.0], [np.inf, None]),
    (
        Array((None, 2)),
        [np.zeros((0, 2)), np.ones((5, 2))],
        [np.ones(2), np.ones((5, 3)), np.full((1, 2), np.nan), 0.0],
    ),
    (Array((1,), may_be_nan=True), [np.array([np.nan])], [np.array([np.nan, 1.0])]),
    (
        Array((2,), 0.0, 9.0, whole=True),
        [np.array([0.0, 9.0])],
        [np.array([0.0, 9.5]), np.array([-1.0, 0.0]), np.array([0.0, 10.0])],
    ),
    (OneOf(("a", 1, False)), ["a", 1, False], ["b", True, 0, None]),
    (Condition(True, "right"), [None, 5], []),
    (Condition(False, "right"), [], [None, 5]),
    ((Count(), Number()), [(1, 2.0)], [(1,), (1, 2), (1, 2.0, 3)]),
    (StateOf(RLS, 2), [RLS.init(np.zeros(2))], [RLS.init(np.zeros(3)), None, 1.0]),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "right", "wrong"), RIGHT_AND_WRONG)
def test_rules_say_more_than_a_type_can(rule, right, wrong):
    for value in right:
        validate_snapshot(rule, value, "field")
    for value in wrong:
        with pytest.raises(PersistenceError, match="its 'field"):
            validate_snapshot(rule, value, "field")


class Counter(Component):
    """A component with an array."""

    Snapshot = Counted

    def __init__(self):
        self.sums = np.zeros(0)
        self.count = 0


class Counters(NamedTuple):
    """All that changes in a component of components."""

    first: Counted
    others: tuple[Counted, ...]


class Pair(Component):
    """A component of components."""

    Snapshot = Counters

    def __init__(self):
        self.first = Counter()
        self.others = [Counter(), Counter()]


def test_components_are_restored_through_all_levels():
    pair = Pair()
    pair.others[1].sums, pair.others[1].count = np.ones(2), 2
    value, other = through_a_file(pair.snapshot()), Pair()
    other.restore(restore_snapshot(Counters, value))
    assert is_identical(other.snapshot(), pair.snapshot())


def test_a_rule_of_a_component_within_names_the_whole_path():
    snapshot = Pair().snapshot()
    wrong = snapshot._replace(others=(snapshot.first, Counted(np.ones(1))))
    with pytest.raises(PersistenceError, match=r"its 'run.others\[1\].sums' must be 0"):
        Pair().restore(wrong, "run")
    with pytest.raises(PersistenceError, match=r"its 'run.others' must be 2 parts"):
        Pair().restore(snapshot._replace(others=()), "run")
