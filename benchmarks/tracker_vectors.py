"""The Tracker's round, compiled for three generations of SIMD instructions.

Each runs in a process of its own, with kernels compiled for it alone. A table shows the
time of a round, the registers that the solver uses, and the sum of losses: the order of
all sums is fixed, so that it does not depend on the width of the vectors.
"""

import os
import re
import subprocess
import sys
import tempfile
import time

import numpy as np
from numba import njit

import thalweg as tw
from thalweg.kernels.tracker import solve

TARGETS = {
    "this machine's": {},
    "AVX2": {
        "NUMBA_CPU_NAME": "haswell",
        "NUMBA_CPU_FEATURES": "+avx,+avx2,+fma,+bmi,+bmi2",
    },
    "SSE2": {"NUMBA_CPU_NAME": "x86-64", "NUMBA_CPU_FEATURES": "+sse2"},
}
SIZES, ROUNDS, REPEATS = (2, 8, 20), 4000, 15


def cost(n):
    """The shortest time of a round in microseconds, and the sum of losses."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(ROUNDS, n))
    block = tw.Block(x, x.sum(axis=1) + rng.normal(size=ROUNDS))
    tracker, loss = tw.Tracker(), tw.SquaredError()
    state = tracker.init(np.zeros(n))
    _, trace = tracker.run(state, loss, block)
    best = np.inf
    for _ in range(REPEATS):
        start_time = time.process_time()
        tracker.run(state, loss, block)
        best = min(best, time.process_time() - start_time)
    return best / ROUNDS * 1e6, trace.loss.sum()


def registers():
    """The widest vector registers that the solver was compiled to."""
    z, lanes = 9, 40
    moments, ridge = np.zeros((z + 2, z, lanes)), np.ones((z, lanes))
    solver = njit(lambda *arguments: solve.factorise(*arguments))
    solver(moments, ridge, moments.copy(), np.zeros((3, z, lanes)))
    (assembly,) = solver.inspect_asm().values()
    return max(re.findall("%([xyz]mm)", assembly))


def measure():
    """Print one line of the table."""
    costs = [cost(n) for n in SIZES]
    times = "".join(f"{microseconds:>9.2f}" for microseconds, _ in costs)
    print(f"{times}   {registers()}   {float(costs[1][1])!r}")


def main():
    """Measure every target, each in a process of its own."""
    print(f"{'compiled for':<16}" + "".join(f"{f'n = {n}':>9}" for n in SIZES))
    for name, settings in TARGETS.items():
        with tempfile.TemporaryDirectory() as cache:
            settings = os.environ | settings | {"NUMBA_CACHE_DIR": cache}
            command = [sys.executable, __file__, "one"]
            process = subprocess.run(command, env=settings, stdout=-1, text=True)
        print(f"{name:<16}{process.stdout.rstrip()}", flush=True)


if __name__ == "__main__":
    measure() if sys.argv[1:] == ["one"] else main()
