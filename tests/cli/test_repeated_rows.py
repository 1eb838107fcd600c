"""New rows for a run (``--next``) that begin with rows it has learnt already."""

import numpy as np
import pytest

from tests.cli.streams import rows, thalweg, written
from tests.cli.test_resume import stopped_after

HEADER, *LINES = rows()
RESUME = ("--resume", "out/a/model.thalweg", "--next", "--no-report")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "whole.csv")
    assert thalweg("run", "whole.csv", "-t", "y", "--no-report").exit_code == 0
    return tmp_path


def begun(folder, lines=LINES[:200]):
    written(folder / "a.csv", [HEADER, *lines])
    assert thalweg("run", "a.csv", "-t", "y", "--no-report").exit_code == 0


def same_predictions(folder):
    whole, parts = (folder / f"out/{name}/predictions.csv" for name in ("whole", "a"))
    return whole.read_text() == parts.read_text()


def said(*arguments):
    done = thalweg(*arguments)
    assert done.exit_code == 0, done.output
    return " ".join(done.output.split())


@pytest.mark.parametrize("start", [0, 150, 199])
def test_rows_learnt_before_are_skipped(folder, start):
    begun(folder)
    written(folder / "grown.csv", [HEADER, *LINES[start:]])
    count = f"{200 - start} rows" if start < 199 else "1 row"
    assert f"{count} at the start of grown.csv" in said("run", "grown.csv", *RESUME)
    assert same_predictions(folder)


def test_new_rows_are_all_learnt(folder):
    begun(folder)
    written(folder / "new.csv", [HEADER, *LINES[200:]])
    assert "no later than the last row" not in said("run", "new.csv", *RESUME)
    assert same_predictions(folder)


def test_a_file_without_a_new_row_changes_nothing(folder):
    begun(folder)
    before = (folder / "out/a/predictions.csv").read_text()
    text = said("run", "a.csv", *RESUME)
    assert "200 rows at the start of a.csv" in text and "No new row in a.csv." in text
    assert (folder / "out/a/predictions.csv").read_text() == before


def test_a_run_stopped_among_new_rows_goes_on(folder, monkeypatch):
    begun(folder)
    written(folder / "grown.csv", [HEADER, *LINES])
    with monkeypatch.context() as patches:
        stopped_after(1, patches)
        assert thalweg("run", "grown.csv", *RESUME).exit_code == 130
    resume = RESUME[:2]
    assert thalweg("run", "grown.csv", *resume, "--no-report").exit_code == 0
    assert same_predictions(folder)


def test_rows_whose_times_went_back_before_are_all_learnt(folder):
    mixed = [*LINES[:100], *LINES[50:60], *LINES[100:200]]
    begun(folder, mixed)
    written(folder / "more.csv", [HEADER, *LINES[150:]])
    assert "no later than the last row" not in said("run", "more.csv", *RESUME)
    lines = (folder / "out/a/predictions.csv").read_text().splitlines()
    assert len(lines) == 1 + 210 + 150


def test_rows_at_the_last_time_are_others_where_times_repeat(folder):
    uneven = np.cumsum(np.random.default_rng(0).integers(0, 3, 300) ** 4)
    times = np.datetime64("2024-01-01T00:00:00") + uneven
    lines = [
        f"{t},{line.partition(',')[2]}" for t, line in zip(times, LINES, strict=True)
    ]
    tie = next(k for k in range(200, 300) if times[k] == times[k - 1])
    begun(folder, lines[:tie])
    written(folder / "more.csv", [HEADER, *lines[tie:]])
    assert "no later than the last row" not in said("run", "more.csv", *RESUME)
    begun(folder, lines[:tie])
    written(folder / "more.csv", [HEADER, *lines[tie - 20 :]])
    assert "rows at the start of more.csv" in said("run", "more.csv", *RESUME)


def test_rows_of_each_key_are_skipped(folder):
    header = HEADER.replace("when", "shop,when")
    both = [f"{shop},{line}" for line in LINES for shop in "ab"]
    resume = ("--resume", "out/a/models.db", "--next", "--no-report")
    written(folder / "whole.csv", [header, *both])
    said("run", "whole.csv", "-t", "y", "--key", "shop", "--no-report")
    written(folder / "a.csv", [header, *both[:400]])
    said("run", "a.csv", "-t", "y", "--key", "shop", "--no-report")
    new = [f"c,{line}" for line in LINES[:50]]
    written(folder / "grown.csv", [header, *both[300:], *new])
    assert "100 rows at the start of grown.csv" in said("run", "grown.csv", *resume)
    found = [
        [line.split(",", 1)[1] for line in path.read_text().splitlines()[1:601]]
        for path in (folder / f"out/{name}/predictions.csv" for name in ("whole", "a"))
    ]
    assert found[0] == found[1]
