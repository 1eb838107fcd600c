import pytest

from tests.lab.bench.made_up import found, row
from thalweg.errors import PersistenceError
from thalweg.lab.bench.found import Found, against


def test_json_gives_back_what_was_found(tmp_path):
    path = tmp_path / "new" / "bench.json"
    found().save(path)
    assert Found.load(path) == found()


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 1}', '{"format": 2}'])
def test_a_file_of_something_else_is_refused(tmp_path, text):
    path = tmp_path / "other.json"
    path.write_text(text)
    with pytest.raises(PersistenceError, match="holds no results"):
        Found.load(path)


def test_against_gives_new_over_old_for_rows_that_both_have():
    new, old = found(3.0), found()
    new.rows.append(row("call", "a new peer", 8, 1.0))
    ratios = against(new, old)
    assert [one.key for one in ratios] == [one.key for one in old.rows]
    for one in ratios:
        assert one[4:] == pytest.approx((3.0, 2.7, 3.6))


def test_a_row_that_was_not_measured_is_none():
    assert found().row("call", "nobody", 8) is None
    assert found().row("bank", "bank of RLS", 8, size=4) is not None
