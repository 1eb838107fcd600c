import pytest

from benchmarks.bench.bench_results import BenchResults, relative_timings
from tests.benchmarks.bench.sample_results import sample_results, sample_timing
from thalweg.errors import PersistenceError


def test_json_gives_back_the_results(tmp_path):
    path = tmp_path / "new" / "bench.json"
    sample_results().save(path)
    assert BenchResults.load(path) == sample_results()


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 1}', '{"format": 2}'])
def test_a_file_of_something_else_is_refused(tmp_path, text):
    path = tmp_path / "other.json"
    path.write_text(text)
    with pytest.raises(PersistenceError, match="holds no results"):
        BenchResults.load(path)


def test_relative_timings_are_new_over_old_where_both_have_one():
    new, old = sample_results(3.0), sample_results()
    new.timings.append(sample_timing("call", "a new peer", 8, 1.0))
    ratios = relative_timings(new, old)
    assert [one.key for one in ratios] == [one.key for one in old.timings]
    for one in ratios:
        assert one[4:] == pytest.approx((3.0, 2.7, 3.6))


def test_a_timing_that_was_not_measured_is_none():
    assert sample_results().timing("call", "nobody", 8) is None
    assert sample_results().timing("bank", "bank of RLS", 8, size=4) is not None
