import json
from dataclasses import replace
from importlib.util import find_spec

import pytest

from tests.cli.streams import rows, thalweg, written
from thalweg.errors import StorageError
from thalweg.evaluation import compare_study
from thalweg.persistence import files
from thalweg.runs import compare_command, study_files

COMMANDS = ("run", "compare")


def test_compare_shows_everyone_and_saves_a_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "stream.csv", rows(200))
    done = thalweg("compare", "stream.csv", "-t", "y", "--rows", "120")
    assert done.exit_code == 0, done.output
    for name in ("Tracker", "paper's mixture", "FLH", "persistence"):
        assert name in done.output
    assert ("River linear" in done.output) == (find_spec("river") is not None)
    assert max(map(len, done.output.splitlines())) <= 80
    (study,) = json.loads((tmp_path / "out/stream-compared/study.json").read_text())
    assert study["rounds"] == 120
    assert "The last 120 of 200 rows were compared." in study["notes"]
    assert (tmp_path / "out/stream-compared/report.html").exists()


def test_a_bound_that_is_broken_is_exit_code_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "stream.csv", rows(120))
    study_with_baselines = compare_command.study_with_baselines

    def broken(*arguments):
        study = study_with_baselines(*arguments)
        worse = tuple(
            replace(one, measured=1e12) if one.bound else one for one in study.regrets
        )
        return replace(study, regrets=worse)

    monkeypatch.setattr(compare_command, "study_with_baselines", broken)
    words = ("compare", "stream.csv", "-t", "y", "--no-report", "--json")
    # Of a Tracker that is given a forecast by the past, no bound is proven.
    for options, count in (((), 2), (("--lags", "none"), 3)):
        done = thalweg(*words, *options)
        assert done.exit_code == 1 and f"{count} bounds did not hold." in done.stderr
    assert json.loads(done.stdout)["studies"][0]["rounds"] == 120


def test_compare_refuses_what_run_refuses(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "stream.csv", rows(200))
    assert "--target NAME" in thalweg("compare", "stream.csv").output
    few = thalweg("compare", "stream.csv", "-t", "y", "--rows", "50")
    assert few.exit_code == 2 and "at least 80 rounds" in few.output


def test_delay_means_what_it_means_to_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "stream.csv", rows(200))
    given = ("stream.csv", "-t", "y", "--delay", "3", "--json", "--no-report")
    errors = {}
    for command in COMMANDS:
        done = thalweg(command, *given)
        assert done.exit_code == 0, done.output
        (study,) = json.loads(done.stdout)["studies"]
        errors[command] = {one["name"]: one["squared"] for one in study["learners"]}
        assert study["rounds"] == 200 and study["scored_rounds"] == 200 - 40 - 3
    for name in ("Tracker", "persistence"):  # the others get features in other units
        assert errors["compare"][name] == pytest.approx(errors["run"][name], rel=1e-9)
    shown = thalweg("compare", *given[:-2], "--no-report").output
    assert "best moving" in shown and "bound" not in shown


def test_a_bad_delay_is_refused_as_run_refuses_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "stream.csv", rows(200))
    for bad in (("--delay", "-1"), ("--delay", "3", "--lags", "3")):
        said = [thalweg(name, "stream.csv", "-t", "y", *bad) for name in COMMANDS]
        assert [done.exit_code for done in said] == [2, 2]
        first, second = (done.stderr.replace("compare", "run") for done in said)
        assert first == second and "delay" in first


def test_ctrl_c_shows_who_is_done_and_says_what_is_missing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "stream.csv", rows(120))

    def five_then_ctrl_c(*given):
        for k, one in enumerate(all_baselines(*given)):
            if k == 5:
                raise KeyboardInterrupt
            yield one

    all_baselines = compare_study.compared_learners
    monkeypatch.setattr(compare_study, "compared_learners", five_then_ctrl_c)
    done = thalweg("compare", "stream.csv", "-t", "y", "-t", "b")
    assert done.exit_code == 130
    assert "least squares, discount 0.95" in done.stdout
    assert "least squares, discount 0.9 " not in done.stdout
    missing = "; ".join([*compare_study.comparison_steps()[5:], "all of b"])
    assert f"Stopped. Not done: {missing}. For a page" in " ".join(done.stderr.split())
    folder = tmp_path / "out/stream-compared"
    assert [path.name for path in folder.iterdir()] == ["study.json"]
    again = thalweg("report", "out/stream-compared/study.json")
    assert again.exit_code == 0 and (folder / "report.html").exists()


def tree(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where comparisons go; a study and a page of an earlier one lie there."""
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "stream.csv", rows(120))
    folder = tmp_path / "out/stream-compared"
    folder.mkdir(parents=True)
    for name in ("study.json", "report.html"):
        written(folder / name, ["old"])
    return folder


def interrupted(*_):
    raise KeyboardInterrupt


def test_ctrl_c_before_the_frontier_leaves_a_study(folder, monkeypatch):
    monkeypatch.setattr(compare_study, "frontier", interrupted)
    done = thalweg("compare", "stream.csv", "-t", "y")
    assert done.exit_code == 130 and "Tracker" in done.stdout
    assert "Stopped. Not done: the frontier. For a page" in done.stderr
    (study,) = json.loads((folder / "study.json").read_text())
    assert study["unfinished"] == ["the frontier"] and study["regrets"]
    assert study["notes"][-1] == "Stopped by Ctrl-C. Not done: the frontier."
    assert set(tree(folder)) == {"study.json"}


def half_a_page(studies, path):
    path.write_text("<html>")
    raise KeyboardInterrupt


@pytest.mark.parametrize("json_wanted", [False, True])
def test_ctrl_c_while_the_page_is_drawn_leaves_the_tables(
    folder, monkeypatch, json_wanted
):
    monkeypatch.setattr("thalweg.report.write_page", half_a_page)
    given = ("compare", "stream.csv", "-t", "y")
    done = thalweg(*given, *["--json"] * json_wanted)
    assert done.exit_code == 130 and "persistence" in done.stdout
    assert "Stopped. For a page of what was done:\n  thalweg report" in done.stderr
    assert set(tree(folder)) == {"study.json"}
    if json_wanted:
        saved = json.loads(done.stdout)["files"]
        assert saved == ["out/stream-compared/study.json"]
    (study,) = json.loads((folder / "study.json").read_text())
    assert study["unfinished"] == [] and not any(
        "Stopped" in one for one in study["notes"]
    )


def test_a_target_that_ctrl_c_left_no_time_for_at_all_is_named(folder, monkeypatch):
    study_with_baselines = compare_command.study_with_baselines

    def only_y(title, target, *others):
        if target != "y":
            raise KeyboardInterrupt
        return study_with_baselines(title, target, *others)

    monkeypatch.setattr(compare_command, "study_with_baselines", only_y)
    done = thalweg("compare", "stream.csv", "-t", "y", "-t", "b", "-t", "a")
    assert done.exit_code == 130
    assert "Stopped. Not done: all of b; all of a. For a page" in done.stderr
    (study,) = json.loads((folder / "study.json").read_text())
    assert study["unfinished"] == ["all of b", "all of a"]
    assert study["notes"][-1] == "Stopped by Ctrl-C. Not done: all of b; all of a."


@pytest.mark.parametrize("command", COMMANDS)
def test_where_nothing_can_be_saved_what_was_there_stays(folder, monkeypatch, command):
    def full(*_):
        raise StorageError("It was not saved: the disk is full. It is as it was.")

    for module in (study_files, files):
        monkeypatch.setattr(module, "write", full)
    before = tree(folder)
    given = ("stream.csv", "-t", "y", "--out", folder, "--predictions", "said.csv")
    done = thalweg(command, *given[: 5 if command == "compare" else None])
    assert done.exit_code == 2 and "the disk is full" in done.stderr
    assert tree(folder) == before
