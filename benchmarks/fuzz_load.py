"""Throw changed and made-up files at ``loads``: only its documented error may come out.

    PYTHONPATH=src:. python benchmarks/fuzz_load.py [cases] [seed]

Signed changes carry a right checksum, as from someone who knows the format. Where
such a file loads, the model is saved again and plays some rounds, to see that no state
gets through that would make a kernel write where it must not. Memory is the peak of
what Python and NumPy allocate in one load, for each byte of the file, less 64 KiB.
"""

import resource
import sys
import tracemalloc
from collections import Counter
from pathlib import Path

import numpy as np

from tests.contracts.examples import example_block
from tests.persistence.examples import EXAMPLES, train_model
from tests.persistence.mutations import SIGNED_MUTATIONS, UNSIGNED_MUTATIONS
from thalweg.errors import PersistenceError
from thalweg.persistence import dumps, loads

BASE_BYTES = 2**16
CANARY = Path("/tmp/thalweg-was-here")


def load_measured(data):
    """The model or None, and the peak of the memory used meanwhile, in bytes."""
    tracemalloc.reset_peak()
    before, _ = tracemalloc.get_traced_memory()
    try:
        model = loads(data)
    except PersistenceError:
        model = None
    return model, tracemalloc.get_traced_memory()[1] - before


def use_model(model):
    """Let a model from a made-up file learn; how it ended. It may only refuse."""
    dumps(model)
    if model.state is None:
        return "no state"
    try:
        with np.errstate(all="ignore"):
            model.learner.run(model.state, model.loss, example_block(model.loss)[:5])
    except Exception as error:
        return f"{type(error).__name__}"
    return "played"


def main(cases, seed):
    """Try, count and print."""
    rng = np.random.default_rng(seed)
    sound = [dumps(train_model(learner, loss, 10)) for learner, loss in EXAMPLES]
    for data in sound:
        loads(data)
    tracemalloc.start()
    start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    cases_of, loaded, memory_of, endings = (Counter() for _ in range(4))
    for i in range(cases):
        data = sound[rng.integers(len(sound))]
        kinds = UNSIGNED_MUTATIONS if i % 3 == 0 else SIGNED_MUTATIONS
        how = kinds[rng.integers(len(kinds))]
        changed = how(rng, data)
        model, memory = load_measured(changed)
        name = how.__name__
        cases_of[name] += 1
        memory_of[name] = max(
            memory_of[name], (memory - BASE_BYTES) / max(len(changed), 1)
        )
        if model is not None:
            if how in UNSIGNED_MUTATIONS and changed != data:
                raise SystemExit(f"case {i}: a changed file was loaded ({name})")
            loaded[name] += 1
            endings[use_model(model)] += 1
    print(f"{'change':<15}{'cases':>9}{'refused':>9}{'loaded':>8}{'memory':>8}")
    for name in cases_of:
        refused = cases_of[name] - loaded[name]
        counts = f"{cases_of[name]:>9}{refused:>9}{loaded[name]:>8}"
        print(f"{name:<15}{counts}{memory_of[name]:>8.1f}")
    end = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"\n{cases} cases, seed {seed}; {dict(endings)} of those loaded")
    print(f"greatest size of the process {start / 1024:.0f} -> {end / 1024:.0f} MiB")
    print("executed" if CANARY.exists() else "nothing was executed")


if __name__ == "__main__":
    arguments = [int(word) for word in sys.argv[1:]]
    main(*arguments, *(200_000, 0)[len(arguments) :])
