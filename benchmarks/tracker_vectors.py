"""The Tracker's round, compiled for three generations of vector instructions.

Each runs in a process of its own, with kernels compiled for it alone; a table says what
a round costs, which registers the solver uses, and the sum of losses: the order of all
sums is fixed, so that it does not depend on how wide the vectors are.
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
SIZES, ROUNDS, REPEATED = (2, 8, 20), 4000, 15


def cost(n):
    """Microseconds a round at best, and the sum of losses."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(ROUNDS, n))
    block = tw.Block(x, x.sum(axis=1) + rng.normal(size=ROUNDS))
    tracker, loss = tw.Tracker(), tw.SquaredError()
    start = tracker.init(np.zeros(n))
    _, trace = tracker.run(start, loss, block)
    best = np.inf
    for _ in range(REPEATED):
        began = time.process_time()
        tracker.run(start, loss, block)
        best = min(best, time.process_time() - began)
    return best / ROUNDS * 1e6, trace.loss.sum()


def registers():
    """The widest vector registers that the solver was compiled to."""
    z, lanes = 9, 40
    moments, ridge = np.zeros((z + 2, z, lanes)), np.ones((z, lanes))
    solver = njit(lambda *given: solve.factorise(*given))
    solver(moments, ridge, moments.copy(), np.zeros((3, z, lanes)))
    (assembly,) = solver.inspect_asm().values()
    return max(re.findall("%([xyz]mm)", assembly))


def measure():
    """One line of the table."""
    found = [cost(n) for n in SIZES]
    micro = "".join(f"{time_:>9.2f}" for time_, _ in found)
    print(f"{micro}   {registers()}   {float(found[1][1])!r}")


def main():
    """Measure all, each in a process of its own."""
    print(f"{'compiled for':<16}" + "".join(f"{f'n = {n}':>9}" for n in SIZES))
    for name, settings in TARGETS.items():
        with tempfile.TemporaryDirectory() as cache:
            settings = os.environ | settings | {"NUMBA_CACHE_DIR": cache}
            command = [sys.executable, __file__, "one"]
            done = subprocess.run(command, env=settings, stdout=-1, text=True)
        print(f"{name:<16}{done.stdout.rstrip()}", flush=True)


if __name__ == "__main__":
    measure() if sys.argv[1:] == ["one"] else main()
