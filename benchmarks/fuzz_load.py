"""Throw changed and made-up files at ``loads``: only its documented error may come out.

    PYTHONPATH=src:. python benchmarks/fuzz_load.py [cases] [seed]

Signed changes carry a right checksum, as from someone who knows the format. Where
such a file loads, the model is saved again and plays some rounds, to see that no state
gets through that would make a kernel write where it must not. Memory is what Python and
NumPy hold at most during one load, for each byte of the file, after 64 KiB for all.
"""

import resource
import sys
import tracemalloc
from collections import Counter
from pathlib import Path

import numpy as np

from tests.contracts.test_every_learner import block_for
from tests.persistence.examples import EXAMPLES, learnt
from tests.persistence.mutations import SIGNED, UNSIGNED
from thalweg.errors import PersistenceError
from thalweg.persistence import dumps, loads

BESIDE = 2**16
CANARY = Path("/tmp/thalweg-was-here")


def attempt(data):
    """The model or None, and the most bytes held meanwhile."""
    tracemalloc.reset_peak()
    before, _ = tracemalloc.get_traced_memory()
    try:
        model = loads(data)
    except PersistenceError:
        model = None
    return model, tracemalloc.get_traced_memory()[1] - before


def play(model):
    """Let a model from a made-up file learn; it may refuse, but nothing else."""
    dumps(model)
    if model.state is None:
        return "no state"
    try:
        with np.errstate(all="ignore"):
            model.learner.run(model.state, model.loss, block_for(model.loss)[:5])
    except Exception as error:
        return f"{type(error).__name__}"
    return "played"


def main(cases, seed):
    """Try, count and print."""
    rng = np.random.default_rng(seed)
    sound = [dumps(learnt(learner, loss, 10)) for learner, loss in EXAMPLES]
    for data in sound:
        loads(data)
    tracemalloc.start()
    start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    met, loaded, most, played = Counter(), Counter(), Counter(), Counter()
    for i in range(cases):
        data = sound[rng.integers(len(sound))]
        kinds = UNSIGNED if i % 3 == 0 else SIGNED
        how = kinds[rng.integers(len(kinds))]
        changed = how(rng, data)
        model, memory = attempt(changed)
        name = how.__name__
        met[name] += 1
        most[name] = max(most[name], (memory - BESIDE) / max(len(changed), 1))
        if model is not None:
            if how in UNSIGNED and changed != data:
                raise SystemExit(f"case {i}: a changed file was loaded ({name})")
            loaded[name] += 1
            played[play(model)] += 1
    print(f"{'change':<15}{'cases':>9}{'refused':>9}{'loaded':>8}{'memory':>8}")
    for name in met:
        refused = met[name] - loaded[name]
        print(
            f"{name:<15}{met[name]:>9}{refused:>9}{loaded[name]:>8}{most[name]:>8.1f}"
        )
    end = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"\n{sum(met.values())} cases, seed {seed}; {dict(played)} of those loaded")
    print(f"greatest size of the process {start / 1024:.0f} -> {end / 1024:.0f} MiB")
    print("executed" if CANARY.exists() else "nothing was executed")


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]]
    main(*given, *(200_000, 0)[len(given) :])
