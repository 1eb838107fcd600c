"""What a user reads whose first command goes wrong, or has little to work on."""

import numpy as np
import pytest

from tests.cli.streams import rows, thalweg, written


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "s.csv", rows(60))
    return tmp_path


def told(done):
    return " ".join(done.output.split())


@pytest.mark.parametrize("command", ["run", "forecast"])
@pytest.mark.parametrize(
    "options",
    [("-t", "Y "), ("-t", "y", "--key", "Site"), ("-t", "y", "--time", "When")],
)
def test_an_unknown_column_names_all_columns_and_the_closest(command, options):
    done = thalweg(command, "s.csv", *options)
    assert done.exit_code == 2
    name = options[-1]
    meant = name.strip().lower()
    assert f"has no column {name!r}. Did you mean {meant!r}? It has" in told(done)
    assert "'when', 'a', 'b', 'site', 'y'." in told(done)


def test_keys_are_among_the_columns_that_are_named():
    done = thalweg("run", "s.csv", "-t", "z", "--key", "site")
    assert "It has 'when', 'a', 'b', 'site', 'y'." in told(done)


@pytest.mark.parametrize("command", ["run", "forecast"])
def test_a_model_that_is_not_there_is_named_with_the_way_to_start(folder, command):
    done = thalweg(command, "s.csv", "-t", "y", "--resume", "out/none/model.thalweg")
    assert done.exit_code == 2
    assert told(done) == (
        "There is no model out/none/model.thalweg to resume. Start without --resume: "
        f"thalweg {command} s.csv -t y."
    )
    (folder / "empty").mkdir()
    done = thalweg(command, "s.csv", "--resume", "empty")
    assert "There is no model empty/model.thalweg to resume." in told(done)


def test_a_folder_to_resume_is_answered_with_its_model():
    assert thalweg("run", "s.csv", "-t", "y", "--no-report").exit_code == 0
    done = thalweg("run", "s.csv", "--resume", "out/s")
    assert done.exit_code == 2
    assert "Its model is a file: --resume out/s/model.thalweg." in told(done)


@pytest.mark.parametrize("options", [(), ("--key", "site")])
@pytest.mark.parametrize("command", ["run", "forecast"])
def test_a_model_that_is_replaced_is_told(command, options):
    for is_second in (False, True):
        done = thalweg(command, "s.csv", "-t", "y", "--no-report", *options)
        assert done.exit_code == 0, done.output
        assert ("(replaces the one of an earlier run)" in done.output) == is_second


@pytest.mark.parametrize("count", [2, 3, 5])
def test_few_rows_are_told_what_can_be_done(folder, count):
    written(folder / "few.csv", rows(60)[: count + 1])
    done = thalweg("run", "few.csv", "-t", "y", "--no-report")
    assert done.exit_code == 0, done.output
    assert f"there are {count} values of the target" in told(done)
    done = thalweg("forecast", "few.csv", "-t", "y", "--horizon", "2", "--no-report")
    assert done.exit_code == 0, done.output
    assert f"There are {count} values of 'y': about the last one is forecast." in told(
        done
    )


def test_one_row_is_too_few(folder):
    written(folder / "one.csv", rows(60)[:2])
    done = thalweg("run", "one.csv", "-t", "y")
    assert told(done) == "one.csv has one row; at least two are needed."
    done = thalweg("forecast", "one.csv", "-t", "y", "--horizon", "3")
    assert done.exit_code == 2
    assert told(done).startswith("one.csv has one value of 'y'. A forecast takes two")


@pytest.mark.parametrize("text", ["n.a.", "N.A.", "n/a", "--", "NULL", "missing", "-"])
def test_usual_marks_of_missing_values_are_known(folder, text):
    lines = rows(60)
    cells = lines[7].rstrip("\n").split(",")
    lines[7] = ",".join([*cells[:-1], text]) + "\n"
    written(folder / "gap.csv", lines)
    for command in ("run", "forecast"):
        done = thalweg(command, "gap.csv", "-t", "y", "--no-report")
        assert done.exit_code == 0, done.output


def daily(cells):
    days = np.datetime64("2024-01-01") + np.arange(len(cells))
    return ["day,y\n", *(f"{d},{cell}\n" for d, cell in zip(days, cells, strict=True))]


def test_a_forecast_of_0_and_1_points_to_classification(folder):
    cells = np.random.default_rng(0).integers(0, 2, 80)
    written(folder / "rain.csv", daily(cells))
    done = thalweg("forecast", "rain.csv", "-t", "y", "--no-report")
    assert done.exit_code == 0, done.output
    assert "'y' holds 0 and 1 only: the forecast is a mean of such values." in told(
        done
    )
    assert "thalweg run rain.csv -t y classifies" in told(done)
    written(folder / "counts.csv", daily([*cells, 2]))
    done = thalweg("forecast", "counts.csv", "-t", "y", "--no-report")
    assert "classifies" not in told(done)


def test_a_forecast_of_text_points_to_classification(folder):
    written(folder / "sky.csv", daily(["wet", "dry"] * 30))
    done = thalweg("forecast", "sky.csv", "-t", "y")
    assert done.exit_code == 2
    assert "thalweg run predicts text: it gives the probability of" in told(done)


def test_months_are_written_as_months_and_csv_has_whole_dates(folder):
    months = np.datetime64("2001-01") + np.arange(60)
    lines = [f"{month}-01,{k % 12 + k % 5}\n" for k, month in enumerate(months)]
    written(folder / "m.csv", ["month,y\n", *lines])
    for horizon in (1, 3):
        done = thalweg(
            "forecast", "m.csv", "-t", "y", "--horizon", horizon, "--no-report"
        )
        assert done.exit_code == 0, done.output
        assert " 2006-01 " in done.stdout and "2006-01-01" not in done.stdout
    assert "2006-01-01," in (folder / "out/m-forecast/forecast.csv").read_text()
