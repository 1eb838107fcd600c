import numpy as np
import pytest

from thalweg.lab.bench.agreement import able, judge, reference
from thalweg.lab.bench.contender import PEERS, Contender, Peer, assemble
from thalweg.lab.bench.ours import single, whole
from thalweg.lab.bench.stream import draw
from thalweg.models import Online

STREAM = draw(200, 4)


def off_by(gap: float, same: bool = True) -> Contender:
    def prepare(stream, discount, ridge):
        return lambda: reference(stream, discount, ridge) + gap * stream.y.std()

    return Contender("somebody", prepare, same=same)


def test_who_disagrees_is_named_with_the_size():
    verdict = judge(off_by(0.5), STREAM)
    assert verdict.word == "disagrees" and verdict.name == "somebody"
    assert verdict.gap == pytest.approx(0.5) and verdict.n == 4


def test_rounding_is_no_disagreement():
    assert judge(off_by(1e-12), STREAM).word == "agrees"


def test_predictions_that_are_not_finite_disagree():
    assert judge(off_by(np.nan), STREAM).word == "disagrees"


def test_another_algorithm_is_called_so():
    assert judge(off_by(0.5, same=False), STREAM).word == "another algorithm"


def test_who_raises_is_named_and_left_out():
    def prepare(stream, discount, ridge):
        raise ZeroDivisionError("out of luck")

    poor, fine = Contender("poor", prepare), off_by(0)
    verdicts = [judge(one, STREAM) for one in (poor, fine)]
    assert verdicts[0].word == "failed: out of luck"
    assert able([poor, fine], verdicts) == [fine]


# What other libraries warn of is not ours to mend.
@pytest.mark.filterwarnings("ignore")
def test_every_peer_that_is_here_predicts_what_we_predict():
    field = assemble()
    contenders = (*field.single, *field.whole)
    verdicts = [judge(one, STREAM) for one in contenders if one.same]
    assert [one for one in verdicts if one.word != "agrees"] == []
    assert len(PEERS) - len(field.missing) >= 5  # NumPy, SciPy and what tests bring


def test_single_calls_and_whole_arrays_predict_the_same():
    def wrap(learner):
        return Online(learner, intercept=False)

    for one in (single(wrap), *whole(wrap)):
        assert judge(one, STREAM).gap <= 1e-12


def test_what_is_not_installed_is_named():
    field = assemble((Peer("no_such_file", "no-such-package"),))
    assert field == ((), (), ("no-such-package",))


def test_the_rows_are_the_last_samples_of_the_signal_newest_first():
    signal, x, _ = draw(50, 3)
    np.testing.assert_array_equal(x[10], signal[12:9:-1])
    head = draw(50, 3).head(20)
    assert len(head.signal) == 22 and head.x.shape == (20, 3) and len(head.y) == 20
