"""Totals between the rows of files: skipped, and counted."""

from datetime import date
from itertools import accumulate

import pytest

from thalweg.tables import read_table, sources

MONTHS = [date(2019 + k // 12, k % 12 + 1, 1) for k in range(36)]


def lines(word="Total {}", form="{:%b %Y}"):
    """Monthly rows, and a total below each year."""
    made = ["month,sales,shop\n"]
    for k, month in enumerate(MONTHS):
        made.append(f"{form.format(month)},{k},north\n")
        if month.month == 12:
            made.append(f"{word.format(month.year)},{12 * k},\n")
    return made


def read(path, given, **settings):
    path.write_text("".join(given))
    with read_table(path, **settings) as table:
        chunks = list(table.chunks())
        numbers = [n for chunk in chunks for n in chunk.numbers("sales").tolist()]
        return (
            numbers,
            [(chunk.first_row, len(chunk)) for chunk in chunks],
            table.notes(),
        )


@pytest.mark.parametrize("cut", [5, 1000])
@pytest.mark.parametrize("parts", [1, 2])
@pytest.mark.parametrize(
    ("word", "form"), [("Total {}", "{:%b %Y}"), ("Summe", "{:%d.%m.%Y}")]
)
def test_totals_between_rows_are_skipped(tmp_path, monkeypatch, cut, parts, word, form):
    given = lines(word, form)
    whole = read(tmp_path / "x.csv", given)[2]
    assert whole[0].startswith("Row 13 (line 14) of x.csv is skipped as a summary")
    size = sum(map(len, given)) // parts + 1
    monkeypatch.setattr(sources, "FILE_READ_BYTES", size)
    numbers, chunks, _ = read(tmp_path / "x.csv", given, chunk_rows=cut)
    assert numbers == [*map(float, range(36))]
    assert [first for first, _ in chunks] == [0, *accumulate(n for _, n in chunks)][:-1]


def test_their_number_is_told(tmp_path):
    note = read(tmp_path / "x.csv", lines())[2][0]
    assert note.endswith(
        "'month' is 'Total 2019', and other rows have times there. So are 2 other rows."
    )


@pytest.mark.parametrize(
    "given",
    [
        [line.replace("Total", "Closed") for line in lines()],
        ["month,sales,shop\n", *(f"2024-01-0{k},1,Total\n" for k in range(1, 8))],
        ["month,sales,shop\n", *(f"{w},1,x\n" for w in ("Total", "low", "high") * 9)],
        [
            "month,sales,shop\n",
            *["2024-01-01,1,a\n", "Total,2,\n"] * 9,
            "2024-01-02,1,\n",
        ],
    ],
)
def test_other_rows_stay(tmp_path, given):
    numbers, _, notes = read(tmp_path / "x.csv", given)
    assert len(numbers) == len(given) - 1 and notes == ()
