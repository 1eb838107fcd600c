"""docs/glossary.md is held to the code: every word stands in the file that it names."""

import re
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent
SOURCE, BENCHMARKS = ROOT / "src/thalweg", ROOT / "benchmarks"


class Entry(NamedTuple):
    word: str
    meaning: str
    other_words: str
    files: list[Path]


def read_entries():
    lines = (ROOT / "docs/glossary.md").read_text().splitlines()
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in lines
        if line.startswith("| ")
    ]
    return [
        Entry(word, meaning, others, paths(files))
        for word, meaning, others, files in rows
        if word not in ("word", "---")
    ]


def paths(cell):
    return [
        (ROOT if name.startswith("benchmarks/") else SOURCE) / name
        for name in re.findall("`(.+?)`", cell)
    ]


def as_searched(text):
    """Text in which a search does not stumble over line ends or capitals."""
    return re.sub(r"[\s#]+", " ", text).casefold()


ENTRIES = read_entries()
EVERYTHING = as_searched(
    " ".join(
        path.read_text()
        for folder in (SOURCE, BENCHMARKS)
        for path in folder.rglob("*.py")
    )
)


def test_the_glossary_has_the_words_of_the_field():
    assert len(ENTRIES) >= 20


@pytest.mark.parametrize("entry", ENTRIES, ids=[entry.word for entry in ENTRIES])
def test_every_word_stands_in_the_file_that_does_it(entry):
    assert entry.files
    for path in entry.files:
        text = as_searched(path.read_text())
        for word in entry.word.split(", "):
            assert word.casefold() in text, f"{path.name} does not say {word!r}"


@pytest.mark.parametrize("entry", ENTRIES, ids=[entry.word for entry in ENTRIES])
def test_the_words_of_other_texts_can_be_searched_for(entry):
    for word in filter(None, entry.other_words.split(", ")):
        name = re.sub(r"\s*\(.*\)|`", "", word)
        assert name.casefold() in EVERYTHING, f"no file says {name!r}"


def test_every_word_has_a_symbol_or_a_meaning():
    assert [entry.word for entry in ENTRIES if not entry.meaning] == []


def test_words_are_in_order_and_none_is_there_twice():
    words = [entry.word.casefold() for entry in ENTRIES]
    assert words == sorted(set(words))
