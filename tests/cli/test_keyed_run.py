"""``thalweg run`` on many series in one file: a Tracker for each key."""

import contextlib
import csv
import json
import re
import signal
import sqlite3
import time

import numpy as np
import pytest

from tests.cli.streams import RUNNER, started, thalweg, written
from tests.cli.test_live import PIPES, fed, read
from thalweg.cli.main import app
from thalweg.keyed.store import KeyedStore
from thalweg.runs import run_loop
from thalweg.runs.model_store import open_models

ROWS = 90
SHOPS = ("north", "south", "west")
HEADER = "shop,when,a,sales\n"


def shop_lines(shop, seed):
    rng = np.random.default_rng(seed)
    days = np.datetime64("2024-01-01") + np.arange(ROWS)
    a = rng.normal(size=ROWS)
    y = 10 * seed + 3 * a + np.sin(np.arange(ROWS) / 7 * 2 * np.pi)
    rows = zip(days, a, y + 0.1 * rng.normal(size=ROWS), strict=True)
    return [f"{shop},{day},{u:.4f},{v:.4f}\n" for day, u, v in rows]


LINES = {shop: shop_lines(shop, seed) for seed, shop in enumerate(SHOPS, 1)}
GLUED = [line for shop in SHOPS for line in LINES[shop]]
MIXED = [line for rows in zip(*LINES.values(), strict=True) for line in rows]
RUN = ("-t", "sales", "--no-report")


def predictions(path, without=("row",)):
    with path.open() as file:
        return [
            {name: cell for name, cell in row.items() if name not in without}
            for row in csv.DictReader(file)
        ]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_glued_mixed_and_single_files_give_the_same_predictions(folder):
    for name, lines in (("glued", GLUED), ("mixed", MIXED)):
        written(folder / f"{name}.csv", [HEADER, *lines])
        done = thalweg("run", f"{name}.csv", *RUN)
        assert done.exit_code == 0, done.output
        assert "The rows are 3 series, distinguished by 'shop'" in done.stderr
        assert max(map(len, done.output.splitlines())) <= 80
    glued = predictions(folder / "out/glued/predictions.csv")
    mixed = predictions(folder / "out/mixed/predictions.csv")
    for shop in SHOPS:
        own = [row for row in glued if row["shop"] == shop]
        assert own == [row for row in mixed if row["shop"] == shop]
        # The same as a run over a file of this shop alone, which has no such column.
        lines = [line.removeprefix(f"{shop},") for line in (HEADER, *LINES[shop])]
        lines[0] = HEADER.removeprefix("shop,")
        written(folder / f"{shop}.csv", lines)
        thalweg("run", f"{shop}.csv", *RUN)
        alone = predictions(folder / f"out/{shop}/predictions.csv")
        assert [{"shop": shop, **row} for row in alone] == own


def test_rows_keep_their_numbers_and_order(folder):
    written(folder / "mixed.csv", [HEADER, *MIXED])
    thalweg("run", "mixed.csv", *RUN, "--key", "shop", "--time", "when")
    rows = predictions(folder / "out/mixed/predictions.csv", without=())
    assert list(rows[0])[:3] == ["row", "shop", "time"]
    assert [int(row["row"]) for row in rows] == list(range(1, 3 * ROWS + 1))
    assert [row["shop"] for row in rows[:4]] == [*SHOPS, "north"]


def test_the_errors_are_those_of_all_rows_and_of_each_key(folder):
    written(folder / "mixed.csv", [HEADER, *MIXED])
    found = json.loads(thalweg("run", "mixed.csv", *RUN, "--json").stdout)
    (study,) = found["studies"]
    assert found["key"] == ["shop"] and found["rows"] == 3 * ROWS
    alone = []
    for shop in SHOPS:
        written(folder / f"{shop}.csv", [HEADER, *LINES[shop]])
        options = (*RUN, "--json", "--features", "a")
        (own,) = json.loads(thalweg("run", f"{shop}.csv", *options).stdout)["studies"]
        alone.append(own)
    scored = np.array([own["scored_rounds"] for own in alone])
    assert study["scored_rounds"] == scored.sum()
    for learner in study["learners"]:
        squared = [
            next(one for one in own["learners"] if one["name"] == learner["name"])
            for own in alone
        ]
        mean = np.average([one["squared"] for one in squared], weights=scored)
        assert learner["squared"] == pytest.approx(mean)
    by_key = {tuple(one["key"]): one["over_best_baseline"] for one in study["keys"]}
    for shop, own in zip(SHOPS, alone, strict=True):
        tracker = next(one for one in own["learners"] if one["role"] == "tracker")
        assert by_key[(shop,)] == pytest.approx(tracker["over_best_baseline"])


def test_a_resumed_run_is_that_of_one_go(folder):
    written(folder / "whole.csv", [HEADER, *MIXED])
    thalweg("run", "whole.csv", *RUN, "--key", "shop")
    whole = (folder / "out/whole/predictions.csv").read_bytes()
    written(folder / "grown.csv", [HEADER, *MIXED[:100]])
    thalweg("run", "grown.csv", *RUN, "--key", "shop")
    written(folder / "grown.csv", [HEADER, *MIXED])
    models = "out/grown/models.db"
    done = thalweg("run", "grown.csv", "--resume", models, "--no-report")
    assert done.exit_code == 0, done.output
    assert "Goes on after row 100." in done.stderr
    assert (folder / "out/grown/predictions.csv").read_bytes() == whole
    # Rows that come after those seen, in a file of their own.
    written(folder / "a.csv", [HEADER, *MIXED[:100]])
    thalweg("run", "a.csv", *RUN, "--key", "shop")
    written(folder / "b.csv", [HEADER, *MIXED[100:]])
    refused = thalweg("run", "b.csv", "--resume", "out/a/models.db")
    assert refused.exit_code == 2 and "say --next" in " ".join(refused.output.split())
    options = ("--resume", "out/a/models.db", "--next", "--no-report")
    done = thalweg("run", "b.csv", *options)
    assert done.exit_code == 0, done.output
    assert (folder / "out/a/predictions.csv").read_bytes() == whole


def test_rows_that_have_changed_are_refused(folder):
    written(folder / "grown.csv", [HEADER, *MIXED[:100]])
    thalweg("run", "grown.csv", *RUN, "--key", "shop")
    changed = MIXED[0].replace("2024-01-01,", "2024-01-01,9")
    written(folder / "grown.csv", [HEADER, changed, *MIXED[1:]])
    done = thalweg("run", "grown.csv", "--resume", "out/grown/models.db")
    assert done.exit_code == 2 and "has changed" in done.output


def killed_after_three_chunks(patch):
    """Let a run end, with predictions that no checkpoint has."""
    patch.setattr("thalweg.runs.run_command.KEYED_CHUNK_ROWS", 50)
    patch.setattr(run_loop, "FILE_SECONDS", 0.0)
    patch.setattr(run_loop, "MIN_WORK_SHARE", 0)
    play = run_loop.RunLoop._play_chunk

    def play_until_killed(self, chunk, is_last):
        if chunk.first_row == 150:  # predictions were written, and not saved
            self.file.write("half a line")
            raise KeyboardInterrupt
        play(self, chunk, is_last)

    patch.setattr(run_loop.RunLoop, "_play_chunk", play_until_killed)


@pytest.mark.slow
def test_a_run_that_was_killed_goes_on_to_the_last_bit(folder, monkeypatch):
    written(folder / "whole.csv", [HEADER, *MIXED])
    thalweg("run", "whole.csv", *RUN, "--key", "shop")
    written(folder / "killed.csv", [HEADER, *MIXED])
    killed_after_three_chunks(monkeypatch)
    assert thalweg("run", "killed.csv", *RUN, "--key", "shop").exit_code == 130
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    done = thalweg("run", "killed.csv", "--resume", "out/killed/models.db")
    assert done.exit_code == 0, done.output
    assert "Goes on after row 150." in done.stderr
    whole = (folder / "out/whole/predictions.csv").read_bytes()
    assert (folder / "out/killed/predictions.csv").read_bytes() == whole


def test_models_are_in_their_place_once_there_are_rows_to_go_on_from(
    tmp_path, monkeypatch
):
    """So that what a kill before the first checkpoint leaves is no file to resume."""
    path, commit, was_there = tmp_path / "models.db", KeyedStore.commit, []

    def note(store, *given):
        was_there.append(path.exists())
        commit(store, *given)

    monkeypatch.setattr(KeyedStore, "commit", note)
    models = open_models(path, by_key=True)
    for row in range(3):
        models.write([], {"row": row})
    models.close()
    assert was_there == [False, True, True]
    assert [file.name for file in tmp_path.iterdir()] == ["models.db"]
    models = open_models(path, True, path)
    assert models.read_shared("row") == 2
    models.close()


@pytest.mark.slow
def test_a_signal_saves_and_says_how_to_go_on(folder):
    many = [f"k{k % 40},{k // 40},{k % 7}\n" for k in range(60_000)]
    written(folder / "long.csv", ["key,t,y\n", *many])
    options = ("-t", "y", "--key", "key", "--no-report")
    process = started("run", "long.csv", *options, cwd=folder, stderr=-1, stdout=-1)
    while not (folder / "out/long/predictions.csv").exists():
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"Go on with:" in said and b"--resume out/long/models.db" in said


@pytest.mark.page
@pytest.mark.slow
def test_changes_are_told_by_key(folder):
    lines = [line.split(",") for line in LINES["south"]]
    days = np.datetime64("2024-01-01") + np.arange(3 * ROWS)
    sales = [f"{float(cells[3]) / (1 if k < 200 else 10):.4f}" for k, cells in
             enumerate(lines * 3)]  # fmt: skip
    changed = [f"south,{d},0,{v}\n" for d, v in zip(days, sales, strict=True)]
    written(folder / "mixed.csv", [HEADER, *LINES["north"], *changed])
    run = ("run", "mixed.csv", "-t", "sales", "--key", "shop", "--features", "none")
    done = thalweg(*run)
    assert done.exit_code == 0, done.output
    words = " ".join(done.output.split())
    assert "south one change, at its row 201 (2024-07-19" in words
    page = (folder / "out/mixed/report.html").read_text()
    assert "one change, at its row 201" in page
    (study,) = json.loads(thalweg(*run, "--json", "--out", "again").stdout)["studies"]
    alarms = {one["key"][0]: one["alarms"] for one in study["keys"]}
    assert [one["onset"] for one in alarms["south"]] == [201] and not alarms["north"]
    assert {one["key"][0]: one["alarm_count"] for one in study["keys"]} == {
        "south": 1, "north": 0,
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.page
def test_one_page_has_the_overview_and_the_keys(folder):
    written(folder / "mixed.csv", [HEADER, *MIXED])
    done = thalweg("run", "mixed.csv", "-t", "sales", "--key", "shop")
    assert done.exit_code == 0, done.output
    page = (folder / "out/mixed/report.html").read_text()
    assert "All series of mixed.csv" in page
    words = r"by squared errors, in which large ones count more, .* the best simple"
    assert re.search(words, page)
    assert page.count('<section class="study"') == 1 + len(SHOPS)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--key", "town"), "no column 'town'"),
        (("--key", "sales"), "which is a target, a feature or the time"),
        (("--key", "a", "--features", "a"), "which is a target, a feature"),
    ],
)
def test_keys_that_cannot_be_are_named(folder, options, sentence):
    written(folder / "mixed.csv", [HEADER, *MIXED])
    done = thalweg("run", "mixed.csv", "-t", "sales", *options)
    assert done.exit_code == 2 and sentence in " ".join(done.output.split())


def test_more_keys_than_the_limit_are_refused(folder, monkeypatch):
    monkeypatch.setattr("thalweg.tables.row_keys.MAX_KEYS", 2)
    written(folder / "mixed.csv", [HEADER, *MIXED])
    for command in ("run", "forecast"):
        done = thalweg(command, "mixed.csv", "-t", "sales", "--key", "shop")
        assert done.exit_code == 2
        assert "more than 2 series" in " ".join(done.output.split())


CLASSES = ("--features", "a", "--no-report")


def class_lines(names=("poor", 'fair, "ok"', "good")):
    """Rows of all shops in turn, with a class by the column ``a``; then 0 or 1."""
    for line in MIXED:
        a = float(line.split(",")[2])
        label = names[(a > -0.6) + (a > 0.6)].replace('"', '""')
        yield f'{line.rstrip()},"{label}",{int(a > 0)}\n'


CLASS_HEADER = "shop,when,a,sales,kind,bought\n"


def test_each_key_is_classified_as_if_it_were_alone(folder):
    rows = list(class_lines())
    written(folder / "mixed.csv", [CLASS_HEADER, *rows])
    for target in ("kind", "bought"):
        done = thalweg("run", "mixed.csv", "-t", target, "--key", "shop", *CLASSES)
        assert done.exit_code == 0, done.output
        assert (
            f"{target!r} {'is text' if target == 'kind' else 'holds 0'}" in done.stderr
        )
        assert "accuracy" in " ".join(done.output.split())
        together = predictions(folder / "out/mixed/predictions.csv")
        for shop in SHOPS:
            lines = [row for row in rows if row.startswith(shop)]
            written(folder / f"{shop}.csv", [CLASS_HEADER, *lines])
            options = ("-t", target, "--time", "when", *CLASSES)
            assert thalweg("run", f"{shop}.csv", *options).exit_code == 0
            alone = predictions(folder / f"out/{shop}/predictions.csv")
            own = [row for row in together if row["shop"] == shop]
            assert [{"shop": shop, **row} for row in alone] == [
                {name: row[name] for name in ("shop", *alone[0])} for row in own
            ]


def test_a_class_that_comes_later_is_among_the_others(folder, monkeypatch):
    monkeypatch.setattr("thalweg.tables.class_labels.LOOK_ROWS", 60)
    monkeypatch.setattr("thalweg.runs.run_command.KEYED_CHUNK_ROWS", 60)
    rows = list(class_lines())
    late = [
        row if k < 200 else row.replace("good", "new") for k, row in enumerate(rows)
    ]
    written(folder / "mixed.csv", [CLASS_HEADER, *late])
    done = thalweg("run", "mixed.csv", "-t", "kind", "--key", "shop", *CLASSES)
    assert done.exit_code == 0, done.output
    found = predictions(folder / "out/mixed/predictions.csv")
    names = [name for name in found[0] if name.startswith("p ")]
    assert len(names) == 4 and "p new" not in names and names[-1] == "p (other)"
    for row in found[100:]:
        assert sum(float(row[name]) for name in names) == pytest.approx(1)
    assert "new" in {row["prediction"] for row in found}


@pytest.mark.page
def test_the_scores_of_classes_are_those_of_all_rows_and_of_each_key(folder):
    written(folder / "mixed.csv", [CLASS_HEADER, *class_lines()])
    run = ("run", "mixed.csv", "-t", "kind", "--key", "shop", "--features", "a")
    found = json.loads(thalweg(*run, "--json").stdout)
    (study,) = found["studies"]
    assert study["kind"] == "classification" and len(study["classes"]) == 3
    tracker = next(one for one in study["learners"] if one["role"] == "tracker")
    scored = [one["scored_rounds"] for one in study["keys"]]
    right = [one["accuracy"] for one in study["keys"]]
    assert tracker["accuracy"] == pytest.approx(np.average(right, weights=scored))
    assert tracker["accuracy"] > 0.6 and sum(scored) == study["scored_rounds"]
    page = (folder / "out/mixed/report.html").read_text()
    assert page.count('<section class="study"') == 1 + len(SHOPS)


@pytest.mark.parametrize("target", ["kind", "bought"])
def test_classes_by_key_go_on_to_the_last_bit_after_a_kill(folder, monkeypatch, target):
    options = ("-t", target, "--key", "shop", *CLASSES)
    written(folder / "whole.csv", [CLASS_HEADER, *class_lines()])
    assert thalweg("run", "whole.csv", *options).exit_code == 0
    whole = (folder / "out/whole/predictions.csv").read_bytes()
    written(folder / "killed.csv", [CLASS_HEADER, *class_lines()])
    with monkeypatch.context() as patch:
        killed_after_three_chunks(patch)
        assert thalweg("run", "killed.csv", *options).exit_code == 130
    resume = ("--resume", "out/killed/models.db", "--no-report")
    refused = thalweg("run", "killed.csv", *resume, "--regress")
    assert refused.exit_code == 2 and "as classes" in refused.output
    done = thalweg("run", "killed.csv", *resume)
    assert done.exit_code == 0, done.output
    assert (folder / "out/killed/predictions.csv").read_bytes() == whole


def wait_for_rows(path, rows):
    """Wait until the quiet pipe has been saved, which it is after two seconds."""
    for _ in range(600):
        time.sleep(0.1)
        with contextlib.suppress(sqlite3.OperationalError):  # not there yet
            file = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
            query = "SELECT value FROM source WHERE name = 'offset'"
            found = file.execute(query).fetchone()
            file.close()
            if found == (rows,):
                return
    raise AssertionError(f"{rows} rows were never saved")


@pytest.mark.slow
def test_a_pipe_of_many_keys_that_goes_quiet_survives_a_kill(folder):
    written(folder / "mixed.csv", [HEADER, *MIXED])
    assert thalweg("run", "mixed.csv", *RUN, "--key", "shop").exit_code == 0
    whole = (folder / "out/mixed/predictions.csv").read_text().splitlines(True)
    run = ("run", "-", *RUN, "--key", "shop", "--out", "piped")
    process = started(*run, cwd=folder, **PIPES)
    for first, last in ((0, 11), (11, 81)):
        fed(process, [HEADER, *MIXED][first:last])
        assert read(process, last - first) == whole[first:last]
    wait_for_rows(folder / "piped/models.db", 80)
    process.kill()
    process.communicate()
    resume = ("run", "-", "--resume", "piped/models.db", "--no-report")
    process = started(*resume, cwd=folder, **PIPES)
    rest, remarks = process.communicate("".join([HEADER, *MIXED[80:]]).encode())
    assert process.returncode == 0, remarks
    assert rest.decode() == "".join(whole[81:])


def test_a_pipe_of_many_keys_can_be_cut_anywhere(folder):
    written(folder / "mixed.csv", [HEADER, *MIXED])
    done = thalweg("run", "mixed.csv", *RUN, "--key", "shop")
    assert done.exit_code == 0, done.output
    run = ["run", "-", *RUN, "--key", "shop", "--out", "piped"]
    first = RUNNER.invoke(app, run, input="".join([HEADER, *MIXED[:100]]))
    assert first.exit_code == 0, first.output
    resumed = ["run", "-", "--no-report", "--resume", "piped/models.db"]
    second = RUNNER.invoke(app, resumed, input="".join([HEADER, *MIXED[100:]]))
    assert second.exit_code == 0, second.output
    whole = (folder / "out/mixed/predictions.csv").read_text()
    assert first.stdout + second.stdout == whole
    assert not (folder / "piped/predictions.csv").exists()


@pytest.mark.slow
def test_a_change_is_told_by_key_while_the_pipe_goes_on(folder):
    rng = np.random.default_rng(3)
    rows = [
        f"{shop},{(10 if shop == 'south' and t >= 200 else 100) + rng.normal():.3f}\n"
        for t in range(230)
        for shop in ("north", "south")
    ]
    run = ("run", "-", "-t", "sales", "--key", "shop", "--no-report")
    process = started(*run, cwd=folder, **PIPES)
    _, remarks = process.communicate("".join(["shop,sales\n", *rows]).encode())
    assert process.returncode == 0, remarks
    told = [line for line in remarks.splitlines() if b"since row" in line]
    assert len(told) == 1 and told[0].startswith(b"south: row 20")
    assert b"since row 201, level" in told[0]
    again = started(*run, "--resume", "out/stdin/models.db", cwd=folder, **PIPES)
    more = "".join(["shop,sales\n", *rows[-20:]]).encode()
    assert b"since row" not in again.communicate(more)[1] and not again.returncode
