import json

import pytest

from tests.cli.streams import thalweg
from thalweg import paper

FIGURES = ("exponents", "rates", "tight", "tradeoff", "rivals")


@pytest.fixture
def finished(quick_reproduction, monkeypatch):
    """The command finds its experiments done."""
    monkeypatch.setattr(
        paper, "reproduce", lambda quick, advance: quick_reproduction[0]
    )
    return quick_reproduction[0]


def test_reproduce_prints_its_tables_and_saves_what_it_found(
    finished, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    done = thalweg("reproduce", "--quick", "--out", "new")
    assert done.exit_code == 0, done.output
    assert "How regret grows with T" in done.output and "Thm. 7" in done.output
    assert "beat the paper's mixture" in done.output
    assert max(len(line) for line in done.output.splitlines()) <= 100
    saved = {path.name for path in (tmp_path / "new").iterdir()}
    figures = {f"{name}.{kind}" for name in FIGURES for kind in ("png", "svg")}
    assert saved == figures | {"reproduce.json", "claims.md", "claims.csv"}
    numbers = json.loads((tmp_path / "new" / "reproduce.json").read_text())
    assert len(numbers["results"]) == len(finished.results)
    assert (tmp_path / "new" / "rates.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("columns", [80, 100])
def test_every_claim_takes_at_most_two_lines(finished, tmp_path, monkeypatch, columns):
    """Also where a terminal has no more than the usual 80 columns."""
    monkeypatch.setattr(paper, "save_figures", lambda *_: [])
    monkeypatch.setenv("COLUMNS", str(columns))
    done = thalweg("reproduce", "--quick", "--out", tmp_path / "new")
    assert "…" not in done.output
    lines = done.output.splitlines()
    ends = [i for i, line in enumerate(lines) if line.startswith((" ──", "The "))]
    first, last = ends[:2]
    assert last - first - 2 <= 2 * len(finished.results)


def test_the_mark_of_the_footnote_is_no_bullet(finished, tmp_path, monkeypatch):
    monkeypatch.setattr(paper, "save_figures", lambda *_: [])
    done = thalweg("reproduce", "--quick", "--out", tmp_path / "new")
    lines = done.output.splitlines()
    assert any(line.startswith("† The theory's exponent") for line in lines)
    assert any(line.startswith("- No reason follows") for line in lines)
    assert not any(line.startswith("* ") for line in lines)
    assert "of lower order" not in done.output


def test_a_bound_that_does_not_hold_is_an_error(finished, tmp_path, monkeypatch):
    monkeypatch.setattr(paper, "save_figures", lambda *_: [])
    monkeypatch.setattr(paper.ClaimResult, "holds", lambda result: False)
    done = thalweg("reproduce", "--quick", "--out", tmp_path / "new")
    assert done.exit_code == 1
    assert "bounds did not hold" in done.output


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    done = thalweg("reproduce", "--out", tmp_path / "file" / "sub")
    assert done.exit_code == 2
    assert "cannot be made" in done.output


def test_help_says_what_it_does():
    done = thalweg("reproduce", "--help")
    assert done.exit_code == 0 and "Measure every rate" in done.output
