"""Every file that a page, a docstring or a comment names exists."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src/thalweg"
NAMED_FILE = re.compile(r"(?<![\w./<*-])[\w.-]+(?:/[\w.-]+)*\.(?:py|md)\b(?![\w/])")
PAGES = [
    *ROOT.glob("docs/**/*.md"),
    *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")),
    ROOT / "benchmarks/README.md",
]
SOURCES = [*PACKAGE.rglob("*.py"), *ROOT.glob("benchmarks/**/*.py")]


def missing_files(page: Path) -> Iterator[str]:
    for number, line in enumerate(page.read_text().splitlines(), start=1):
        for name in NAMED_FILE.findall(line):
            if not file_exists(name, page.parent):
                yield f"{page.relative_to(ROOT)}, line {number}: {name}"


def file_exists(name: str, folder: Path) -> bool:
    """Whether the file is there, seen from the page, the repository or the package.

    The name may leave out leading folders: ``windup.py`` is kernels/windup.py.
    """
    if any((start / name).is_file() for start in (folder, ROOT, ROOT / "src")):
        return True
    return any(PACKAGE.rglob(name)) or any((ROOT / "benchmarks").rglob(name))


@pytest.mark.parametrize(
    "page", sorted(PAGES + SOURCES), ids=lambda page: str(page.relative_to(ROOT))
)
def test_every_file_that_a_page_or_a_comment_names_exists(page):
    assert list(missing_files(page)) == []


def test_a_file_that_does_not_exist_is_reported(tmp_path, monkeypatch):
    monkeypatch.setattr(f"{__name__}.ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text("See `kernels/no_such_file.py` and\n[this](no-such-page.md).")
    assert list(missing_files(page)) == [
        "page.md, line 1: kernels/no_such_file.py",
        "page.md, line 2: no-such-page.md",
    ]
