import json
import re
from html.parser import HTMLParser

import pytest

import thalweg.report
from tests.report import example_studies
from thalweg.errors import InvalidParameterError
from thalweg.report import write_page
from thalweg.report.page import json_for_script
from thalweg.report.section import FoldedPart, Section, Tile
from thalweg.report.study_sections import study_section

MAX_BYTES = 3_000_000
VOID = {"meta", "br", "img", "input", "link", "hr"}


class Page(HTMLParser):
    """What a browser would make of the file: elements, and the text in each."""

    def __init__(self, text):
        super().__init__()
        self.elements, self._open = [], []
        self.feed(text)
        assert not self._open, "an element is not closed"

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs), []))
        if tag not in VOID:
            self._open.append(self.elements[-1])

    def handle_endtag(self, tag):
        assert self._open.pop()[0] == tag

    def handle_data(self, data):
        if self._open:
            self._open[-1][2].append(data)

    def all(self, *tags):
        return [found for found in self.elements if found[0] in tags]

    def texts(self, *tags):
        return ["".join(text).strip() for _, _, text in self.all(*tags)]


def page(tmp_path, *studies):
    path = tmp_path / "report.html"
    write_page([*map(study_section, studies)], path)
    return path.read_text(encoding="utf-8")


@pytest.mark.slow
def test_two_studies_stay_below_three_megabytes(tmp_path):
    text = page(tmp_path, example_studies.full(), example_studies.crowded())
    assert len(text.encode()) < MAX_BYTES


def test_nothing_comes_from_a_network(tmp_path):
    text = page(tmp_path, example_studies.full(), example_studies.hostile())
    found = Page(text)
    for _, attributes, _ in found.elements:
        assert "src" not in attributes
        assert attributes.get("href", "#").startswith("#")
    (style,) = found.texts("style")
    assert "url(" not in style and "@import" not in style
    assert "default-src 'none'" in text and "connect-src" not in text


@pytest.mark.slow
def test_headings_come_in_order_and_every_anchor_leads_somewhere(tmp_path):
    found = Page(
        page(
            tmp_path,
            example_studies.full(),
            example_studies.bare(),
            example_studies.crowded(),
        )
    )
    levels = [int(tag[1]) for tag, _, _ in found.all("h1", "h2", "h3", "h4")]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after - before <= 1 for before, after in zip(levels, levels[1:]))  # noqa: B905
    ids = [given["id"] for _, given, _ in found.elements if "id" in given]
    assert len(ids) == len(set(ids))
    links = [given["href"][1:] for _, given, _ in found.all("a")]
    assert len(links) == 3 and set(links) <= set(ids)
    for _, given, _ in found.elements:
        assert set(given.get("aria-labelledby", "").split()) <= set(ids)


def test_the_headline_stands_on_top_and_every_learner_in_the_folded_table(tmp_path):
    study = example_studies.crowded()
    found = Page(page(tmp_path, study))
    first = "".join(found.all("p")[1][2])
    assert first.startswith("The forecast of y is off by ")
    assert "less error than repeating the last value." in first
    rows = [text for text in found.texts("th") if text]
    for entry in study.entries:
        assert entry.name in rows
    assert "Crowded" in found.texts("h1")
    assert "All methods that were run" in found.texts("summary")


def test_the_words_on_top_need_no_theory(tmp_path):
    text = page(tmp_path, example_studies.full())
    top = re.sub("<[^>]*>", "", text[text.index("<h1>") : text.index("<figure")])
    theory = {"discount", "regret", "expert", "experts", "tracker", "label", "round"}
    assert not theory & set(re.findall("[a-z]+", top.lower()))


@pytest.mark.slow
def test_the_winner_is_marked_even_when_it_is_not_the_tracker(tmp_path):
    worst = example_studies.entry("Tracker", "tracker", 3.0, 0)
    study = example_studies.full(entries=(worst, *example_studies.entries()[1:]))
    text = page(tmp_path, study)
    assert text.count("least error</span>") == 1
    row = re.search(r'<tr class="bold">.*?</tr>', text, re.DOTALL)
    assert row and "RLS, γ = 0.98" in row.group()


def test_a_page_takes_sections_that_are_no_studies(tmp_path):
    """As commands with other results make them: all parts but the title may lack."""
    part = FoldedPart("more", "More of it", preformatted="One line.")
    tile = Tile("Next value", "412", "Tomorrow at noon.")
    path = tmp_path / "report.html"
    write_page(
        [
            Section(
                "Forecast",
                "It rises.",
                tiles=(tile,),
                folded=(part,),
                sentences=("One sentence.",),
            ),
            Section("B", "b"),
        ],
        path,
        "Two sections",
    )
    found = Page(path.read_text(encoding="utf-8"))
    assert found.texts("h1") == ["Two sections"]
    assert found.texts("h2") == ["Forecast", "B"]
    words = found.texts("p", "li")
    assert found.texts("summary") == ["More of it", "What else was found"]
    assert {"Next value", "412", "Tomorrow at noon.", "One sentence."} <= set(words)


def test_hostile_names_stay_text(tmp_path):
    study = example_studies.hostile()
    found = Page(page(tmp_path, study))
    assert len(found.all("script")) == 3 and not found.all("b")
    assert found.texts("title") == [study.title] == found.texts("h1")
    words = "".join("".join(text) for _, _, text in found.elements)
    assert "{{ 7 }}" in words and study.notes[0] in words


def test_json_in_a_script_cannot_end_it_and_reads_back():
    value = {"</script><!--": ["\u2028", "a'b\"c", None, 1.5]}
    text = json_for_script(value)
    assert "<" not in text and json.loads(text) == value


def test_a_study_of_only_what_is_needed_makes_a_page(tmp_path):
    found = Page(page(tmp_path, example_studies.bare()))
    assert "Bare" in found.texts("h1")
    assert "Notes on method and data" not in found.texts("summary")
    assert len(found.all("figure")) == 4


@pytest.mark.slow
def test_the_same_study_makes_the_same_page(tmp_path):
    assert page(tmp_path, example_studies.full()) == page(
        tmp_path, example_studies.full()
    )


def test_a_page_of_nothing_is_refused(tmp_path):
    with pytest.raises(InvalidParameterError, match="at least one section"):
        write_page([], tmp_path / "report.html")


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = thalweg.report.nonsense
