"""Sections on many series: their tables, and the page that begins with them."""

from dataclasses import replace

import numpy as np
import pytest

from tests.report import example_studies
from tests.report.test_forecast_sections import ROWS, result_of
from thalweg.evaluation.keyed_scores import pool_scores
from thalweg.report.forecast_sections import forecast_section
from thalweg.report.keyed_sections import keyed_section, overview_section, rank_results
from thalweg.report.page import write_page
from thalweg.report.study_sections import study_section


def names_of(table):
    return [column.name for column in table.columns]


def test_the_overview_counts_series_and_lists_them():
    hour = np.timedelta64(1, "h")
    results = [result_of(hour, seed=k, key=(f"k{k}",)) for k in range(3)]
    section = overview_section(results, ("site",), "All series")
    ahead, errors = section.tables
    assert names_of(ahead) == [
        "site", "time", "next value", "low", "high", "sum of 6",
    ]  # fmt: skip
    assert [row[0] for row in ahead.rows] == ["k0", "k1", "k2"]
    assert ahead.rows[0][1] == "2024-01-09 08:00"
    assert all(row[3].endswith("error") for row in errors.rows)
    assert "The next values of 3 series" in section.headline


@pytest.mark.parametrize(("rows", "is_scored"), [(8, False), (ROWS, True)])
def test_the_overview_of_many_series_begins_with_a_short_table(rows, is_scored):
    one = result_of(None, count=rows)
    results = [replace(one, key=(f"k{k:02}",)) for k in range(30)]
    section = overview_section(results, ("site",), "All series")
    ahead, *errors = section.tables
    # Rows without times have none; nor have series without a backtest errors.
    assert names_of(ahead)[:2] == ["site", "next value"]
    assert len(errors) == is_scored
    short = ahead.short_version()
    assert [row[0] for row in short.rows][4:6] == ["k04", "k25"]
    assert len(short.rows) == 10 and short.title.endswith(", the best and the worst")
    assert len(ahead.rows) == 30 and section.has_details()
    assert ("None has enough rows" in section.headline) != is_scored


def test_series_are_ranked_the_best_first_and_those_without_errors_last():
    short, long = result_of(None, count=8, key=("a",)), result_of(None, key=("b",))
    assert [one.key for one in rank_results([short, long])] == [("b",), ("a",)]
    section = overview_section(rank_results([short, long]), ("site",), "All series")
    assert section.tables[1].rows[1] == ("a", 8, None, None, None, None)
    assert section.sentences[0] == "1 series has too few rows for a backtest."


def keyed_scores(alarms):
    """The scores of a series for each of these alarms, and of one without any."""
    history = example_studies.tracker_history(alarms=())
    studies = {
        (name,): example_studies.full(history=replace(history, alarms=found))
        for name, found in {"quiet": (), **alarms}.items()
    }
    return pool_scores("y", studies, unscored=2)


def test_a_run_by_key_tells_what_changed_in_which_series():
    first, second = (example_studies.alarm(onset) for onset in (700, 1500))
    dated = replace(second, time="2024-05-01", onset_time="2024-05-01T00:00:00")
    section = keyed_section(
        keyed_scores({"north": (first,), "south": (first, dated)}), ("site",), "s.csv"
    )
    table = next(part.table for part in section.folded if part.name == "changes")
    level = "level fell by 90 %, from 100 to 10"
    assert table.texts() == [
        ("south", f"2 changes, the last at its row 1,500 (2024-05-01): {level}"),
        ("north", f"one change, at its row 700: {level}"),
    ]
    assert "What changed: 2 of 3. Series in which a change was seen." in (
        section.summary()
    )
    assert section.sentences == ("2 series have too few rows to be scored.",)


def test_the_numbers_of_a_run_by_key_have_the_names_of_a_single_stream():
    section = keyed_section(keyed_scores({}), ("site",), "s.csv")
    one = study_section(example_studies.full()).numbers
    shared = set(section.numbers) - {"keys", "over_best_baseline_of_each_key"}
    assert shared <= set(one)
    assert section.numbers["learners"][0].keys() < one["learners"][0].keys()
    assert section.numbers["keys"][0]["key"] == ["quiet"]
    assert section.summary() == section.numbers["summary"]
    assert "No change was seen in any series." in " ".join(section.summary())


def test_a_page_of_many_series_names_them_and_does_not_repeat_their_headlines(tmp_path):
    results = [
        replace(result_of(None, seed=k, key=(f"k{k}",)), title=f"k{k}")
        for k in range(3)
    ]
    overview = overview_section(results, ("site",), "All series")
    sections = [forecast_section(one) for one in results]
    write_page([overview, *sections], tmp_path / "page.html", "load")
    page = (tmp_path / "page.html").read_text()
    assert all(page.count(section.headline) == 1 for section in sections)
    assert all(f">{one.title}</a>" in page for one in results)
    write_page(sections, tmp_path / "page.html", "load")
    page = (tmp_path / "page.html").read_text()
    assert all(page.count(section.headline) == 2 for section in sections)
