"""Totals and blank rows at the end of files: skipped, and said to be."""

import io
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thalweg.errors import StreamError
from thalweg.tables import read_table, sources
from thalweg.tables.row_filters import MAX_SUMMARY_ROWS, is_summary_word

DAYS = [date(2024, 1, 2) + timedelta(days=k) for k in range(30)]
ROWS = [f"{day},{k}.5,north\n" for k, day in enumerate(DAYS)]
HEADER = "day,sales,shop\n"


def read(path, lines, **settings):
    """The first column of a file, and the notes about it."""
    path.write_text("".join(lines))
    with read_table(path, **settings) as table:
        first = [chunk.cells[table.columns[0]].values for chunk in table.chunks()]
        return [str(cell) for cells in first for cell in cells], table.notes()


DAY_TEXTS = [str(day) for day in DAYS]


@pytest.mark.parametrize(
    "word",
    ["Total", "SUMME", "Gesamt:", "Insgesamt", "Grand total", "Somme", "Total 2024",
     "Totale", "Mittelwert", "sum", "Sub-total"],
)  # fmt: skip
def test_a_total_in_a_column_of_times_is_skipped(tmp_path, word):
    found, notes = read(tmp_path / "x.csv", [HEADER, *ROWS, f"{word},450,\n"])
    assert found == DAY_TEXTS
    assert notes == (
        f"Row 31 (line 32) of x.csv is skipped as a summary: 'day' is {word!r}, "
        "and other rows have times there.",
    )


def test_several_summaries_and_blank_rows_are_skipped(tmp_path):
    end = [",,\n", "Total,450,\n", "Mean,15,\n", ",NA,\n", ",,\n"]
    found, notes = read(tmp_path / "x.csv", [HEADER, *ROWS, *end])
    assert found == DAY_TEXTS
    assert [note.partition(" is skipped")[0] for note in notes[:2]] == [
        "Row 32 (line 33) of x.csv", "Row 33 (line 34) of x.csv",
    ]  # fmt: skip
    assert notes[2] == "3 rows at the end of x.csv have no value and are skipped."


def test_a_total_in_a_column_of_numbers_or_without_a_time_is_skipped(tmp_path):
    years = [f"{2000 + k},{k},a\n" for k in range(9)]
    found, (note,) = read(tmp_path / "y.csv", ["year,y,z\n", *years, "Total,36,\n"])
    assert len(found) == 9 and "other rows have numbers there" in note
    lines = [f"north,{day},{k}\n" for k, day in enumerate(DAYS)]
    found, (note,) = read(
        tmp_path / "s.csv", ["shop,day,y\n", *lines, "All,,\n", "Total,,435\n"]
    )
    assert len(found) == 31 and "'shop' is 'Total', and it has no 'day'" in note


@pytest.mark.parametrize(
    "end",
    [
        ["2024-02-01,3,Total\n"],  # a place where a shop is named
        ["Closed,3,\n"],  # no summary
        ["2) estimated,,\n"],  # a footnote that may be a value
        ["Closed on Sundays,,x\n"],
        ["Maxim,3,\n"],  # another word
        [",3,\n"],  # the time alone is missing
    ],
)
def test_other_rows_at_the_end_stay(tmp_path, end):
    found, notes = read(tmp_path / "x.csv", [HEADER, *ROWS, *end])
    assert len(found) == 30 + len(end) and notes == ()


def test_a_column_that_says_total_in_all_rows_is_one_of_the_table(tmp_path):
    rows = [f"{day},{k},Total\n" for k, day in enumerate(DAYS)]
    found, notes = read(tmp_path / "x.csv", [HEADER, *rows])
    assert found == DAY_TEXTS and notes == ()
    totals = ["Total,1,\n"] * (2 * MAX_SUMMARY_ROWS)  # more than a third
    found, notes = read(tmp_path / "x.csv", [HEADER, *ROWS, *totals])
    assert len(found) == 30 + len(totals) and notes == ()


def test_a_footnote_is_skipped(tmp_path):
    end = ["Total,450,\n", ",,\n", "Source: the shops,,\n", "* estimated,,\n"]
    found, notes = read(tmp_path / "x.csv", [HEADER, *ROWS, *end])
    assert found == DAY_TEXTS and len(notes) == 4
    assert notes[1] == (
        "Row 33 (line 34) of x.csv is skipped as a footnote: 'day' is 'Source: the "
        "shops', and no other cell has a value."
    )
    end = ["2024-02-01,,\n"] * 20  # rows to be predicted
    found, notes = read(tmp_path / "x.csv", [HEADER, *ROWS, *end])
    assert len(found) == 50 and notes == ()


def test_rows_of_a_pipe_stay():
    data = "".join([HEADER, *ROWS, "Total,450,\n", ",,\n"]).encode()
    table = read_table(io.BytesIO(data))
    assert sum(map(len, table.chunks())) == 32 and table.notes() == ()


def test_a_file_of_blank_rows_has_no_rows(tmp_path):
    (tmp_path / "x.csv").write_text("a,b\n,\n,\n")
    with pytest.raises(StreamError, match="has no rows"):
        list(read_table(tmp_path / "x.csv").chunks())


@given(
    blanks=st.integers(0, 40), inner=st.integers(0, 20), size=st.integers(150, 400),
    total=st.booleans(),
)  # fmt: skip
def test_the_same_rows_remain_however_bytes_arrive(
    blanks, inner, size, total, tmp_path_factory
):
    path = tmp_path_factory.mktemp("cut") / "x.csv"
    lines = [HEADER, *ROWS[:15], *([",,\n"] * inner), *ROWS[15:], *([",,\n"] * blanks)]
    lines += ["Total,450,\n"] * total
    whole = read(path, lines)
    assert len(whole[0]) == 30 + inner
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sources, "FILE_READ_BYTES", size)
        assert read(path, lines) == whole


def test_words_of_summaries_stand_alone():
    assert all(map(is_summary_word, ["Total", " sum ", "Total (EUR)", "Max."]))
    assert not any(map(is_summary_word, ["Totally", "Summer", "Maxi", "a total", ""]))
