import errno
import io
import os
import signal

import pytest

from tests.cli.streams import rows, studies_in, thalweg, written
from thalweg.errors import StorageError
from thalweg.runs import checkpoint
from thalweg.runs.prediction_columns import PredictionColumns
from thalweg.runs.prediction_file import PredictionFile
from thalweg.runs.session import Session

LINES = rows()


@pytest.fixture
def stream(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return written(tmp_path / "stream.csv", LINES)


def stopped_after(chunks, monkeypatch):
    """Let a Ctrl-C come while the rows of that chunk are learnt."""
    chunks_played, play = [], Session.play

    def interrupted(session, chunk):
        chunks_played.append(chunk)
        if len(chunks_played) == chunks:
            os.kill(os.getpid(), signal.SIGINT)
        return play(session, chunk)

    monkeypatch.setattr(Session, "play", interrupted)
    monkeypatch.setattr("thalweg.runs.run_command.CHUNK_ROWS", 50)


@pytest.mark.parametrize("predictions", ["lines.csv", "table.parquet"])
def test_ctrl_c_saves_and_resume_leaves_what_one_run_leaves(
    stream, monkeypatch, predictions
):
    folder = stream.parent
    options = ("-t", "y", "--lags", "1,3", "--time", "when", "--no-report")
    whole = ("--predictions", f"whole/{predictions}", "--out", "whole")
    assert thalweg("run", "stream.csv", *options, *whole).exit_code == 0
    with monkeypatch.context() as patch:
        stopped_after(3, patch)
        cut = ("--predictions", f"cut/{predictions}", "--out", "cut")
        stopped = thalweg("run", "stream.csv", *options, *cut)
    assert stopped.exit_code == 130, stopped.output
    assert (
        "Go on with:\n  thalweg run stream.csv --resume cut/model.thalweg\n"
        in stopped.output
    )
    assert not (folder / "cut" / "study.json").exists()
    done = thalweg("run", "stream.csv", "--resume", "cut/model.thalweg", "--no-report")
    assert done.exit_code == 0 and "Goes on after row 150." in done.output
    assert (folder / "whole" / predictions).read_bytes() == (
        folder / "cut" / predictions
    ).read_bytes()
    studies = [studies_in(folder / name / "study.json") for name in ("whole", "cut")]
    assert studies[0] == studies[1]
    assert not list((folder / "cut").glob("*.part"))


def test_lines_written_after_the_checkpoint_are_written_anew(stream, monkeypatch):
    with monkeypatch.context() as patch:
        stopped_after(2, patch)
        thalweg("run", "stream.csv", "-t", "y")
    predictions = stream.parent / "out/stream/predictions.csv"
    before = predictions.read_text()
    predictions.write_text(
        before + "101,0.5,"
    )  # as a kill in the middle of a line leaves it
    thalweg("run", "stream.csv", "--resume", "out/stream/model.thalweg", "--no-report")
    lines = predictions.read_text().splitlines()
    assert len(lines) == 301 and predictions.read_text().startswith(before)
    predictions.write_text(before[:100])
    lost = thalweg("run", "stream.csv", "--resume", "out/stream/model.thalweg")
    assert lost.exit_code == 0  # nothing new to write
    model = checkpoint.load_checkpoint(stream.parent / "out/stream/model.thalweg")[0]
    assert model.rows == 300


def test_nothing_of_what_was_written_after_the_checkpoint_stays(stream, monkeypatch):
    thalweg("run", "stream.csv", "-t", "y", "--out", "whole", "--no-report")
    with monkeypatch.context() as patch:
        stopped_after(2, patch)
        thalweg("run", "stream.csv", "-t", "y", "--out", "cut")
    predictions = stream.parent / "cut/predictions.csv"
    # A run that was killed had written more lines than are to come.
    with predictions.open("a") as file:
        file.writelines(f"{row},0.5,0.5,0,1,0\n" for row in range(101, 2000))
    thalweg("run", "stream.csv", "--resume", "cut/model.thalweg", "--no-report")
    whole = stream.parent / "whole/predictions.csv"
    assert predictions.read_bytes() == whole.read_bytes()


def test_predictions_with_other_columns_are_not_continued(stream, monkeypatch):
    with monkeypatch.context() as patch:
        stopped_after(2, patch)
        thalweg("run", "stream.csv", "-t", "y")
    predictions = stream.parent / "out/stream/predictions.csv"
    before = predictions.read_text().replace("observed", "measured", 1)
    predictions.write_text(before)
    refused = thalweg("run", "stream.csv", "--resume", "out/stream/model.thalweg")
    assert refused.exit_code == 2
    assert "begins with 'row,time,prediction,low,high,measured'" in refused.output
    assert predictions.read_text() == before


def test_a_folder_may_be_moved_and_resumed_from_anywhere(stream, monkeypatch):
    with monkeypatch.context() as patch:
        stopped_after(2, patch)
        thalweg("run", "stream.csv", "-t", "y", "--no-report")
    (stream.parent / "out" / "stream").rename(stream.parent / "moved")
    (stream.parent / "elsewhere").mkdir()
    monkeypatch.chdir(stream.parent / "elsewhere")
    resume = ("--resume", stream.parent / "moved" / "model.thalweg", "--no-report")
    assert thalweg("run", stream, *resume).exit_code == 0
    assert len((stream.parent / "moved/predictions.csv").read_text().split()) == 301
    assert not list((stream.parent / "elsewhere").iterdir())


def test_a_model_from_elsewhere_does_not_name_the_file_that_is_written(
    stream, monkeypatch
):
    """Its checkpoint could name any file of this computer."""
    folder = stream.parent
    (folder / "mine").mkdir()
    with monkeypatch.context() as patch:
        stopped_after(2, patch)
        given = ("--predictions", "mine/table.csv", "--no-report")
        thalweg("run", "stream.csv", "-t", "y", *given)
    before = (folder / "mine/table.csv").read_bytes()
    resume = ("run", "stream.csv", "--resume", "out/stream/model.thalweg")
    refused = thalweg(*resume, "--no-report")
    words = " ".join(refused.output.split())
    assert refused.exit_code == 2 and "not in out/stream" in words
    assert (folder / "mine/table.csv").read_bytes() == before
    named = ("--predictions", "mine/table.csv", "--no-report")
    assert thalweg(*resume, *named).exit_code == 0
    assert len((folder / "mine/table.csv").read_text().split()) == 301


def test_a_full_disk_leaves_no_line_cut_in_two(tmp_path):
    class NearlyFull(io.FileIO):
        def write(self, data):
            if self.tell() > 40:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return super().write(bytes(data)[:7])

    file = PredictionFile(tmp_path / "p.csv", PredictionColumns(("y",), False))
    file._open = lambda: NearlyFull(tmp_path / "p.csv", "w+b")
    header = file.columns.header()
    file.write("")
    written_lines = header
    with pytest.raises(StorageError, match="No space"):
        for k in range(100):
            file.write(f"{k},1,2,3\n")
            written_lines += f"{k},1,2,3\n"
    assert (tmp_path / "p.csv").read_text() == written_lines
    assert file.size == len(written_lines)
    file.close()


def test_predictions_that_are_gone_are_asked_for(stream, monkeypatch):
    with monkeypatch.context() as patch:
        stopped_after(2, patch)
        thalweg("run", "stream.csv", "-t", "y")
    (stream.parent / "out/stream/predictions.csv").unlink()
    lost = thalweg("run", "stream.csv", "--resume", "out/stream/model.thalweg")
    assert lost.exit_code == 2 and "Bring it back" in lost.output


def test_what_comes_next_may_be_another_file(stream):
    folder = stream.parent
    written(folder / "monday.csv", LINES[:201])
    written(folder / "tuesday.csv", [LINES[0], *LINES[201:]])
    thalweg("run", "stream.csv", "-t", "y", "--no-report")
    thalweg("run", "monday.csv", "-t", "y", "--no-report")
    resume = ("--resume", "out/monday/model.thalweg", "--no-report")
    unclear = thalweg("run", "tuesday.csv", *resume)
    assert unclear.exit_code == 2 and "was on monday.csv" in unclear.output
    assert thalweg("run", "tuesday.csv", *resume, "--next").exit_code == 0
    predictions = [
        folder / "out" / name / "predictions.csv" for name in ("stream", "monday")
    ]
    assert predictions[0].read_bytes() == predictions[1].read_bytes()
    again = thalweg("run", "tuesday.csv", *resume)  # all of its rows were seen
    message = "No new row in tuesday.csv: all 100 were seen.\n"
    assert again.exit_code == 0 and message in again.output


def test_a_file_shorter_than_what_was_seen_is_refused(stream):
    thalweg("run", "stream.csv", "-t", "y", "--no-report")
    written(stream, LINES[:101])
    done = thalweg("run", "stream.csv", "--resume", "out/stream/model.thalweg")
    assert (
        done.exit_code == 2 and "has 100 rows, and 300 of it were seen" in done.output
    )


def test_an_error_further_on_keeps_what_was_learnt(stream, monkeypatch):
    written(stream, [*LINES[:251], "2024-02-01T00:00,x,1,north,1\n"])
    monkeypatch.setattr("thalweg.runs.run_command.CHUNK_ROWS", 100)
    done = thalweg("run", "stream.csv", "-t", "y")
    assert done.exit_code == 2 and "'a' is 'x', which is no number" in done.output
    assert "The 200 rows before are in out/stream/model.thalweg" in done.output
    written(stream, LINES)
    resume = ("--resume", "out/stream/model.thalweg", "--no-report")
    assert thalweg("run", "stream.csv", *resume).exit_code == 0
    thalweg("run", "stream.csv", "-t", "y", "--out", "whole", "--no-report")
    predictions = [
        stream.parent / f / "predictions.csv" for f in ("out/stream", "whole")
    ]
    assert predictions[0].read_bytes() == predictions[1].read_bytes()


def tree(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("predictions", ["predictions.csv", "table.parquet"])
def test_another_folder_is_gone_on_in_and_the_first_one_stays(
    stream, monkeypatch, predictions
):
    folder = stream.parent
    whole = ("--predictions", f"whole/{predictions}", "--out", "whole", "--no-report")
    thalweg("run", "stream.csv", "-t", "y", *whole)
    with monkeypatch.context() as patch:
        stopped_after(3, patch)
        cut = ("--predictions", f"cut/{predictions}", "--out", "cut", "--no-report")
        thalweg("run", "stream.csv", "-t", "y", *cut)
    before = tree(folder / "cut")
    resume = ("--resume", "cut/model.thalweg", "--out", "new", "--no-report")
    for _ in range(2):  # the second time there is nothing new
        done = thalweg("run", "stream.csv", *resume)
        assert done.exit_code == 0, done.output
        assert tree(folder / "cut") == before
        assert set(tree(folder / "new")) == {"model.thalweg", predictions, "study.json"}
        assert tree(folder / "new")[predictions] == tree(folder / "whole")[predictions]


def test_what_comes_next_is_alone_in_another_folder(stream):
    written(stream.parent / "monday.csv", LINES[:201])
    written(stream.parent / "tuesday.csv", [LINES[0], *LINES[201:]])
    thalweg("run", "monday.csv", "-t", "y", "--no-report")
    before = tree(stream.parent / "out/monday")
    resume = ("--resume", "out/monday/model.thalweg", "--next", "--out", "new")
    assert thalweg("run", "tuesday.csv", *resume, "--no-report").exit_code == 0
    assert tree(stream.parent / "out/monday") == before
    lines = tree(stream.parent / "new")["predictions.csv"].decode().splitlines()
    assert len(lines) == 101 and lines[1].startswith("201,")


def test_what_an_earlier_run_left_is_replaced_or_removed(stream, monkeypatch):
    assert "replaces" not in thalweg("run", "stream.csv", "-t", "y").output
    with monkeypatch.context() as patch:
        stopped_after(2, patch)
        done = thalweg("run", "stream.csv", "-t", "b")
    assert "model.thalweg (replaces the one of an earlier run)" in done.output
    left = set(tree(stream.parent / "out/stream"))
    assert left == {"model.thalweg", "predictions.csv"}
