import io
from dataclasses import replace

from rich.console import Console

from benchmarks.bench.bench_tables import comparison_tables, result_tables
from tests.benchmarks.bench.sample_results import sample_results, sample_timing


def lines_of(tables):
    """All words of each line that is printed."""
    console = Console(record=True, width=100, file=io.StringIO())
    for table in tables:
        console.print(table)
    return [line.split() for line in console.export_text().splitlines()]


def test_times_stand_under_their_size_and_are_divided_by_ours():
    timings = [
        sample_timing("array", "thalweg run", 8, 50.0),
        sample_timing("array", "thalweg run", 16, 200.0),
        sample_timing("array", "padasip run", 8, 5000.0),
    ]
    lines = lines_of(result_tables(replace(sample_results(), timings=timings)))
    assert ["8", "16", "n^", "±"] in lines
    assert ["thalweg", "run", "0.05", "0.2", "15%"] in lines
    assert ["padasip", "run", "5", "15%"] in lines
    assert ["padasip", "run", "100", "15%"] in lines  # over ours
    promise = "array: padasip run / ours, n = 8 ≥ 100 100 holds"
    assert promise.split() in lines


def test_an_earlier_run_is_divided_by():
    lines = lines_of(comparison_tables(sample_results(2.0), sample_results()))
    assert ["padasip", "predict", "+", "adapt", "2", "15%"] in lines
