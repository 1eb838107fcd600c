"""docs/architecture.md: its picture is the import contract, its table stays short."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src/thalweg"
PAGE = (ROOT / "docs/architecture.md").read_text()
MAX_CHANGES = 20


def section(title):
    return re.split(r"^## ", PAGE.split(f"\n## {title}\n")[1], flags=re.MULTILINE)[0]


def picture():
    """The layers of the picture, each a set of packages: the text before two blanks."""
    lines = re.findall(r"^    (\S.*)$", section("Packages"), re.MULTILINE)
    return [set(re.split(r"\s{2,}", line)[0].split(" | ")) for line in lines]


def contract():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    contracts = settings["tool"]["importlinter"]["contracts"]
    (layers,) = [
        one["layers"]
        for one in contracts
        if one["name"] == "Packages import downwards only"
    ]
    return [
        {name.strip().removeprefix("thalweg.") for name in layer.split("|")}
        for layer in layers
    ]


def test_the_picture_of_the_packages_is_the_import_contract():
    assert picture() == contract()


def test_every_package_and_module_is_in_the_picture():
    there = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    there |= {path.stem for path in PACKAGE.glob("*.py")} - {"__init__"}
    assert set().union(*picture()) == there


def test_there_are_five_journeys():
    assert len(re.findall(r"^\*\*", section("Five journeys"), re.MULTILINE)) == 5


def test_few_changes_are_listed_and_each_names_files_where_they_are():
    rows = re.findall(
        r"^\| (.+?) \| (.+) \|$", section("Where to change what"), re.MULTILINE
    )
    changes = [row for row in rows if row[0] not in ("to change", "---")]
    assert 10 <= len(changes) <= MAX_CHANGES
    for change, files in changes:
        named = re.findall(r"`([\w/]+\.py|[\w/]+/)`", files)
        assert named, change
        missing = [
            name
            for name in named
            if not (PACKAGE / name).exists() and not (ROOT / name).exists()
        ]
        assert missing == [], change
