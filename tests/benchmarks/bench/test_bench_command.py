import pytest
from typer.testing import CliRunner

from benchmarks.bench import command
from benchmarks.bench.bench_figure import COLOURS, LABEL_DISTANCE, line_labels
from benchmarks.bench.bench_results import BenchResults
from benchmarks.bench.command import APP, ProgressLine
from benchmarks.bench.implementations import RLS_RUN, installed_peers
from tests.benchmarks.bench.sample_results import sample_timing

RUNNER = CliRunner()


@pytest.mark.slow
def test_a_run_prints_tables_draws_and_can_be_compared_later(tmp_path):
    paths = ["--json", str(tmp_path / "a.json"), "--figure", str(tmp_path / "a.png")]
    options = ["--quick", "--only", "call", "--sizes", "2,4", *paths]
    done = RUNNER.invoke(APP, options)
    assert done.exit_code == 0, done.output
    assert "One call" in done.output and "What we promise" in done.output
    assert max(len(line) for line in done.output.splitlines()) <= 100
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    results = BenchResults.load(tmp_path / "a.json")
    assert {timing.n for timing in results.timings} == {2, 4}
    again = RUNNER.invoke(APP, [*options, "--against", str(tmp_path / "a.json")])
    assert again.exit_code == 0 and "this run over the earlier one" in again.output


def test_impossible_options_are_refused_in_a_sentence(tmp_path):
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


def test_every_implementation_has_a_colour():
    peers = installed_peers()
    names = [one.name for one in (*peers.per_round, *peers.whole_array)]
    for point in line_labels(
        [sample_timing("call", name, 8, 1.0) for name in (*names, RLS_RUN)]
    ):
        assert point["library"] in COLOURS


def test_labels_stay_apart_and_in_order():
    timings = [
        sample_timing("call", f"peer {i}", 64, 1000.0 * 1.01**i) for i in range(5)
    ]
    timings.append(sample_timing("call", "far away", 64, 1e6))
    timings.append(sample_timing("call", "ends early", 8, 50.0))
    labels = {one["name"]: one["µs"] for one in line_labels(timings)}
    positions = [labels[f"peer {i}"] for i in range(5)]
    for below, above in zip(positions, positions[1:], strict=False):
        assert above / below >= 10**LABEL_DISTANCE * (1 - 1e-9)
    assert positions[0] < 1.0 < positions[-1]  # around their lines, not above them
    assert labels["far away"] == 1e3


def test_progress_says_how_long_it_took_so_far(monkeypatch, capsys):
    times = iter([1000.0, 1007.0])
    monkeypatch.setattr(command.time, "perf_counter", lambda: next(times))
    ProgressLine()("one step")
    assert capsys.readouterr().err.strip() == "7 s  one step"
