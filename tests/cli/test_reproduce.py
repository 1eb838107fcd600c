import json

from tests.cli.streams import thalweg


def test_reproduce_prints_its_tables_and_saves_what_it_found(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = thalweg("reproduce", "--quick", "--out", "new")
    assert done.exit_code == 0, done.output
    assert "How regret grows with T" in done.output and "Thm. 7" in done.output
    assert max(len(line) for line in done.output.splitlines()) <= 80
    saved = {path.name for path in (tmp_path / "new").iterdir()}
    names = ("rates", "tradeoff", "rivals")
    figures = {f"{name}.{kind}" for name in names for kind in ("png", "svg")}
    assert saved == figures | {"reproduce.json"}
    numbers = json.loads((tmp_path / "new" / "reproduce.json").read_text())
    assert len(numbers["results"]) == 29
    assert (tmp_path / "new" / "rates.png").read_bytes().startswith(b"\x89PNG")


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    done = thalweg("reproduce", "--out", tmp_path / "file" / "sub")
    assert done.exit_code == 2
    assert "cannot be made" in done.output


def test_help_says_what_it_does():
    done = thalweg("reproduce", "--help")
    assert done.exit_code == 0 and "Measure every rate" in done.output
