import pytest

from tests.lab.bench.made_up import row
from thalweg.lab.bench import roofline
from thalweg.lab.bench.found import Found, Memory
from thalweg.lab.bench.promises import Promise, promises

RUN, PLAIN, BLAS = "thalweg run", "plain numba loop", "SciPy dsymv + dsyr"


def named(found: Found, what: str) -> Promise:
    (one,) = (one for one in promises(found) if one.what.startswith(what))
    return one


def of(*rows) -> Found:
    return Found(rows=list(rows))


def calls(section: str, ours: str, theirs: str, ratio: float, n: int = 8) -> Found:
    """A run in which theirs took ``ratio`` times as long as ours."""
    return of(row(section, ours, n, 40.0), row(section, theirs, n, 40.0 * ratio))


def test_nothing_measured_is_not_the_same_as_broken():
    said = promises(Found())
    assert len(said) == 17
    assert all(one.measured is None and one.holds is None for one in said)


@pytest.mark.parametrize(("ratio", "holds"), [(6.0, True), (5.9, False)])
def test_at_least(ratio, holds):
    found = calls("call", "thalweg predict + update", "padasip predict + adapt", ratio)
    one = named(found, "one call: padasip")
    assert one.measured == pytest.approx(ratio) and one.holds is holds


@pytest.mark.parametrize(("ratio", "holds"), [(1.6, True), (1.8, False)])
def test_at_most(ratio, holds):
    found = calls("array", PLAIN, RUN, ratio, n=16)
    one = named(found, "array: ours / plain numba loop, n = 16")
    assert one.measured == pytest.approx(ratio) and one.holds is holds


def test_the_tracker_is_held_to_the_cheaper_way_to_call_padasip():
    found = calls("tracker", "padasip run", "Tracker run", 0.5)
    assert named(found, "Tracker run").holds
    found = calls("tracker", "padasip run", "Tracker predict + update", 1.1)
    assert named(found, "Tracker predict").holds is False


def test_blas_counts_where_it_comes_nearest_and_only_up_to_64():
    rows = [row("array", RUN, n, 10.0) for n in (8, 64, 128)]
    rows += [row("array", BLAS, n, ns) for n, ns in ((8, 90.0), (64, 20.0), (128, 1.0))]
    assert named(of(*rows), "array: BLAS").measured == pytest.approx(2.0)


def test_blocks_are_held_to_three_times():
    found = calls("blocks", "blocked", "round by round", 2.5, n=128)
    assert named(found, "round by round / blocked, n = 128").holds is False


def test_the_kernel_is_held_to_the_measured_ceiling():
    ns = roofline.flops(64) / 10.0  # 10 GFLOP/s
    ceiling = row("roofline", "fused", 0, 1 / 50.0)  # ns an operation
    found = of(row("roofline", "round", 64, ns), ceiling)
    one = named(found, "FMA ceiling / RLS kernel, n = 64")
    assert one.measured == pytest.approx(5.0) and one.holds


def test_memory_may_not_grow():
    first, last = (
        Memory("a", rounds, peak, 1.0) for rounds, peak in ((1, 100), (9, 130))
    )
    one = named(Found(memory=[first, last]), "peak memory")
    assert one.measured == pytest.approx(1.3) and one.holds is False
