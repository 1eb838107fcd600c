from dataclasses import replace

from tests.report import example_studies
from thalweg.report import change_table as tables
from thalweg.report.change_table import change_table
from thalweg.report.headline import tiles
from thalweg.report.study_sections import study_section


def study_with(*alarms):
    history = example_studies.tracker_history(alarms=())
    return example_studies.full(history=replace(history, alarms=alarms))


def test_changes_are_listed_the_newest_first():
    table = change_table(study_with(*map(example_studies.alarm, (400, 1900))))
    assert table.columns == ("row", "noticed", "change")
    assert [row[:2] for row in table.rows] == [("1,900", "1,905"), ("400", "405")]
    assert table.rows[0][2] == "level fell by 90 %, from 100 to 10"


def test_times_come_first_where_rows_have_any():
    dated = replace(example_studies.alarm(400), onset_time="2024-05-01T00:00:00")
    later = replace(example_studies.alarm(900), onset_time="2024-05-03T10:20:00")
    table = change_table(study_with(dated, later))
    assert [row[0] for row in table.rows] == ["2024-05-03 10:20:00", "2024-05-01"]


def test_only_the_newest_are_listed_and_all_are_counted(monkeypatch):
    monkeypatch.setattr(tables, "SHOWN_CHANGES", 2)
    table = change_table(study_with(*map(example_studies.alarm, (400, 900, 1900))))
    assert len(table.rows) == 2 and table.caption.endswith("The last 2 of 3.")


def test_the_page_has_the_table_only_where_something_changed():
    changed = study_section(study_with(example_studies.alarm(400)))
    assert changed.folded[0].title == "Changes that were seen"
    titles = [part.title for part in study_section(study_with()).folded]
    assert "Changes that were seen" not in titles


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
