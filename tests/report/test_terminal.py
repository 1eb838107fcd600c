"""Sections in the terminal: which columns and rows fit, and what is left out."""

from dataclasses import replace

import pytest
from rich.console import Console

from thalweg.report.number_text import format_number
from thalweg.report.section import (
    Column,
    FoldedPart,
    ResultTable,
    Section,
    Tile,
    best_and_worst,
)
from thalweg.report.terminal import print_section

TABLE = ResultTable(
    title="Errors",
    columns=(
        Column("series"),
        Column("kind of it", is_optional=True),
        Column("typical error", format_number, is_optional=True),
        Column("squared error", format_number),
    ),
    rows=tuple((f"series [{k}]", "simple", 1.5 * k, None) for k in range(30)),
)


def printed(section, width=80):
    console = Console(width=width, color_system=None, record=True, quiet=False)
    with console.capture() as capture:
        print_section(console, section)
    return capture.get()


def section_of(table, **others):
    return Section("s", "It rises.", tables=(table,), **others)


@pytest.mark.parametrize(
    ("width", "shown"),
    [(80, ("kind", "typical")), (44, ("typical",)), (24, ())],
)
def test_optional_columns_are_left_out_as_far_as_they_do_not_fit(width, shown):
    text = printed(section_of(TABLE), width)
    for name in ("kind", "typical", "squared"):
        assert (name in text) == (name in (*shown, "squared"))


def test_a_gap_stands_between_the_best_and_the_worst():
    short = replace(TABLE, short=best_and_worst(30, 2), short_note="best and worst")
    lines = [line.split()[0:2] for line in printed(section_of(short)).splitlines()]
    starts = [line for line in lines if line[:1] in (["series"], ["…"])][1:]
    assert starts == [
        ["series", "[0]"], ["series", "[1]"], ["…"], ["series", "[28]"],
        ["series", "[29]"],
    ]  # fmt: skip
    assert "Errors, best and worst" in printed(section_of(short))
    assert best_and_worst(4, 2) == ()


def test_details_are_printed_where_they_say_so_and_tiles_are_sentences():
    parts = (
        FoldedPart("a", "A", replace(TABLE, title="Shown"), is_printed=True),
        FoldedPart("b", "B", replace(TABLE, title="Folded")),
        FoldedPart("c", "C", replace(TABLE, title="Empty", rows=()), is_printed=True),
    )
    tiles = (Tile("Gain", "3 %", "It pays."), Tile("Error", "5", "", True))
    section = Section("s", "It rises.", "Mind.", tiles, folded=parts, sentences=("X.",))
    text = printed(replace(section, facts=(("rows", "7"), ("season", "none"))))
    assert "Shown" in text and "Folded" not in text and "Empty" not in text
    said = [line for line in text.splitlines() if line.startswith("•")]
    assert said == [
        "• It rises.", "• Mind.", "• Gain: 3 %. It pays.", "• X.",
        "• Rows: 7; season: none.",
    ]  # fmt: skip


def test_no_line_ends_inside_a_percentage():
    words = " ".join(["It is 34 % of all."] * 30)
    text = printed(Section("s", words))
    assert not any(line.startswith("  %") for line in text.splitlines())
