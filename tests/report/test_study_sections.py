import re
from dataclasses import replace

import numpy as np
import pytest

from tests.report import example_studies
from thalweg.evaluation.study import Entry, RegretEntry
from thalweg.report import study_sections
from thalweg.report.charts.study_charts import main_figures
from thalweg.report.error_comparison import GAIN
from thalweg.report.study_sections import BAND, study_section

RUNNING = example_studies.entries()[0].cumulative


def summary(study):
    return study_section(study).summary()


def tiles(study):
    return study_section(study).tiles


def part_of(study, name):
    (part,) = (one for one in study_section(study).folded if one.name == name)
    return part


def facts_of(study):
    return dict(study_section(study).facts)


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
    """The sentence on changes of the target."""
    (found,) = (one for one in summary(study) if one.startswith("What changed: "))
    return found.removeprefix("What changed: ")


def text_of(study):
    return " ".join(summary(study))


def test_changes_are_counted_and_the_newest_are_named():
    study = errors(
        history=example_studies.tracker_history(alarms=range(400, 3000, 400)),
        times=None,
    )
    assert changes_of(study) == (
        "7 changes. The last one, row 2,800: level fell by 90 %, from 100 to 10. "
        "Before that: row 2,400 and row 2,000."
    )
    assert "Forgetting saves 38 % (discount 0.98 against none)." in summary(study)


def test_one_change_is_named_and_none_too():
    one = errors(history=example_studies.tracker_history(alarms=[1234]))
    assert changes_of(one) == (
        "1 change. The last one, 21 February 2020 (row 1,234): level fell by 90 %, "
        "from 100 to 10."
    )
    none = errors(history=example_studies.tracker_history(alarms=[]))
    assert changes_of(none) == "none found. No change of y was found."
    few = replace(none, rounds=96)
    assert changes_of(few).endswith("Among 96 rows only large ones can be.")


def test_the_largest_change_is_told_where_it_is_not_the_last():
    history = example_studies.tracker_history(alarms=[400, 900, 1900])
    first, second, third = history.alarms
    second = replace(second, before=200.0, text="level fell by 95 %, from 200 to 10")
    third = replace(third, kind="variance", text="variance fell to 0.66 of what it was")
    history = replace(history, alarms=(first, second, third))
    assert changes_of(errors(history=history, times=None)).startswith(
        "3 changes. The last one, row 1,900: variance fell to 0.66 of what it was. The "
        "largest, row 900: level fell by 95 %, from 200 to 10."
    )


def test_a_change_is_named_by_its_date_where_rows_have_one():
    history = example_studies.tracker_history(alarms=[1234])
    (alarm,) = history.alarms
    dated = replace(history, alarms=(replace(alarm, onset_time="2024-05-01"),))
    assert changes_of(errors(history=dated)).startswith(
        "1 change. The last one, 1 May 2024 (row 1,234): level fell"
    )


def test_alarms_that_are_not_listed_count():
    history = replace(
        example_studies.tracker_history(alarms=[400, 2600]), total_alarms=30
    )
    assert changes_of(errors(history=history)).startswith("30 changes. The last one, ")


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
    assert words in text_of(errors(fixed=fixed)).lower()


def test_without_a_history_there_is_no_word_on_changes():
    words = text_of(errors(history=None))
    assert "What changed" not in words
    assert "Forgetting saves 38 % (discount 0.98 against none)." in words


def test_the_tracker_is_compared_with_persistence_and_the_best_fixed_setting():
    assert (
        "The Tracker's squared error is 0.71 of persistence's and 0.92 of that of "
        "RLS, γ = 0.98, the best fixed setting in hindsight. No other of the 4 "
        "learners has a smaller error."
    ) in text_of(errors())


def test_where_persistence_wins_the_summary_names_it():
    words = text_of(errors(tracker=1.3, fixed=1.5))
    assert "is 1.30 times persistence's" in words
    assert "here persistence, repeating the last value, is better" in words
    assert "The least error of all 4 learners is that of persistence, 0.77 of" in words


def test_where_another_learner_wins_it_is_named():
    words = text_of(errors(fixed=0.5))
    assert "is that of RLS, γ = 0.98, 0.70 of the Tracker's." in words


def test_a_victory_by_a_hair_is_called_so():
    words = text_of(errors(fixed=0.708))
    assert "is that of RLS, γ = 0.98, if only by 0.28 %." in words
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
    assert only == "No row was scored yet, so that nothing can be said."


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
    assert "should hold 90 % of all values, and held 91 %." in text_of(errors())


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
    assert not re.search(r"\d\.\d{4,}", text_of(example_studies.full()))


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
    ("tracker", "error", "gain"),
    [
        (31.0, "31", "half the error of repeating the same hour last week."),
        (0.62, "0.62", "99 % less error than repeating the same hour last week."),
        (0.0062, "0.0062", "99.9 % less error than repeating the same hour last week."),
        (38.4, "38.4", "38 % less error than repeating the same hour last week."),
        (62.2, "62.2", "as good as repeating the same hour last week."),
        (1234.0, "1,230", "1,900 % more error than repeating"),
    ],
)
def test_the_headline_is_the_typical_error_beside_the_best_simple_method(
    tracker, error, gain
):
    study = with_baselines(tracker, persistence=90.0, week=62.0, drift=91.0)
    words = f"The forecast of y is off by {error} on average: {gain}"
    assert study_section(study).headline.startswith(words)
    assert tile_of(study, GAIN).text == (
        "Repeating the same hour last week was off by 62 on average, the best of 3 "
        "simple methods."
    )


def test_who_loses_against_a_simple_method_is_told_so():
    study = with_baselines(1234.0, persistence=1300.0, week=900.0)
    assert "37 % more error than repeating the same hour last week" in text_of(study)
    assert ": here week, repeating the same hour last week, is better" in text_of(study)


def test_a_method_without_any_error_cannot_be_beaten():
    study = with_baselines(2.0, persistence=1300.0, week=0.0)
    assert "same hour last week makes no error at all here." in summary(study)[0]
    assert "week makes no error at all and cannot be beaten." in text_of(study)
    both = with_baselines(0.0, persistence=1300.0, week=0.0)
    assert "off by 0 on average: as good as repeating the same" in summary(both)[0]


def test_persistence_alone_is_no_best_of_several():
    assert "best of" not in tile_of(errors(), GAIN).text


def tile_of(study, title):
    (found,) = (tile for tile in tiles(study) if tile.title == title)
    return found


def test_how_sure_a_forecast_is_is_the_mean_width_of_bands_of_scored_rows():
    study = example_studies.full()
    assert tile_of(study, BAND).value == "± 2"
    older = replace(study, bands=replace(study.bands, half_width=None))
    assert tile_of(older, BAND).value == "91 % held"  # of a file without the width


def test_values_in_the_first_rows_only_make_no_chart_of_errors_over_time():
    covered = np.full(example_studies.ROUNDS, np.nan)
    covered[:16] = 1.0  # too few for a mean over a window
    made = example_studies.curve(covered)
    study = example_studies.full()
    tracker = replace(study.tracker, absolute_errors=made)
    others = tuple(one for one in study.entries if one is not study.tracker)
    study = replace(
        study,
        bands=replace(study.bands, covered=made),
        entries=(tracker, *others),
    )
    names = [figure.name for figure in main_figures(study)]  # warnings are errors
    assert "coverage" not in names and "error" not in names


def with_mean_errors(own, other):
    """A study with these (mean squared, mean absolute) errors."""
    study = example_studies.bare()
    tracker, persistence = study.entries
    names = ("squared", "absolute")
    return replace(
        study,
        entries=(
            replace(tracker, **dict(zip(names, own, strict=True))),
            replace(persistence, **dict(zip(names, other, strict=True))),
        ),
    )


def test_where_squared_errors_compare_otherwise_the_page_says_both():
    tile = tile_of(with_mean_errors((144.0, 9.0), (100.0, 10.0)), GAIN)
    assert tile.value == "10 % less error"
    assert tile.text.endswith(
        "Large errors count more in the squared error, by which repeating the last "
        "value is better: the forecast has 20 % more error."
    )
    alike = tile_of(with_mean_errors((81.0, 9.0), (100.0, 10.0)), GAIN)
    assert "squared" not in alike.text


def test_errors_that_are_not_numbers_have_no_squares_to_compare():
    tile = tile_of(with_mean_errors((np.nan, np.nan), (100.0, 10.0)), GAIN)
    assert "squared" not in tile.text


def change_tile(alarms, rows):
    history = example_studies.tracker_history(alarms=alarms)
    study = replace(example_studies.full(history=history), rounds=rows)
    return tiles(study)[-1]


def test_no_alarm_is_no_word_that_nothing_changed():
    assert change_tile([], 3000).text == "No change of y was found."
    assert change_tile([], 3000).value == "none found"


def test_among_few_rows_only_large_changes_are_found():
    assert change_tile([], 96).text == (
        "No change of y was found. Among 96 rows only large ones can be."
    )


def headline_after(kind, before, after):
    (alarm,) = example_studies.tracker_history(alarms=[1234]).alarms
    alarm = replace(alarm, kind=kind, before=before, after=after, onset_time=None)
    history = replace(example_studies.tracker_history(alarms=[1]), alarms=(alarm,))
    return study_section(example_studies.full(history=history)).headline


def test_a_large_change_of_the_level_is_in_the_headline():
    sentence = headline_after("level", 100.0, 10.0)
    assert " Its level fell by 90 %, from 100 to 10 (" in sentence
    assert "Its level" not in headline_after("level", 100.0, 90.0)
    assert "Its level" not in headline_after("variance", 100.0, 10.0)


def change_table_of(study):
    return part_of(study, "changes").table


def study_with(*alarms):
    history = example_studies.tracker_history(alarms=())
    return example_studies.full(history=replace(history, alarms=alarms))


def test_changes_are_listed_the_newest_first():
    table = change_table_of(study_with(*map(example_studies.alarm, (400, 1900))))
    assert [one.name for one in table.columns] == ["row", "noticed", "change"]
    assert [row[:2] for row in table.texts()] == [("1,900", "1,905"), ("400", "405")]
    assert table.rows[0][2] == "level fell by 90 %, from 100 to 10"


def test_times_come_first_where_rows_have_any():
    dated = replace(example_studies.alarm(400), onset_time="2024-05-01T00:00:00")
    later = replace(example_studies.alarm(900), onset_time="2024-05-03T10:20:00")
    table = change_table_of(study_with(dated, later))
    assert [row[0] for row in table.rows] == ["2024-05-03 10:20:00", "2024-05-01"]


def test_only_the_newest_are_listed_and_all_are_counted(monkeypatch):
    monkeypatch.setattr(study_sections, "SHOWN_CHANGES", 2)
    table = change_table_of(study_with(*map(example_studies.alarm, (400, 900, 1900))))
    assert len(table.rows) == 2 and table.caption.endswith("The last 2 of 3.")


def test_there_is_a_table_only_where_something_changed():
    assert part_of(study_with(example_studies.alarm(400)), "changes").has_content()
    assert not part_of(study_with(), "changes").has_content()


def test_the_tile_names_the_largest_change_beside_the_last():
    large, small = example_studies.alarm(400), example_studies.alarm(900)
    small = replace(small, text="level fell from 10 to 9", before=10.0, after=9.0)
    tile = next(
        one for one in tiles(study_with(large, small)) if "changed" in one.title
    )
    assert "level fell from 10 to 9. The largest, " in tile.text
    assert "level fell by 90 %" in tile.text
    tile = next(
        one for one in tiles(study_with(small, large)) if "changed" in one.title
    )
    assert "largest" not in tile.text


def table_rows(**errors):
    """The table of learners with these squared errors, by name."""
    entries = [
        Entry(
            name, "persistence" if name == "naive" else "tracker", error, 1.0, RUNNING
        )
        for name, error in errors.items()
    ]
    study = example_studies.study(entries=tuple(entries))
    return part_of(study, "learners").table


def line(table, name):
    """The place of this learner in the table."""
    return [row[0] for row in table.rows].index(name)


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        (0.0, "0"),
        (0.123456, "0.1235"),
        (1234.5, "1,234"),
        (12_345.6, "12,350"),
        (1.5e-7, "1.500e-07"),
        (2e9, "2 billion"),
        (float("inf"), "∞"),
        (float("nan"), "unknown"),
    ],
)
def test_numbers_are_short_whatever_their_size(error, shown):
    table = table_rows(mine=error, naive=1.0)
    assert table.texts()[line(table, "mine")][3] == shown


def test_a_bar_is_half_as_long_as_its_cell_where_persistence_is_and_never_longer():
    table = table_rows(half=0.5, twice=9.0, lost=float("nan"), naive=1.0)
    names = ("half", "naive", "twice", "lost")
    assert [table.bars[line(table, name)] for name in names] == [25, 50, 100, 100]


def test_the_least_error_is_the_best_whoever_has_it():
    table = table_rows(mine=2.0, naive=1.0)
    assert line(table, "naive") == 0 and list(table.badges) == [0]


def test_the_facts_name_the_time_where_it_is_known():
    known = facts_of(example_studies.full())
    assert known["time"] == "1 January 2020, 00:00 to 4 May 2020, 23:00"
    without = facts_of(example_studies.full(times=None))
    assert without["time"] == "2020-01-01T00:00:00 to 2020-05-04T23:00:00"
    assert known["computing time"] == "0.05 s for the forecasts alone"
    assert "time" not in (facts_of(example_studies.bare()))
    assert (facts_of(example_studies.study(seconds=0.0)))["computing time"] == "no time"
