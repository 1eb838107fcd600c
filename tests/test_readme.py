"""What README.md and the pages beside it show runs as it stands, and prints that."""

import itertools
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
PAGES = ["docs/python.md", "docs/learners.md", "docs/theory.md"]
MAX_LINES = 200


def blocks(page, language):
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(), re.DOTALL)


def run_snippets(page):
    names = {}
    exec(compile("\n".join(blocks(page, "python")), str(page), "exec"), names)
    return names


def command_and_output(block):
    """A block of the console: the command, and the lines that it is said to print.

    Lines that begin with two blanks right below a command belong to it.
    """
    first, *others = block.removeprefix("$ ").splitlines()
    more = list(itertools.takewhile(lambda line: line.startswith("  "), others))
    shown = [line for line in others[len(more) :] if line != "..."]
    return "\n".join([first, *more]), shown


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_the_model_of_the_readme_has_learnt_what_it_should():
    names = run_snippets(README)
    np.testing.assert_allclose(
        names["truth"][-1], names["model"].coefficients[:3], atol=0.1
    )


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_shows_runs_as_it_stands(page):
    run_snippets(ROOT / page)


@pytest.mark.slow
def test_the_commands_of_the_readme_print_every_line_that_it_shows(tmp_path):
    shutil.copytree(ROOT / "src/thalweg/runs/demo_data", tmp_path / "out/demo")
    beside_python = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    if shutil.which("thalweg", path=beside_python) is None:
        pytest.skip("thalweg is not installed as a command")
    settings = {**os.environ, "PATH": beside_python, "COLUMNS": "80"}
    for block in blocks(README, "console"):
        command, shown = command_and_output(block)
        result = subprocess.run(
            ["bash", "-c", command], env=settings, capture_output=True, text=True
        )
        assert result.returncode == 0, result.stderr
        printed = (result.stderr + result.stdout).splitlines()
        rest = iter([line.rstrip() for line in printed])
        assert [line for line in shown if line not in rest] == [], command


def test_the_readme_is_short():
    assert len(README.read_text().splitlines()) <= MAX_LINES
