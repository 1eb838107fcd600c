import numpy as np
import pytest

from thalweg.errors import InvalidParameterError
from thalweg.lab.bench.contender import Contender
from thalweg.lab.bench.plan import Plan
from thalweg.lab.bench.sections import race
from thalweg.lab.bench.stream import draw
from thalweg.lab.bench.timing import LEAST, Spread, Timed, fitted, interleaved

PLAN = Plan(repeats=3, budget=1e-4)


def test_repetitions_are_interleaved():
    order = []
    timed = {
        name: Timed(lambda name=name: order.append(name), rounds=1, calls=2)
        for name in "ab"
    }
    found = interleaved(timed, PLAN)
    assert "".join(order) == "aabb" * 3
    assert all(one.low <= one.ns <= one.high for one in found.values())


def test_the_spread_is_the_median_and_the_quartiles():
    assert Spread.of([5.0, 1.0, 3.0, 2.0, 4.0]) == (3.0, 2.0, 4.0)


def sleepless(stream, discount, ridge):
    return lambda: np.zeros(len(stream.y))


def test_who_is_fast_plays_the_whole_stream_and_is_called_again():
    timed = fitted(Contender("fast", sleepless), draw(500, 2), Plan(budget=0.05))
    assert timed.rounds == 500 and timed.calls > 1


def test_who_is_slow_plays_a_few_rounds_once():
    def slow(stream, discount, ridge):
        return lambda: np.linalg.inv(np.eye(20 * len(stream.y)))

    timed = fitted(Contender("slow", slow), draw(500, 2), PLAN)
    assert timed.rounds == LEAST and timed.calls == 1


def test_a_race_leaves_out_who_cannot_take_so_many_features():
    small = Contender("small", sleepless, same=False, largest=4)
    large = Contender("large", sleepless, same=False)
    word, rows, verdicts = race("call", [small, large], 8, PLAN)
    assert word == "call, n = 8"
    assert [row.name for row in rows] == [one.name for one in verdicts] == ["large"]


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"only": ("nonsense",)}, "sections call, array.*Got 'nonsense'"),
        ({"sizes": (0,)}, "'sizes' parameter of Plan must be in"),
        ({"budget": 0.0}, "'budget' parameter of Plan must be in"),
    ],
)
def test_a_plan_that_cannot_be_carried_out_is_refused(settings, complaint):
    with pytest.raises(InvalidParameterError, match=complaint):
        Plan(**settings)
