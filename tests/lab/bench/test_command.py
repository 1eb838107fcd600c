import typer
from typer.testing import CliRunner

from tests.lab.bench.made_up import row
from thalweg.cli.bench import bench
from thalweg.lab.bench import Found
from thalweg.lab.bench.contender import assemble
from thalweg.lab.bench.figure import APART, COLOURS, labels
from thalweg.lab.bench.ours import RUN

APP = typer.Typer()
APP.command()(bench)
RUNNER = CliRunner()


def test_a_run_prints_tables_draws_and_can_be_compared_later(tmp_path):
    paths = ["--json", str(tmp_path / "a.json"), "--figure", str(tmp_path / "a.png")]
    wanted = ["--quick", "--only", "call", "--sizes", "2,4", *paths]
    done = RUNNER.invoke(APP, wanted)
    assert done.exit_code == 0, done.output
    assert "One call" in done.output and "What we promise" in done.output
    assert max(len(line) for line in done.output.splitlines()) <= 100
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    found = Found.load(tmp_path / "a.json")
    assert {row.n for row in found.rows} == {2, 4}
    again = RUNNER.invoke(APP, [*wanted, "--against", str(tmp_path / "a.json")])
    assert again.exit_code == 0 and "this run over the earlier one" in again.output


def test_what_cannot_be_done_is_said(tmp_path):
    (tmp_path / "file").write_text("{}")
    for wrong, complaint in (
        (["--only", "nonsense"], "Got 'nonsense' instead"),
        (["--sizes", "few"], "whole numbers"),
        (["--against", str(tmp_path / "file")], "holds no results"),
        (["--against", str(tmp_path / "none")], "No such file"),
    ):
        done = RUNNER.invoke(APP, wrong)
        assert done.exit_code == 2
        assert complaint in " ".join(done.output.split())


def test_every_contender_has_a_colour():
    field = assemble()
    names = [one.name for one in (*field.single, *field.whole)]
    for point in labels([row("call", name, 8, 1.0) for name in (*names, RUN)]):
        assert point["who"] in COLOURS


def test_labels_stay_apart_and_in_order():
    rows = [row("call", f"peer {i}", 64, 1000.0 * 1.01**i) for i in range(5)]
    rows.append(row("call", "far away", 64, 1e6))
    rows.append(row("call", "ends early", 8, 50.0))
    placed = {one["name"]: one["µs"] for one in labels(rows)}
    crowd = [placed[f"peer {i}"] for i in range(5)]
    for below, above in zip(crowd, crowd[1:], strict=False):
        assert above / below >= 10**APART * (1 - 1e-9)
    assert crowd[0] < 1.0 < crowd[-1]  # around their lines, not above them
    assert placed["far away"] == 1e3
