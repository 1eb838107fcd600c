import pytest

import thalweg.report
from tests.report import drawn
from thalweg.evaluation.study import Entry
from thalweg.report.tables import facts, learners

RUNNING = drawn.entries()[0].running


def rows(**errors):
    found = [
        Entry(
            name, "persistence" if name == "naive" else "tracker", error, 1.0, RUNNING
        )
        for name, error in errors.items()
    ]
    return {row["name"]: row for row in learners(drawn.study(entries=tuple(found)))}


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        (0.0, "0"),
        (0.123456, "0.1235"),
        (1234.5, "1,234"),
        (12_345.6, "12,346"),
        (1.5e-7, "1.500e-07"),
        (2e9, "2.000e+09"),
        (float("inf"), "∞"),
        (float("nan"), "not a number"),
    ],
)
def test_numbers_are_short_whatever_their_size(error, shown):
    assert rows(mine=error, naive=1.0)["mine"]["squared"] == shown


def test_a_bar_is_half_as_long_as_its_cell_where_persistence_is_and_never_longer():
    found = rows(half=0.5, twice=9.0, lost=float("nan"), naive=1.0)
    assert [found[name]["bar"] for name in ("half", "naive", "twice", "lost")] == [
        25, 50, 100, 100,
    ]  # fmt: skip


def test_the_least_error_is_the_best_whoever_has_it():
    found = rows(mine=2.0, naive=1.0)
    assert found["naive"]["best"] and not found["mine"]["best"]


def test_facts_name_the_time_where_it_is_known():
    known = dict(facts(drawn.full()))
    assert known["time"] == "2020-01-01 to 2024-05-06"
    assert known["the Tracker took"] == "0.05 s, 60,000 rounds a second"
    assert "time" not in dict(facts(drawn.bare()))
    assert dict(facts(drawn.study(seconds=0.0)))["the Tracker took"] == "no time"


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = thalweg.report.nonsense
