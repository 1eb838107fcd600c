import io
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

from benchmarks.bench.agreement import (
    check_agreement,
    exclude_failures,
    reference_predictions,
)
from benchmarks.bench.bench_results import Agreement
from benchmarks.bench.bench_stream import draw_stream
from benchmarks.bench.bench_tables import result_tables
from benchmarks.bench.implementations import (
    PEER_LIBRARIES,
    Implementation,
    PeerLibrary,
    installed_peers,
    rls_per_round,
    rls_whole_array,
)
from tests.benchmarks.bench.sample_results import sample_results
from thalweg.models import Online

STREAM = draw_stream(200, 4)


def off_by(difference: float, same: bool = True) -> Implementation:
    def prepare(stream, discount, ridge):
        return lambda: (
            reference_predictions(stream, discount, ridge) + difference * stream.y.std()
        )

    return Implementation("somebody", prepare, is_same_algorithm=same)


def test_an_implementation_that_disagrees_is_named_with_the_difference():
    agreement = check_agreement(off_by(0.5), STREAM)
    assert agreement.outcome == "disagrees" and agreement.name == "somebody"
    assert agreement.difference == pytest.approx(0.5) and agreement.n == 4


def test_rounding_is_no_disagreement():
    assert check_agreement(off_by(1e-12), STREAM).outcome == "agrees"


def test_predictions_that_are_not_finite_disagree():
    assert check_agreement(off_by(np.nan), STREAM).outcome == "disagrees"


def test_another_algorithm_is_reported_as_such():
    assert (
        check_agreement(off_by(0.5, same=False), STREAM).outcome == "another algorithm"
    )


def test_an_implementation_that_raises_is_named_and_left_out():
    def prepare(stream, discount, ridge):
        raise ZeroDivisionError("out of luck")

    poor, fine = Implementation("poor", prepare), off_by(0)
    agreements = [check_agreement(one, STREAM) for one in (poor, fine)]
    assert agreements[0].outcome == "failed: out of luck"
    assert exclude_failures([poor, fine], agreements) == [fine]


# Warnings of other libraries are not ours to fix.
@pytest.mark.filterwarnings("ignore")
def test_every_installed_peer_predicts_what_thalweg_predicts():
    peers = installed_peers()
    implementations = (*peers.per_round, *peers.whole_array)
    agreements = [
        check_agreement(one, STREAM) for one in implementations if one.is_same_algorithm
    ]
    assert [one for one in agreements if one.outcome != "agrees"] == []
    assert (
        len(PEER_LIBRARIES) - len(peers.missing) >= 5
    )  # NumPy, SciPy and what tests bring


def test_calls_per_round_and_whole_arrays_predict_the_same():
    def make_model(learner):
        return Online(learner, intercept=False)

    for one in (rls_per_round(make_model), *rls_whole_array(make_model)):
        assert check_agreement(one, STREAM).difference <= 1e-12


def test_a_package_that_is_not_installed_is_named():
    peers = installed_peers((PeerLibrary("no_such_file", "no-such-package"),))
    assert peers == ((), (), ("no-such-package",))


def test_the_rows_are_the_last_samples_of_the_signal_newest_first():
    signal, x, _ = draw_stream(50, 3)
    np.testing.assert_array_equal(x[10], signal[12:9:-1])
    head = draw_stream(50, 3).head(20)
    assert len(head.signal) == 22 and head.x.shape == (20, 3) and len(head.y) == 20


def test_the_tables_say_who_agrees_and_how_far_the_others_are_off():
    results = sample_results()
    agreements = [
        Agreement("padasip", 8, 1e-12, "agrees"),
        Agreement("padasip", 16, 3e-11, "agrees"),
        Agreement("river", 8, 0.25, "another algorithm"),
        Agreement("somebody", 8, 0.5, "disagrees"),
        Agreement("somebody", 16, 1e-13, "agrees"),
    ]
    console = Console(record=True, width=100, file=io.StringIO())
    for table in result_tables(replace(results, agreements=agreements)):
        console.print(table)
    text = console.export_text()
    assert "Same predictions, to 3e-11 of y's spread: padasip." in text
    assert "river: another algorithm, by 0.2 at n = 8." in text
    assert "somebody: disagrees, by 0.5 at n = 8." in text
