import importlib.util
import json

import numpy as np
import pytest

import thalweg as tw
from thalweg.errors import InvalidParameterError
from thalweg.evaluation import prequential
from thalweg.paper import sweep

SEEDS = (3, 1)
LEARNERS = {
    "forgets": tw.RecursiveLeastSquares(discount=0.8),
    "seeded": lambda seed: tw.RecursiveLeastSquares(discount=0.9 + seed / 100),
}


def walk(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(120, 2))
    slopes = rng.normal(size=(120, 2)).cumsum(axis=0)
    return tw.Block(x, (x * slopes).sum(axis=1))


STREAMS = {"walk": walk, "fixed": walk(7)}


def expected(stream, learner, seed):
    block = stream if isinstance(stream, tw.Block) else stream(seed)
    learner = learner(seed) if callable(learner) else learner
    return prequential(learner, block, burn_in=5)


def test_a_sweep_has_every_prequential_evaluation_in_order():
    result = sweep(STREAMS, LEARNERS, SEEDS, workers=1, burn_in=5)
    names = [(run.stream, run.learner, run.seed) for run in result.runs]
    assert names == [(s, m, seed) for s in STREAMS for m in LEARNERS for seed in SEEDS]
    for run in result.runs:
        alone = expected(STREAMS[run.stream], LEARNERS[run.learner], run.seed)
        assert (run.squared, run.absolute) == (alone.squared, alone.absolute)
        assert run.best_baseline == alone.best_baseline.name
        assert run.scored_rounds == alone.scored_rounds
    assert len({run.prediction_digest for run in result.runs}) == 7  # one twice
    table = str(result).splitlines()
    assert len(table) == 5
    assert table[1].split()[:3] == ["walk", "forgets", "2"]


@pytest.mark.skipif(not importlib.util.find_spec("ray"), reason="Ray is not installed")
def test_ray_gives_the_digest_of_joblib():
    by_joblib = sweep(STREAMS, LEARNERS, SEEDS, workers=1)
    by_ray = sweep(STREAMS, LEARNERS, SEEDS, engine="ray", workers=2)
    assert by_ray.digest == by_joblib.digest


def test_several_processes_give_the_digest_of_one():
    one = sweep(STREAMS, LEARNERS, SEEDS, workers=1)
    assert sweep(STREAMS, LEARNERS, SEEDS, workers=2).digest == one.digest
    assert sweep(STREAMS, LEARNERS, SEEDS, workers=1, delay=1).digest != one.digest


def test_a_sweep_that_was_stopped_goes_on_where_it_was(tmp_path):
    made = []

    def stream(seed):
        if seed == 2 and len(made) < 3:
            raise RuntimeError("stopped")
        made.append(seed)
        return walk(seed)

    streams, learner = {"a": stream}, {"rls": LEARNERS["forgets"]}
    with pytest.raises(RuntimeError, match="stopped"):
        sweep(streams, learner, (0, 1, 2, 3), workers=1, folder=tmp_path)
    assert made == [0, 1]
    made.append(-1)
    counts = []
    result = sweep(
        streams, learner, (0, 1, 2, 3), workers=1, folder=tmp_path,
        progress=lambda done, total: counts.append((done, total)),
    )  # fmt: skip
    assert made == [0, 1, -1, 2, 3]
    assert counts == [(2, 4), (3, 4), (4, 4)]
    again = sweep({"a": walk}, learner, (0, 1, 2, 3), workers=1)
    assert result.digest == again.digest


def test_runs_of_other_settings_are_not_taken_for_finished(tmp_path):
    def run(learner, block=STREAMS["fixed"], **options):
        return sweep(
            {"s": block}, {"m": learner}, workers=1, folder=tmp_path, **options
        )

    rls = tw.RecursiveLeastSquares
    digests = {
        run(rls(discount=0.8)).digest,
        run(rls(discount=0.9)).digest,
        run(rls(discount=0.8), walk(8)).digest,
        run(rls(discount=0.8), burn_in=3).digest,
    }
    assert len(digests) == 4
    assert len(list(tmp_path.iterdir())) == 4


@pytest.mark.parametrize("text", ["", "[]", '{"stream": 1}', "changed"])
def test_a_file_that_is_no_run_is_named(tmp_path, text):
    given = {"s": STREAMS["fixed"]}, {"m": LEARNERS["forgets"]}
    sweep(*given, workers=1, folder=tmp_path)
    (path,) = tmp_path.iterdir()
    if text == "changed":
        text = json.dumps({**json.loads(path.read_text()), "seed": "1"})
    path.write_text(text)
    with pytest.raises(InvalidParameterError, match=f"{path.name} is no run"):
        sweep(*given, workers=1, folder=tmp_path)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"engine": "dask"}, "one of joblib, ray. Got 'dask'"),
        ({"streams": {}}, "'streams' parameter of sweep must be a dict"),
        ({"learners": [1]}, r"'learners' .* Got \[1\]"),
        ({"seeds": (0, 1.5)}, "whole numbers. Got 1.5"),
        ({"seeds": ()}, "holds no seed"),
    ],
)
def test_wrong_arguments_are_named(change, message):
    given = {"streams": STREAMS, "learners": LEARNERS, "seeds": SEEDS} | change
    with pytest.raises(InvalidParameterError, match=message):
        sweep(**given)


def test_a_missing_engine_names_its_package(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    with pytest.raises(InvalidParameterError, match="pip install ray"):
        sweep(STREAMS, LEARNERS, engine="ray")
