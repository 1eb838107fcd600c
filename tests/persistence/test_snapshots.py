from typing import Any, NamedTuple

import numpy as np
import pytest

import thalweg as tw
from tests.persistence.test_round_trip import same
from thalweg.errors import PersistenceError
from thalweg.persistence import Saved, dumps, loads, restore_snapshot
from thalweg.persistence.snapshots import (
    Array,
    Count,
    NoneOr,
    Number,
    OneOf,
    StateOf,
    TupleOf,
)

RLS = tw.RecursiveLeastSquares()


class Inner(NamedTuple):
    """A component's state."""

    sums: Any
    count: int = 0


class Outer(NamedTuple):
    """A snapshot of several components."""

    inner: Inner
    state: Any
    parts: tuple[Any, ...]
    name: str
    ratio: float
    flag: bool
    nothing: None


SNAPSHOT = Outer(
    Inner(np.array([1.0, 2.0]), 3), RLS.init(np.zeros(2)), (1, np.zeros(2, bool)),
    "name", 0.5, True, None,
)  # fmt: skip
TEMPLATE = Outer(
    Inner(np.zeros(2)), RLS, (0, np.ones(2, bool)), "", 0.0, False, None
)  # fmt: skip


def through_a_file(value):
    saved = Saved(RLS, tw.SquaredError(), None, {"snapshot": value})
    return loads(dumps(saved)).extra["snapshot"]


def test_a_snapshot_comes_back_from_a_file_as_it_was():
    restored = restore_snapshot(TEMPLATE, through_a_file(SNAPSHOT))
    assert type(restored) is Outer and type(restored.inner) is Inner
    assert same(restored, SNAPSHOT)


def test_a_field_that_came_later_has_its_default():
    value = through_a_file(SNAPSHOT)
    del value["inner"]["count"]
    assert restore_snapshot(TEMPLATE, value).inner.count == 0


@pytest.mark.parametrize(
    ("place", "wrong"),
    [
        (("inner", "sums"), np.zeros(3)), (("inner", "sums"), np.zeros(2, np.float32)),
        (("inner", "sums"), np.array([0.0, np.nan])), (("inner", "sums"), None),
        (("inner", "count"), -1), (("inner", "count"), True), (("inner", "count"), 1.0),
        (("inner", "count"), 2**53 + 1), (("inner",), (1, 2)), (("state",), None),
        (("state",), tw.SlidingWindow(3).init(np.zeros(2))), (("name",), 1),
        (("ratio",), np.inf), (("ratio",), 1), (("flag",), 1), (("nothing",), 0),
        (("parts",), ()), (("parts",), (1, np.zeros(2))), (("parts",), [1, 2]),
    ],
)  # fmt: skip
def test_what_is_unlike_the_template_is_refused_by_the_name_of_its_field(place, wrong):
    value = through_a_file(SNAPSHOT)
    at = value
    for name in place[:-1]:
        at = at[name]
    at[place[-1]] = wrong
    with pytest.raises(PersistenceError, match=rf"its 'run\.{'.'.join(place)}"):
        restore_snapshot(TEMPLATE, value, "run")


@pytest.mark.parametrize("name", ["inner", "state", "flag"])
def test_a_field_that_is_lost_or_unknown_is_named(name):
    value = through_a_file(SNAPSHOT)
    with pytest.raises(PersistenceError, match="its 'run.other' is no field of Outer"):
        restore_snapshot(TEMPLATE, {**value, "other": 1}, "run")
    del value[name]
    with pytest.raises(PersistenceError, match=f"it comes without 'run.{name}'"):
        restore_snapshot(TEMPLATE, value, "run")


RIGHT_AND_WRONG = [
    (Count(3), [0, 3], [4, -1, 1.0, None]),
    (Number(0.0), [0.0, 1e300], [-1.0, np.nan, np.inf, 1]),
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
    (NoneOr(0), [None, 5], [-1, "x"]),
    (TupleOf(0.0, 1, 2), [(1.0,), (1.0, 2.0)], [(), (1.0,) * 3, (1,), [1.0], None]),
    (StateOf(RLS, 2), [RLS.init(np.zeros(2))], [RLS.init(np.zeros(3)), None, 1.0]),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "right", "wrong"), RIGHT_AND_WRONG)
def test_rules_say_more_than_an_example_can(rule, right, wrong):
    for value in right:
        assert same(restore_snapshot(rule, value, "field"), value)
    for value in wrong:
        with pytest.raises(PersistenceError, match="its 'field"):
            restore_snapshot(rule, value, "field")
