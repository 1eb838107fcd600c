"""docs/decisions: one short page a design, each with the same four questions."""

import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent / "docs/decisions"
INDEX = FOLDER / "README.md"
PAGES = sorted(set(FOLDER.glob("*.md")) - {INDEX})
MAX_WORDS = 440


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_a_page_says_what_why_what_else_and_the_cost_of_undoing_in_few_words(page):
    text = page.read_text()
    for question in ("What", "Why", "What else was considered", "Cost of undoing"):
        assert f"**{question}.**" in text, question
    assert len([word for word in text.split() if re.search(r"\w", word)]) <= MAX_WORDS


def test_the_index_names_every_page_once():
    named = re.findall(r"\]\(([\w-]+\.md)\)", INDEX.read_text())
    assert sorted(named) == [page.name for page in PAGES]
