"""Malformed lines of a pipe are reported and skipped; files refuse them."""

import io
import json
import subprocess

import pytest

from tests.cli.streams import rows, started, studies_in, thalweg, written
from tests.tables.sample_tables import PiecewiseFile
from thalweg.tables import Encoder, LineErrors, Recipe, read_table
from thalweg.tables.malformed_rows import WellFormedRows

LINES = rows(120)
BAD = {
    20: "2024-01-01T19:00,oops,1,north,2\n",
    50: "2024-01-02T01:00,1,2\n",
    51: "never,1,2,north,3\n",
    70: "2024-01-03T21:00,1,1e200,north,2\n",
}


def with_bad_lines():
    lines = list(LINES)
    for place, line in sorted(BAD.items(), reverse=True):
        lines.insert(place, line)
    return lines


def run_pipe(folder, lines, *options):
    process = started(
        "run", "-", "-t", "y", "--calendar", "when", *options, cwd=folder,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    predictions, remarks = process.communicate("".join(lines).encode())
    return process.returncode, predictions.decode(), remarks.decode()


@pytest.mark.slow
def test_a_pipe_skips_malformed_lines(tmp_path):
    code, predictions, remarks = run_pipe(tmp_path, with_bad_lines())
    assert code == 0
    assert predictions == run_pipe(tmp_path, LINES)[1]
    assert "(line 21) of standard input: 'a' is 'oops', which is no number" in remarks
    assert "line 52 of standard input has 3 cells, and the header has 5." in remarks
    assert "'when' is 'never', which is no time" in remarks
    assert "Numbers must be finite and at most 1e+150 in size." in remarks
    assert "4 malformed lines were skipped." in remarks


def test_a_pipe_stops_at_a_malformed_line_if_asked(tmp_path):
    code, _, remarks = run_pipe(tmp_path, with_bad_lines(), "--on-error", "stop")
    assert code == 2
    assert "which is no" in remarks or "has 3 cells" in remarks


def test_a_file_skips_malformed_lines_only_if_asked(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "s.csv", with_bad_lines())
    refused = thalweg("run", "s.csv", "-t", "y", "--no-report")
    assert refused.exit_code == 2
    done = thalweg("run", "s.csv", "-t", "y", "--on-error", "skip", "--json",
                   "--no-report")  # fmt: skip
    assert json.loads(done.stdout)["malformed_lines"] == 3  # 'when' is not used
    assert "Skipped: line 52 of s.csv has 3 cells" in done.stderr


def test_a_resumed_file_skips_the_same_lines(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options = ("--on-error", "skip", "--no-report")
    lines = with_bad_lines()
    written(tmp_path / "s.csv", lines[:60])
    thalweg("run", "s.csv", "-t", "y", *options, "--out", "cut")
    written(tmp_path / "s.csv", lines)
    done = thalweg("run", "s.csv", "--resume", "cut/model.thalweg", *options)
    assert done.exit_code == 0, done.stderr
    thalweg("run", "s.csv", "-t", "y", *options, "--out", "whole")
    assert studies_in(tmp_path / "cut/study.json") == studies_in(
        tmp_path / "whole/study.json"
    )
    predictions = [tmp_path / name / "predictions.csv" for name in ("cut", "whole")]
    assert predictions[0].read_bytes() == predictions[1].read_bytes()


@pytest.mark.parametrize("sizes", [[], [1] * 300, [37] * 99])
def test_the_same_rows_remain_however_a_pipe_is_cut(sizes):
    recipe = Recipe(("y",), calendar="when")
    sentences, numbers, encoder = [], [], Encoder(recipe)
    errors = LineErrors(sentences.append)
    table = read_table(
        PiecewiseFile("".join(with_bad_lines()).encode(), sizes), errors=errors
    )
    rows = WellFormedRows(recipe, errors, lambda first: (encoder.schema(first), ()))
    for chunk in table.chunks():
        good = rows.drop(chunk)
        if len(good):
            numbers += encoder.encode(good).rows.tolist()
    assert numbers == list(range(120))
    assert sorted(sentences) == sorted(dict.fromkeys(sentences)) and errors.count == 4


def test_reports_end_after_twenty_and_counting_goes_on():
    sentences = []
    errors = LineErrors(sentences.append)
    data = b"a,y\n1,2\n" + b"1\n" * 50 + b"2,3\n"
    for _ in read_table(io.BytesIO(data), errors=errors).chunks():
        pass
    assert (errors.count, len(sentences)) == (50, 21)
    assert sentences[-1] == "Further malformed lines are counted, not shown."


def test_json_lines_pass_over_what_is_no_object():
    sentences = []
    errors = LineErrors(sentences.append)
    data = b'{"a": 1, "y": 2}\n[1]\n{"a": \n{"a": 2, "y": 3}\n'
    table = read_table(io.BytesIO(data), format="jsonl", errors=errors)
    values = [v for chunk in table.chunks() for v in chunk.numbers("a").tolist()]
    assert values == [1.0, 2.0]
    assert sentences[0] == (
        "Skipped: line 2 of the stream is [1.0]. Every line must be a JSON object."
    )
