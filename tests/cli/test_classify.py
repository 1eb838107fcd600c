"""``thalweg run`` on targets of 0 and 1, and of text."""

import csv
import json
import subprocess

import numpy as np
import pytest

from tests.cli.streams import started, studies_in, thalweg, written
from tests.cli.test_resume import stopped_after
from thalweg import Classifier, Online
from thalweg.errors import PersistenceError

COUNT = 240
RNG = np.random.default_rng(3)
X = RNG.normal(size=(COUNT, 2))
SPAM = (X[:, 0] + RNG.logistic(size=COUNT) / 2 > 0).astype(int)
COLOUR = np.array(["red", 'a "b", c', "blue"])[
    (2 * X @ [[1, 0, -1], [0, 1, -1]] + RNG.gumbel(size=(COUNT, 3))).argmax(axis=1)
]


def lines(spam=SPAM, colour=COLOUR):
    yield "when,a,b,spam,colour\n"
    for t in range(len(spam)):
        time = np.datetime64("2024-01-01", "h") + t
        label = str(colour[t]).replace('"', '""')
        yield f'{time}:00,{X[t, 0]:.4f},{X[t, 1]:.4f},{spam[t]},"{label}"\n'


@pytest.fixture
def stream(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return written(tmp_path / "s.csv", lines())


def predictions_in(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


RUN = ("run", "s.csv", "--features", "a,b", "--no-report")


def test_zero_and_one_are_classified_and_said_so(stream):
    done = thalweg(*RUN, "-t", "spam", "--time", "when")
    assert done.exit_code == 0, done.output
    assert "'spam' holds 0 and 1 only: classified" in done.stderr
    assert "log loss" in done.output and "class shares so far" in done.output
    found = predictions_in(stream.parent / "out/s/predictions.csv")
    names = ["row", "time", "prediction", "probability", "observed", "p 1"]
    assert list(found[0]) == names and len(found) == COUNT
    assert [row["observed"] for row in found] == SPAM.astype(str).tolist()
    for row in found:
        p = float(row["p 1"])
        assert row["prediction"] == ("1" if p > 0.5 else "0")
        assert float(row["probability"]) == pytest.approx(max(p, 1 - p), rel=1e-12)
    model = Online.load(stream.parent / "out/s/model.thalweg")
    assert 0 < model.predict([0.3, 0.2]) < 1


def test_text_is_classified_with_a_column_for_each_class(stream):
    done = thalweg(*RUN, "-t", "colour")
    assert done.exit_code == 0, done.output
    assert "'colour' is text: classified" in done.stderr
    found = predictions_in(stream.parent / "out/s/predictions.csv")
    classes = list(dict.fromkeys(COLOUR.tolist()))
    columns = [f"p {label}" for label in classes]
    assert list(found[0])[5:] == [*columns, "p (other)"]
    assert found[0]["prediction"] == found[0]["probability"] == ""
    for row in found[5:]:
        p = [float(row[column]) for column in columns]
        assert sum(p) == pytest.approx(1, rel=1e-12)
        assert row["prediction"] == classes[int(np.argmax(p))]
        assert float(row["probability"]) == max(p)
    assert [row["observed"] for row in found] == COLOUR.tolist()
    path = stream.parent / "out/s/model.thalweg"
    assert Classifier.load(path).classes == tuple(classes)
    with pytest.raises(PersistenceError, match="holds a Classifier"):
        Online.load(path)


def test_json_holds_the_scores(stream):
    done = thalweg(*RUN, "-t", "spam", "--json")
    (study,) = json.loads(done.stdout)["studies"]
    assert study["kind"] == "classification" and study["classes"] == ["0", "1"]
    tracker = next(one for one in study["learners"] if one["role"] == "tracker")
    assert 0 < tracker["over_best_baseline"] < 1
    assert tracker["accuracy"] > 0.6 and 0 <= study["calibration_error"] < 0.2


@pytest.mark.page
@pytest.mark.parametrize("target", ["spam", "colour"])
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_classified_run_can_be_stopped_and_resumed(
    stream, monkeypatch, target, suffix
):
    folder, options = stream.parent, ("-t", target, "--delay", "3")
    whole = ("--predictions", f"whole/p.{suffix}", "--out", "whole")
    assert thalweg(*RUN, *options, *whole).exit_code == 0
    with monkeypatch.context() as patch:
        stopped_after(3, patch)
        cut = ("--predictions", f"cut/p.{suffix}", "--out", "cut")
        assert thalweg(*RUN, *options, *cut).exit_code == 130
    done = thalweg("run", "s.csv", "--resume", "cut/model.thalweg", "--no-report")
    assert done.exit_code == 0, done.output
    files = [folder / name / f"p.{suffix}" for name in ("whole", "cut")]
    assert files[0].read_bytes() == files[1].read_bytes()
    studies = [studies_in(folder / name / "study.json") for name in ("whole", "cut")]
    assert studies[0] == studies[1]
    again = thalweg(
        "run", "s.csv", "--resume", "cut/model.thalweg", "--regress", "--no-report"
    )
    assert again.exit_code == 2
    assert f"The run before predicts '{target}' as classes." in again.stderr
    page = thalweg("report", "cut/model.thalweg", "--out", "page")
    assert page.exit_code == 0, page.output
    assert "Are the probabilities right?" in (folder / "page/report.html").read_text()


def test_changed_labels_of_rows_seen_are_noticed(stream):
    written(stream, list(lines())[:201])
    thalweg(*RUN, "-t", "colour")
    other = COLOUR.copy()
    other[20] = "green"
    written(stream, lines(colour=other))
    resume = ("--resume", "out/s/model.thalweg", "--no-report")
    refused = thalweg("run", "s.csv", *resume)
    assert refused.exit_code == 2 and "has changed since" in refused.stderr


def test_regress_predicts_a_number_as_before(stream):
    done = thalweg(*RUN, "-t", "spam", "--regress")
    assert done.exit_code == 0 and "persistence" in done.output
    text = (stream.parent / "out/s/predictions.csv").read_text()
    assert text.startswith("row,time,prediction,low,high,observed\n")
    # The same numbers times two are no classes, and predictions scale to the bit.
    written(stream, lines(spam=2 * SPAM))
    thalweg(*RUN, "-t", "spam", "--out", "twice")
    found = predictions_in(stream.parent / "out/s/predictions.csv")
    twice = predictions_in(stream.parent / "twice/predictions.csv")
    for one, two in zip(found, twice, strict=True):
        assert 2 * float(one["prediction"]) == float(two["prediction"])


def test_missing_labels_and_late_classes_are_no_obstacle(stream):
    colour = COLOUR.copy().astype(object)
    colour[::7] = ""
    colour[150::9] = "grey"
    written(stream, lines(colour=colour))
    done = thalweg(*RUN, "-t", "colour", "--missing", "impute")
    assert done.exit_code == 0, done.output
    assert "4 classes" in done.output
    found = predictions_in(stream.parent / "out/s/predictions.csv")
    assert [row["observed"] for row in found] == colour.tolist()
    notes = json.loads((stream.parent / "out/s/study.json").read_text())[0]["notes"]
    assert "One row is not scored, as no label of the class had been known " in "".join(
        notes
    )
    assert found[0]["observed"] == "" and found[0]["prediction"] == ""


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"colour": np.full(COUNT, "red")}, "is 'red' in all 240 rows"),
        ({"colour": [f"id{t}" for t in range(COUNT)]}, "--target NAME"),
        ({"spam": [*SPAM[:-1], 3]}, ""),
    ],
)
def test_what_cannot_be_classified_is_refused(stream, changed, message):
    target = next(iter(changed))
    written(stream, lines(**changed))
    done = thalweg(*RUN, "-t", target)
    if not message:  # the first rows hold the 3: a number
        assert done.exit_code == 0 and "persistence" in done.output
        return
    assert done.exit_code == 2 and message in done.stderr, done.output
    assert not (stream.parent / "out/s/model.thalweg").exists()


def test_targets_are_all_classes_or_none(stream):
    both = thalweg(*RUN, "-t", "spam", "-t", "colour")
    assert both.exit_code == 0, both.output
    header = (stream.parent / "out/s/predictions.csv").read_text().splitlines()[0]
    assert "spam p 1" in header and "colour prediction" in header
    mixed = thalweg("run", "s.csv", "-t", "spam", "-t", "b", "--no-report")
    assert mixed.exit_code == 2 and "'b' numbers" in mixed.stderr
    lagged = thalweg(*RUN, "-t", "colour", "--lags", "1")
    assert lagged.exit_code == 2 and "Leave out --lags" in lagged.stderr


@pytest.mark.parametrize("labels", [("0", "1"), ("dry", "rain")])
def test_a_time_and_a_class_are_enough(tmp_path, monkeypatch, labels):
    monkeypatch.chdir(tmp_path)
    rng, count = np.random.default_rng(4), 1200
    hours = np.datetime64("2024-01-01", "h") + np.arange(count)
    rate = np.where(np.arange(count) % 24 < 12, 0.1, 0.9)
    values = np.array(labels)[1 * (rng.random(count) < rate)]
    rows = (f"{hour}:00,{one}\n" for hour, one in zip(hours, values, strict=True))
    written(tmp_path / "s.csv", ["when,y\n", *rows])
    done = thalweg("run", "s.csv", "-t", "y", "--no-report", "--json")
    assert done.exit_code == 0, done.output
    (study,) = json.loads(done.stdout)["studies"]
    tracker = next(one for one in study["learners"] if one["role"] == "tracker")
    assert tracker["over_best_baseline"] < 0.85
    again = thalweg(
        "run", "s.csv", "--resume", "out/s/model.thalweg", "--no-report", "--json"
    )
    assert again.exit_code == 0, again.output
    assert json.loads(again.stdout)["studies"][0]["learners"] == study["learners"]


def test_text_alone_is_refused_in_its_own_words(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "s.csv", ["y\n", *["red\n", "blue\n"] * 50])
    done = thalweg("run", "s.csv", "-t", "y")
    assert done.exit_code == 2
    assert "has no column to predict 'y' from" in done.stderr


def test_a_pipe_classifies_what_a_file_does(stream):
    thalweg(*RUN, "-t", "colour", "--missing", "skip")
    text = (stream.parent / "out/s/predictions.csv").read_text()
    process = started(
        "run", "-", "-t", "colour", "--features", "a,b", "--no-report",
        cwd=stream.parent, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )  # fmt: skip
    found, remarks = process.communicate(stream.read_bytes())
    assert process.returncode == 0, remarks
    assert found.decode() == text
    assert remarks.count(b"'colour' is text: classified") == 1


def test_identifiers_have_no_weight_among_the_features(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = (
        f"c{t:04},{X[t, 0]:.4f},{COLOUR[t].split()[0].strip(chr(34))},{SPAM[t]}\n"
        for t in range(COUNT)
    )
    written(tmp_path / "s.csv", ["customer,a,word,spam\n", *rows])
    done = thalweg("run", "s.csv", "-t", "spam")
    assert "'customer' looks like identifiers" in " ".join(done.stderr.split())
    (study,) = studies_in(tmp_path / "out/s/study.json")
    assert study["identifiers"] == ["customer"]
    weights = study["weights"]
    assert "a" in weights and any("word=" in name for name in weights)
    assert not any("customer" in name for name in weights)
