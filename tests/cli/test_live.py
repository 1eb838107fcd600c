import json
import signal
import subprocess
import threading
import time

import numpy as np
import pytest

from tests.cli.streams import rows, started, studies_in, thalweg, written

PIPES = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
LINES = rows(120)


def fed(process, lines):
    process.stdin.write("".join(lines).encode())
    process.stdin.flush()


def read(process, count):
    """So many lines of output, waited for."""
    return [process.stdout.readline().decode() for _ in range(count)]


@pytest.fixture
def whole(tmp_path):
    """What an uninterrupted run over the file says."""
    stream = written(tmp_path / "stream.csv", LINES)
    options = ("-t", "y", "--out", tmp_path / "whole", "--no-report")
    assert thalweg("run", stream, *options).exit_code == 0
    return (tmp_path / "whole" / "predictions.csv").read_text().splitlines(True)


@pytest.mark.slow
def test_predictions_come_as_lines_do_and_a_kill_loses_none(tmp_path, whole):
    process = started("run", "-", "-t", "y", cwd=tmp_path, **PIPES)
    fed(process, LINES[:61])
    answers = read(process, 61)
    assert answers == whole[:61]
    for t in (61, 62, 63):  # each answered before the next is asked
        fed(process, LINES[t : t + 1])
        assert read(process, 1) == [whole[t]]
    process.kill()
    process.communicate()
    resume = ("run", "-", "--resume", "out/stdin/model.thalweg", "--no-report")
    process = started(*resume, "--from-start", cwd=tmp_path, **PIPES)
    rest, remarks = process.communicate("".join(LINES).encode())
    assert process.returncode == 0, remarks
    first = int(rest.split(b",")[0])
    assert 60 < first <= 64  # the last of what was printed may come again
    assert f"Goes on after row {first - 1}." in remarks.decode()
    assert "".join(whole[:first]) + rest.decode() == "".join(whole)


@pytest.mark.slow
def test_a_burst_before_a_silence_survives_a_kill(tmp_path, whole):
    process = started("run", "-", "-t", "y", cwd=tmp_path, **PIPES)
    fed(process, LINES[:11])
    assert read(process, 11) == whole[:11]
    fed(process, LINES[11:81])
    assert read(process, 70) == whole[11:81]
    time.sleep(2.5)
    process.kill()
    process.communicate()
    resume = ("run", "-", "--resume", "out/stdin/model.thalweg", "--no-report")
    process = started(*resume, cwd=tmp_path, **PIPES)
    rest, remarks = process.communicate("".join([LINES[0], *LINES[81:]]).encode())
    assert "Goes on after row 80." in remarks.decode()
    assert rest.decode() == "".join(whole[81:])


def with_everything(count):
    """Lines with gaps in features, text and times, new levels, and two targets."""
    rng, lines = np.random.default_rng(1), ["when,a,seen,site,y,z\n"]
    levels = ["north", "south", "", "east", "west"]
    for t in range(count):
        a, noise = rng.normal(size=2).round(4)
        site = levels[rng.integers(0, 2 + t // 40)]
        when = f"2024-01-{1 + t // 24:02d}T{t % 24:02d}:30"
        cell, seen = np.where(rng.random(2) < 0.1, ["NA", ""], [a, when])
        y = 3 * a + (site == "south") + t % 24 / 10 + 0.1 * noise
        lines.append(f"{when},{cell},{seen},{site},{y:.5f},{-a:.5f}\n")
    return lines


def found_in(path):
    """The studies but for what they are called."""
    return [{**study, "title": ""} for study in studies_in(path)]


@pytest.mark.slow
def test_line_by_line_is_the_file_whatever_is_asked_of_it(tmp_path):
    header, *lines = with_everything(150)
    options = (
        "-t", "y", "-t", "z", "--lags", "4,6", "--delay", "3", "--time", "when",
        "--calendar", "seen", "--missing", "impute", "--categories", "2",
    )  # fmt: skip
    stream = written(tmp_path / "stream.csv", [header, *lines])
    done = thalweg("run", stream, *options, "--out", tmp_path / "whole", "--no-report")
    assert done.exit_code == 0, done.output
    process = started("run", "-", *options, cwd=tmp_path, **PIPES)
    fed(process, [header, *lines[:6]])  # which have no past, and no answer
    answers = []
    for line in lines[6:100]:
        fed(process, [line])
        answers += read(process, 1 if answers else 2)  # a header comes first
    process.terminate()
    process.communicate()
    resume = ("--resume", "out/stdin/model.thalweg", "--no-report")
    process = started("run", "-", *resume, cwd=tmp_path, **PIPES)
    fed(process, [header])
    for line in lines[100:]:
        fed(process, [line])
        answers += read(process, 1)
    process.communicate()
    assert "".join(answers) == (tmp_path / "whole/predictions.csv").read_text()
    found = found_in(tmp_path / "out/stdin/study.json")
    assert found == found_in(tmp_path / "whole/study.json")


@pytest.mark.sampled(1)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_waiting_saves_and_says_how_to_go_on(tmp_path, number, whole):
    process = started("run", "-", "-t", "y", cwd=tmp_path, **PIPES)
    fed(process, LINES[:81])
    assert read(process, 81) == whole[:81]
    process.send_signal(number)
    out, remarks = process.communicate()
    assert process.returncode == 128 + number and out == b""
    assert b"Stopped after row 80." in remarks and b"Traceback" not in remarks
    assert b"persistence" in remarks  # the table
    resume = ("--resume", "out/stdin/model.thalweg", "--no-report")
    process = started("run", "-", *resume, cwd=tmp_path, **PIPES)
    rest, _ = process.communicate("".join([LINES[0], *LINES[81:]]).encode())
    assert rest.decode() == "".join(whole[81:])


def test_a_row_without_its_target_asks_for_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    asked = LINES[100].rpartition(",")[0] + ",\n"
    lines = [*LINES[:100], asked, *LINES[100:]]
    process = started("run", "-", "-t", "y", "--no-report", cwd=tmp_path, **PIPES)
    out, _ = process.communicate("".join(lines).encode())
    answers = out.decode().splitlines()
    assert answers[100].endswith(",")  # nothing observed
    assert answers[100].split(",")[1] == answers[101].split(",")[1]  # nothing learnt
    study = json.loads((tmp_path / "out/stdin/study.json").read_text())[0]
    assert study["rounds"] == 121 and study["scored_rounds"] == 120 - 40


def test_a_reader_that_leaves_is_no_reason_to_complain(tmp_path):
    process = started("run", "-", "-t", "y", cwd=tmp_path, **PIPES)
    fed(process, LINES[:11])
    read(process, 11)
    process.stdout.close()
    fed(process, LINES[11:])
    process.stdin.close()
    assert process.wait() == 1
    assert b"Traceback" not in process.stderr.read()
    assert (tmp_path / "out/stdin/model.thalweg").exists()
    process.stderr.close()


@pytest.mark.slow
def test_a_change_is_told_while_the_pipe_goes_on(tmp_path):
    rng = np.random.default_rng(3)
    y = np.where(np.arange(260) < 200, 100.0, 10.0) + rng.normal(size=260)
    process = started("run", "-", "-t", "y", "--no-report", cwd=tmp_path, **PIPES)
    timer = threading.Timer(120, process.kill)
    timer.start()
    fed(process, ["y\n", *(f"{value:.3f}\n" for value in y[:207])])
    while not (line := process.stderr.readline()).startswith(b"row "):
        assert line, "the run ended before a change was told"
    timer.cancel()
    assert b": since row 201, level fell by 90 %, from 1" in line
    fed(process, [f"{value:.3f}\n" for value in y[207:]])
    remarks = process.communicate()[1]
    assert b"since row" not in remarks  # it is told once
    again = started(
        "run", "-", "--resume", "out/stdin/model.thalweg", "--no-report",
        cwd=tmp_path, **PIPES,
    )  # fmt: skip
    more = "".join(["y\n", *(f"{value:.3f}\n" for value in y[207:])])
    assert b"since row" not in again.communicate(more.encode())[1]
    assert again.returncode == 0
