from dataclasses import replace

from tests.report import example_studies
from thalweg.report.headline import tiles


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
