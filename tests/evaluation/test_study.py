import json

import numpy as np
import pytest

from tests.report import example_studies
from thalweg.errors import InvalidParameterError
from thalweg.evaluation.downsampling import Downsampler
from thalweg.evaluation.study import Entry, Mark, RegretEntry, Study


@pytest.mark.parametrize(
    "make", [example_studies.full, example_studies.bare, example_studies.hostile]
)
def test_a_study_survives_json_to_the_last_bit(make):
    study = make()
    text = json.dumps(study.as_dict(), allow_nan=False)
    restored = Study.from_dict(json.loads(text))
    assert json.dumps(restored.as_dict()) == json.dumps(study.as_dict())
    np.testing.assert_array_equal(
        restored.observed.last_round, study.observed.last_round
    )
    assert restored.observed.last_round.dtype == np.int64
    assert restored.features == study.features


def test_what_is_not_finite_survives_json():
    worst = example_studies.entry("exploded", "peer", 1.0, 9)
    worst = Entry("exploded", "peer", float("inf"), float("nan"), worst.cumulative)
    study = example_studies.full(entries=(*example_studies.entries(), worst))
    restored = Study.from_dict(json.loads(json.dumps(study.as_dict(), allow_nan=False)))
    assert restored.entry("exploded").squared == np.inf
    assert np.isnan(restored.entry("exploded").absolute)
    assert np.isnan(restored.hindsight.marks[3].path_length)
    assert restored.ranked_entries()[-1].name == "exploded"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 1}, "its format is 1, not 3"),
        ({"rounds": "many"}, "'many' stands where a int should"),
        ({"rounds": True}, "True stands where a int should"),
        ({"seconds": "fast"}, "'fast' stands where a float should"),
        ({"entries": [{"name": "x"}]}, "'role' is missing"),
        ({"entries": []}, "needs an entry of role 'tracker'"),
        ({"observed": None}, "This is no study"),
        ({"notes": 3}, "This is no study"),
    ],
)
def test_what_is_no_study_is_refused_with_the_reason(change, message):
    with pytest.raises(InvalidParameterError, match=message):
        Study.from_dict(example_studies.bare().as_dict() | change)


@pytest.mark.parametrize("content", [{}, [], None, 3, "study"])
def test_json_of_something_else_is_no_study(content):
    with pytest.raises(InvalidParameterError, match="This is no study"):
        Study.from_dict(content)


def test_entries_are_ranked_by_squared_error():
    study = example_studies.full()
    assert study.ranked_entries()[0] is study.tracker
    assert [entry.name for entry in study.entries_of_role("fixed")] == [
        "RLS, γ = 0.98",
        "RLS, γ = 1",
    ]
    assert study.persistence.role == "persistence"


def test_a_ratio_is_of_squared_errors():
    study = example_studies.full()
    expected = study.tracker.squared / study.persistence.squared
    assert study.ratio("Tracker", "persistence") == expected
    with pytest.raises(InvalidParameterError, match="Got 'nobody' instead"):
        study.ratio("nobody", "persistence")


def test_nothing_over_nothing_is_as_good_and_something_over_it_is_not():
    running = example_studies.entries()[0].cumulative
    zero = Entry("persistence", "persistence", 0.0, 0.0, running)
    same = Entry("Tracker", "tracker", 0.0, 0.0, running)
    worse = Entry("other", "peer", 1.0, 1.0, running)
    study = example_studies.study(entries=(zero, same, worse))
    assert study.ratio("Tracker", "persistence") == 1.0
    assert study.ratio("other", "persistence") == np.inf


def test_two_entries_of_one_name_are_refused():
    first = example_studies.entries()[0]
    with pytest.raises(InvalidParameterError, match="'Tracker' 2 times"):
        example_studies.study(entries=(first, *example_studies.entries()))


def test_curves_that_are_drawn_together_need_the_same_buckets():
    other = Downsampler()
    other.add(np.zeros(10))
    with pytest.raises(InvalidParameterError, match="observed and forecast"):
        example_studies.study(observed=other.curve())
    short = Entry("short", "peer", 1.0, 1.0, other.cumulative())
    with pytest.raises(InvalidParameterError, match="curves of entries"):
        example_studies.study(entries=(*example_studies.entries(), short))


def test_roles_and_kinds_of_regret_are_named_in_their_errors():
    running = example_studies.entries()[0].cumulative
    with pytest.raises(InvalidParameterError, match="'role' parameter of Entry"):
        Entry("x", "hero", 1.0, 1.0, running)
    with pytest.raises(InvalidParameterError, match="'comparator' parameter of Regret"):
        RegretEntry("x", "luck", 1.0, None)


def test_a_study_with_rows_for_alarms_can_be_read_without_them():
    content = example_studies.full().as_dict() | {"format": 2}
    content["history"] |= {"alarms": [700, 1500], "total_alarms": 2}
    study = Study.from_dict(json.loads(json.dumps(content)))
    assert study.history.alarms == () and study.history.alarm_count == 0
    assert study.history.season == 12
    plain = Study.from_dict(example_studies.bare().as_dict() | {"format": 2})
    assert plain.history is None


def test_a_mark_is_plain():
    assert Mark("a", 1.0, 2.0) == Mark("a", 1.0, 2.0)


def test_a_file_from_before_something_was_added_can_be_read():
    content = example_studies.full().as_dict()
    del content["history"]["total_alarms"], content["last_rounds"]
    for name in ("times", "bands", "residuals", "effects"):
        del content[name]
    for entry in content["entries"]:
        del entry["absolute_errors"]
    study = Study.from_dict(content)
    assert study.history.alarm_count == 3 and study.last_rounds is None
    assert study.times is None and study.tracker.absolute_errors is None


def test_a_study_of_before_simple_baselines_loads_and_has_persistence_only():
    content = example_studies.full().as_dict()
    for entry in content["entries"]:
        del entry["description"]
    study = Study.from_dict(content)
    assert study.baselines == (study.persistence,)
    assert study.best_baseline is study.persistence
