"""Which targets are classified, by their first rows, and what is refused."""

import pytest

from thalweg.errors import PersistenceError, StreamError
from thalweg.tables.cells import PythonCells
from thalweg.tables.chunk import Chunk
from thalweg.tables.class_labels import (
    LOOK_ROWS,
    MAX_CLASSES,
    ClassLabels,
    decide_task,
    encode_classes,
    validate_class_labels,
)


def chunk(values, name="y"):
    return Chunk("f.csv", 0, {name: PythonCells(values)}, lambda i: i + 2)


def decided(values, task="auto"):
    return decide_task(chunk(values), ("y",), task)


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        (["0", "1", "", "1", "0"] * 4, ("0", "1")),
        ([1, 0, None, 1.0, 0] * 4, ("0", "1")),
        (["TRUE", "false", "NA"] * 8, ("false", "true")),
        ([True, False] * 8, ("false", "true")),
    ],
)
def test_zero_and_one_only_are_classified(values, labels):
    (found,) = decided(values)
    assert found == ClassLabels("y", labels, True, 2)
    assert "--regress to predict it as a number" in found.sentence()
    assert decided(values, "regress") == ()


@pytest.mark.parametrize(
    "values",
    [
        ["0", "1", "0"],  # too few to tell
        ["0"] * 30,  # one of the two
        ["0", "1", "2"] * 10,
        ["0.5", "1"] * 10,
        [""] * 30,
        ["2024-01-01", "2024-01-02"] * 10,
        ["12", "n.a.", "13"] * 10,  # a number with a mistake, which is refused later
        ["1,5", "2,5"] * 10,
        ["1.09M", "950K", "", "$2M"] * 10,
        ["1,5K", "2 M"] * 10,
    ],
)
def test_all_else_is_a_number_unless_it_is_asked_for(values):
    assert decided(values) == ()
    if any(values):
        (found,) = decided(values, "classify")
        assert found.target == "y"


def test_text_is_classified_and_numbered_in_order_of_appearance():
    values = ["b", "", "a", " b ", "c"] * 10
    (found,) = decided(values)
    assert found == ClassLabels("y", (), False, 3)
    (after,), encoded = encode_classes((found,), chunk(values))
    assert after.labels == ("b", "a", "c")
    expected = [0.0, None, 1.0, 0.0, 2.0]
    numbers = encoded.numbers("y")
    assert [None if n != n else n for n in numbers[:5]] == expected
    (later,), encoded = encode_classes((after,), chunk(["d", "a"]))
    assert later.labels == ("b", "a", "c", "d") and later.first_classes == 3
    assert encoded.numbers("y").tolist() == [3.0, 1.0]
    assert after.labels == ("b", "a", "c")  # as it was


@pytest.mark.parametrize("values", [["2B", "3B"], ["1.5K", "2M", "late"]])
def test_names_with_the_letter_of_a_suffix_are_classes(values):
    (found,) = decided(values * 10)
    assert found.first_classes == len(values)


def test_only_the_first_rows_decide():
    (found,) = decided(["0", "1"] * (LOOK_ROWS // 2) + ["2"])
    with pytest.raises(StreamError, match=r"Row 2 \(line 3\).*'y' is 2.0.*--regress"):
        found.encode(chunk(["1", "2"]))
    with pytest.raises(StreamError, match="'y' is 'spam', which is no number"):
        found.encode(chunk(["1", "spam"]))


@pytest.mark.parametrize(
    "values", [[f"n{k}" for k in range(25)], [f"n{k % 51}" for k in range(500)]]
)
def test_identifiers_are_refused_with_advice(values):
    with pytest.raises(StreamError, match=r"different values.*--target NAME"):
        decided(values)


def test_one_class_too_many_is_refused_by_its_row():
    labels = tuple(f"n{k}" for k in range(MAX_CLASSES))
    found = ClassLabels("y", labels, False, 3)
    found.encode(chunk(["n3", "n49"]))
    with pytest.raises(StreamError, match=r"Row 2 .*'late', one class more than"):
        found.encode(chunk(["n3", "late", "n4"]))


def test_targets_of_two_kinds_are_refused_by_name():
    cells = {"y": PythonCells(["0", "1"] * 10), "z": PythonCells([0.5, 7.0] * 10)}
    with pytest.raises(StreamError, match="'y' of f.csv holds classes and 'z' numbers"):
        decide_task(Chunk("f.csv", 0, cells), ("z", "y"))
    assert decide_task(Chunk("f.csv", 0, cells), ("z", "y"), "regress") == ()


@pytest.mark.parametrize(
    "classes",
    [
        ClassLabels("z", ("a",), False, 1),
        ClassLabels("y", ("a", "a"), False, 1),
        ClassLabels("y", ("a",), False, 2),
        ClassLabels("y", ("a", "b"), True, 2),
        ClassLabels("y", tuple(map(str, range(51))), False, 2),
    ],
)
def test_labels_that_no_run_has_left_are_refused(classes):
    with pytest.raises(PersistenceError):
        validate_class_labels((classes,), ("y",), "classes")
