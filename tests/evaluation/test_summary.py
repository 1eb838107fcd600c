import re
from dataclasses import replace

import numpy as np
import pytest

from tests.report import example_studies
from thalweg.evaluation.study import Entry, RegretEntry
from thalweg.evaluation.summary import summary

RUNNING = example_studies.entries()[0].cumulative


def entry(name, role, squared, discount=None):
    return Entry(name, role, squared, squared**0.5, RUNNING, discount)


def errors(tracker=0.71, fixed=0.77, keeping=1.24, persistence=1.0, **changes):
    entries = (
        entry("Tracker", "tracker", tracker),
        entry("RLS, γ = 0.98", "fixed", fixed, 0.98),
        entry("RLS, γ = 1", "fixed", keeping, 1.0),
        entry("persistence", "persistence", persistence),
    )
    return example_studies.full(**({"entries": entries} | changes))


def changes_of(study):
    """The sentence after the headline."""
    return summary(study)[1]


def text_of(study):
    return " ".join(summary(study))


def test_the_second_sentence_counts_changes_and_says_what_forgetting_saves():
    study = errors(
        history=example_studies.tracker_history(alarms=range(400, 3000, 400))
    )
    assert changes_of(study) == (
        "7 changes were seen in 3,000 rows, the last at row 2,800: level fell "
        "by 90 %, from 100 to 10; forgetting saves 38 % (discount 0.98 against none)."
    )


def test_one_change_is_named_and_none_too():
    one = errors(history=example_studies.tracker_history(alarms=[1234]))
    assert changes_of(one).startswith(
        "One change was seen, at row 1,234: level fell by 90 %, from 100 to 10; "
    )
    none = errors(history=example_studies.tracker_history(alarms=[]))
    assert changes_of(none).startswith("No change of the target was found; ")
    few = replace(none, rounds=96)
    assert changes_of(few).startswith(
        "No change of the target was found (among 96 rows only large ones can be); "
    )


@pytest.mark.parametrize("fixed", [1.235, 2.0])
def test_where_forgetting_does_not_pay_that_comes_first(fixed):
    history = example_studies.tracker_history(alarms=range(400, 3000, 400))
    first = changes_of(errors(fixed=fixed, history=history))
    assert first.startswith("Forgetting ")
    assert first.endswith(" the last at row 2,800: level fell by 90 %, from 100 to 10.")


def test_the_last_of_several_changes_is_named():
    first = changes_of(
        errors(history=example_studies.tracker_history(alarms=[400, 900, 1900, 2600]))
    )
    assert first.startswith(
        "4 changes were seen in 3,000 rows, the last at row 2,600: "
    )


def test_the_largest_change_is_told_where_it_is_not_the_last():
    history = example_studies.tracker_history(alarms=[400, 900, 1900])
    first, second, third = history.alarms
    second = replace(second, before=200.0, text="level fell by 95 %, from 200 to 10")
    third = replace(third, kind="variance", text="variance fell to 0.66 of what it was")
    told = changes_of(errors(history=replace(history, alarms=(first, second, third))))
    assert told.startswith(
        "3 changes were seen in 3,000 rows, the last at row 1,900: variance fell to "
        "0.66 of what it was, the largest at row 900: level fell by 95 %, from 200 to "
        "10"
    )


def test_a_change_is_named_by_its_date_where_rows_have_one():
    history = example_studies.tracker_history(alarms=[1234])
    (alarm,) = history.alarms
    dated = replace(history, alarms=(replace(alarm, onset_time="2024-05-01"),))
    assert changes_of(errors(history=dated)).startswith(
        "One change was seen, at row 1,234 (2024-05-01): level fell"
    )


def test_alarms_that_are_not_listed_count():
    history = replace(
        example_studies.tracker_history(alarms=[400, 2600]), total_alarms=30
    )
    assert changes_of(errors(history=history)).startswith(
        "30 changes were seen in 3,000 rows, the last at row 2,600: "
    )


@pytest.mark.parametrize(
    ("tracker", "words"), [(0.034, "0.034 of"), (0.0021, "less than 0.01 of")]
)
def test_a_small_part_is_never_zero(tracker, words):
    assert f"squared error is {words} persistence's" in text_of(errors(tracker=tracker))


@pytest.mark.parametrize(
    ("fixed", "words"),
    [
        (0.99, "forgetting saves 20 %"),
        (1.235, "forgetting changes little"),
        (1.25, "forgetting changes little"),
        (2.0, "forgetting does not pay: to remember everything is better"),
        (np.inf, "forgetting does not pay"),
    ],
)
def test_forgetting_is_judged_by_the_best_fixed_discount(fixed, words):
    assert words in changes_of(errors(fixed=fixed)).lower()


def test_without_a_history_the_second_sentence_is_on_forgetting_alone():
    first = changes_of(errors(history=None))
    assert first == "Forgetting saves 38 % (discount 0.98 against none)."


def test_the_tracker_is_compared_with_persistence_and_the_best_fixed_setting():
    assert (
        "The Tracker's squared error is 0.71 of persistence's and 0.92 of that of "
        "RLS, γ = 0.98, the best fixed setting in hindsight. No other of the 4 "
        "learners has a smaller error."
    ) in text_of(errors())


def test_where_persistence_wins_the_summary_names_it():
    words = text_of(errors(tracker=1.3, fixed=1.5))
    assert "is 1.30 times persistence's" in words
    assert "here persistence, which says again what it last saw, is better" in words
    assert "The least error of all 4 learners is that of persistence, 0.77 of" in words


def test_where_another_learner_wins_it_is_named():
    words = text_of(errors(fixed=0.5))
    assert "is that of RLS, γ = 0.98, 0.70 of the Tracker's." in words


def test_a_victory_by_a_hair_is_called_so():
    words = text_of(errors(fixed=0.708))
    assert "is that of RLS, γ = 0.98, if only by 0.3 %." in words
    assert "about that of RLS, γ = 0.98" in words
    assert "by less than 0.1 %" in text_of(errors(fixed=0.7099))


@pytest.mark.parametrize(
    "make",
    [
        example_studies.full,
        example_studies.bare,
        example_studies.hostile,
        example_studies.poor,
    ],
)
def test_persistence_is_always_named(make):
    assert "ersistence" in text_of(make())


def test_a_study_in_which_nothing_was_scored_says_so():
    (only,) = summary(errors(scored_rounds=0))
    assert only.startswith("No row was scored") and "persistence" in only


def test_persistence_without_error_cannot_be_beaten():
    assert "cannot be beaten" in text_of(errors(persistence=0.0))
    assert "not a number" in text_of(errors(tracker=float("nan")))


def test_memory_is_given_in_round_numbers():
    steady = replace(
        example_studies.tracker_history(),
        memory=example_studies.curve(np.full(3000, 283.0)),
    )
    assert "Typically about the last 280 rows count." in text_of(errors(history=steady))
    wide = replace(
        example_studies.tracker_history(),
        memory=example_studies.curve(np.geomspace(10, 1000, 3000)),
    )
    assert "the last 100 rows count, between 16 and 630 most of the time." in text_of(
        errors(history=wide)
    )
    short = replace(
        example_studies.tracker_history(), memory=example_studies.curve(np.ones(3000))
    )
    assert "Typically only the last row counts." in text_of(errors(history=short))


def test_a_season_is_mentioned_only_where_its_experts_have_weight():
    assert "It sees a season of 12 rows." in text_of(errors())
    weights = {
        "level": example_studies.curve(np.ones(3000)),
        "season": example_studies.curve(np.zeros(3000)),
    }
    unweighted = replace(example_studies.tracker_history(), weights=weights)
    assert "season" not in text_of(errors(history=unweighted))
    none = replace(example_studies.tracker_history(), season=1)
    assert "season" not in text_of(errors(history=none))


def test_intervals_are_judged_at_ninety_per_cent():
    assert "Its 90 % intervals held the value 91 % of the time." in text_of(errors())


@pytest.mark.parametrize(
    ("regrets", "words"),
    [
        ([(1.0, 2.0)], "The regret that has a bound stays below it."),
        ([(1.0, 2.0), (1.0, 3.0), (9.0, None)], "All 2 regrets that have a bound"),
        ([(1.0, 2.0), (4.0, 3.0)], "1 of 2 measured regrets exceed their bounds."),
    ],
)
def test_bounds_that_hold_and_bounds_that_do_not(regrets, words):
    rows = tuple(RegretEntry("x", "static", *pair) for pair in regrets)
    assert words in text_of(errors(regrets=rows))


def test_no_sentence_has_a_float_of_many_digits():
    assert not re.search(r"\d\.\d{3,}", text_of(example_studies.full()))


def with_baselines(tracker, persistence=4.0, **others):
    """A study whose errors are, up to a square, these mean absolute ones."""
    descriptions = {"week": "repeating the same hour last week"}
    simple = (
        Entry(
            name, "baseline", size**2, size, RUNNING, None, descriptions.get(name, name)
        )
        for name, size in others.items()
    )
    entries = (
        Entry("Tracker", "tracker", tracker**2, tracker, RUNNING),
        Entry("persistence", "persistence", persistence**2, persistence, RUNNING, None,
              "repeating the last value"),
        *simple,
    )  # fmt: skip
    return example_studies.full(entries=entries)


@pytest.mark.parametrize(
    ("tracker", "words"),
    [
        (31.0, "is 31, half of what repeating the same hour last week gives (the best "
               "of three simple methods)."),
        (0.62, "is 0.62, 1 % of what"),
        (0.0062, "is 0.0062, less than 1 % of what"),
        (38.4, "is 38, 62 % of what"),
        (20.5, "is 20, a third of what"),
        (62.2, "is 62, about what repeating"),
    ],
)  # fmt: skip
def test_the_headline_is_the_typical_error_beside_the_best_simple_method(
    tracker, words
):
    study = with_baselines(tracker, persistence=90.0, week=62.0, drift=91.0)
    assert words in summary(study)[0]


def test_who_loses_against_a_simple_method_is_told_so():
    study = with_baselines(1234.0, persistence=1300.0, week=900.0)
    assert summary(study)[0] == (
        "The Tracker's typical error is 1,234. Repeating the same hour last week, the "
        "best of two simple methods, is better here: 900."
    )
    assert ": here week, repeating the same hour last week, is better" in text_of(study)


def test_a_method_without_any_error_cannot_be_beaten():
    study = with_baselines(2.0, persistence=1300.0, week=0.0)
    assert summary(study)[0].endswith("is better here: 0.")
    assert "week makes no error at all and cannot be beaten." in text_of(study)
    both = with_baselines(0.0, persistence=1300.0, week=0.0)
    assert "is 0, about what repeating the same hour" in summary(both)[0]


def test_persistence_alone_is_no_best_of_several():
    first = summary(errors())[0]
    assert first.endswith(" of what persistence gives.") and "best of" not in first
