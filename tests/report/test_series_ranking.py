"""Tables of many series, ranked by their errors."""

from typing import NamedTuple

import pytest

from thalweg.report.section import Column
from thalweg.report.series_ranking import better_tile, ranking_table, unscored_sentences
from thalweg.tables.row_keys import key_text


class Score(NamedTuple):
    key: tuple[str, ...]
    error: int | None


@pytest.mark.parametrize(("count", "listed"), [(3, 3), (200, 200), (201, 200)])
def test_of_many_series_the_best_and_the_worst_are_listed(count, listed):
    ranking = [Score((f"shop {k}", "north"), k) for k in range(count)]
    columns = (Column("error"), Column("unknown"))
    table = ranking_table(
        "Errors", ("shop", "region"), columns, ranking, lambda one: (one.error, None),
        "In euros.",
    )  # fmt: skip
    assert [column.name for column in table.columns] == ["shop, region", "error"]
    assert len(table.rows) == listed
    assert table.rows[0] == (key_text(("shop 0", "north")), 0)
    assert table.rows[-1] == (key_text((f"shop {count - 1}", "north")), count - 1)
    is_cut = " The best and the worst 100 of 201 are listed." in table.caption
    assert is_cut == (count > listed)
    assert len(table.short_version().rows) == min(count, 10)


def test_series_without_a_ratio_are_not_better():
    tile = better_tile([0.5, 1.0, float("nan")], "less error", "method")
    assert (tile.value, tile.text) == (
        "1 of 3", "Series with less error than their best simple method.",
    )  # fmt: skip
    assert unscored_sentences(0) == ()
    assert unscored_sentences(1) == ("1 series has too few rows to be scored.",)
