import csv
import json
from datetime import datetime
from functools import partial

import numpy as np
import pytest
from pyarrow import parquet

from tests.cli.streams import rows, thalweg, written
from thalweg.evaluation.study import Study
from thalweg.report import write_figures
from thalweg.runs import study_files

LINES = rows()


@pytest.fixture
def stream(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return written(tmp_path / "stream.csv", LINES)


@pytest.mark.page
def test_one_command_gives_table_predictions_model_and_page(stream):
    done = thalweg("run", "stream.csv", "--target", "y")
    assert done.exit_code == 0, done.output
    assert "Tracker" in done.output and "persistence" in done.output
    words = "s, with reading and saving: about"  # the page has that of forecasts alone
    assert words in done.output and "rows a second" in done.output
    assert max(map(len, done.output.splitlines())) <= 80
    out = stream.parent / "out" / "stream"
    names = {"model.thalweg", "predictions.csv", "report.html", "study.json"}
    assert {path.name for path in out.iterdir()} == names
    with (out / "predictions.csv").open() as file:
        said = list(csv.DictReader(file))
    assert list(said[0]) == ["row", "time", "prediction", "low", "high", "observed"]
    assert [int(line["row"]) for line in said] == list(range(1, 301))
    observed = np.array([float(line["observed"]) for line in said])
    errors = observed - [float(line["prediction"]) for line in said]
    (study,) = (
        Study.from_dict(one) for one in json.loads((out / "study.json").read_text())
    )
    scored = slice(study.first_scored_round - 1, None)
    assert study.scored_rounds == len(errors[scored])
    assert study.tracker.squared == pytest.approx(np.mean(errors[scored] ** 2))


def test_json_is_one_object_and_nothing_else(stream):
    done = thalweg("run", "stream.csv", "-t", "y", "--json", "--no-report")
    found = json.loads(done.stdout)
    assert done.stderr == "" and done.exit_code == 0
    assert found["rows"] == 300 and found["rows_per_second"] > 0
    (study,) = found["studies"]
    assert study["learners"][0]["over_persistence"] < 1
    assert {"out/stream/study.json", "out/stream/model.thalweg"} <= set(found["files"])
    assert not (stream.parent / "out" / "stream" / "report.html").exists()


def test_several_targets_have_a_section_each_and_lags_of_all(stream):
    done = thalweg("run", "stream.csv", "-t", "y", "-t", "a", "--lags", "1", "--json")
    first, second = json.loads(done.stdout)["studies"]
    assert (first["target"], second["target"]) == ("y", "a")
    assert {"y lag 1", "a lag 1", "b"} <= set(first["features"])
    header = (stream.parent / "out/stream/predictions.csv").read_text().splitlines()[0]
    assert header.startswith("row,time,y prediction,y low,y high,y observed,a predicti")


def test_time_calendar_and_delay(stream):
    options = ("--time", "when", "--calendar", "when", "--delay", "3", "--json")
    done = thalweg("run", "stream.csv", "-t", "y", *options)
    (study,) = json.loads(done.stdout)["studies"]
    assert any("3 rounds late" in note for note in study["notes"])
    lines = (stream.parent / "out/stream/predictions.csv").read_text().splitlines()
    assert lines[0] == "row,time,prediction,low,high,observed"
    assert lines[1].startswith("1,2024-01-01T00:00:00,0.0,,,")  # no error seen yet
    (saved,) = json.loads((stream.parent / "out/stream/study.json").read_text())
    assert saved["start"] == "2024-01-01T00:00:00"


def test_a_target_that_never_changes_leaves_nothing_behind(stream, monkeypatch):
    monkeypatch.setattr("thalweg.runs.run_command.CHUNK_ROWS", 100)
    written(stream, ["x,y\n", *(f"{t},3\n" for t in range(250))])
    done = thalweg("run", "stream.csv", "-t", "y")
    assert done.exit_code == 2 and "nothing to learn" in done.output
    assert not list((stream.parent / "out" / "stream").iterdir())


def test_too_few_rows_are_predicted_and_not_scored(stream):
    written(stream, LINES[:31])
    done = thalweg("run", "stream.csv", "-t", "y")
    assert done.exit_code == 0 and "Too few rows to score" in done.output
    assert len((stream.parent / "out/stream/predictions.csv").read_text().split()) == 31


def test_parquet_holds_what_csv_holds(stream):
    for name in ("said.csv", "said.parquet"):
        thalweg("run", "stream.csv", "-t", "y", "--predictions", name, "--no-report")
    table = parquet.read_table(stream.parent / "said.parquet").to_pydict()
    with (stream.parent / "said.csv").open() as file:
        for k, line in enumerate(csv.DictReader(file)):
            time = line.pop("time")
            cells = {key: float(cell) if cell else None for key, cell in line.items()}
            cells["time"] = datetime.fromisoformat(time)
            assert cells == {key: column[k] for key, column in table.items()}


@pytest.mark.page
@pytest.mark.slow
def test_the_page_can_be_made_again_from_study_and_model(stream, monkeypatch):
    thalweg("run", "stream.csv", "-t", "y")
    page = stream.parent / "out/stream/report.html"
    first = page.read_bytes()
    for source in ("out/stream/study.json", "out/stream/model.thalweg"):
        page.unlink()
        done = thalweg("report", source)
        assert done.exit_code == 0 and "report.html" in done.output
        assert page.read_bytes() == first
    drawn = partial(write_figures, kinds=["svg"])  # the others take their time
    monkeypatch.setattr("thalweg.report.write_figures", drawn)
    done = thalweg("report", "out/stream/study.json", "--figures", "--out", "new")
    assert done.exit_code == 0 and list((stream.parent / "new/figures").glob("*.svg"))
    written(stream.parent / "not.json", ["[1, 2"])
    refused = thalweg("report", "not.json")
    assert refused.exit_code == 2 and "it is no JSON" in refused.output


def test_without_what_draws_there_is_a_remark_and_no_page(stream, monkeypatch):
    monkeypatch.setattr(study_files, "REQUIRED_PACKAGES", ("no_such_package",))
    done = thalweg("run", "stream.csv", "-t", "y")
    assert done.exit_code == 0 and "There will be no page" in done.stderr
    assert not (stream.parent / "out/stream/report.html").exists()
    refused = thalweg("run", "stream.csv", "-t", "y", "--figures", "--out", "new")
    assert refused.exit_code == 2 and "Figures cannot be drawn" in refused.stderr
    assert not (stream.parent / "new").exists()
