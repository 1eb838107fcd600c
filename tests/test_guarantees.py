"""Every promise in docs/guarantees.md names tests that exist."""

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs/guarantees.md"
NAMED_TEST = re.compile(r"`(?P<file>tests/[\w/]+\.py)::(?P<test>test_\w+)`")


def promises(page: str) -> list[tuple[str, str]]:
    """(promise, cell with its tests) for every row of the page's tables."""
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in page.splitlines()
        if line.startswith("|") and not line.startswith(("|---", "| promise |"))
    ]
    return [(row[0], row[-1]) for row in rows]


@cache
def defined_names(file: str) -> frozenset[str]:
    """The names of the tests that a file defines."""
    tree = ast.parse((ROOT / file).read_text())
    kinds = ast.FunctionDef | ast.AsyncFunctionDef
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, kinds))


def problems(page: str) -> list[str]:
    """What is wrong with the page, a sentence each."""
    sentences = []
    for promise, cell in promises(page):
        named = [match.groups() for match in NAMED_TEST.finditer(cell)]
        if not named:
            sentences.append(f"No test holds us to: {promise}")
        for file, test in named:
            if not (ROOT / file).is_file() or test not in defined_names(file):
                sentences.append(f"{file} has no {test}")
    return sentences


def test_every_promise_names_tests_that_exist():
    page = PAGE.read_text()
    assert len(promises(page)) >= 20
    assert problems(page) == []


def test_a_promise_without_a_test_is_reported():
    page = "| promise | held by |\n|---|---|\n| all is well | hope |\n"
    assert problems(page) == ["No test holds us to: all is well"]
    page = "| all is well | `tests/test_guarantees.py::test_no_such_thing` |\n"
    assert problems(page) == ["tests/test_guarantees.py has no test_no_such_thing"]
