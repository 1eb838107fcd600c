"""How near one core's ceilings the RLS kernel comes, and what keeps it from them.

A round is kernels/rls.py's ``rls_round``. Its parts are timed alone
(kernels/roofline_probes.py): ``dots`` is Uᵀv, ``pivots`` the n divisions, ``sweeps``
the update of U. Operations are counted line by line in kernels/ud_factor.py and rls.py;
comparisons do not count.
Ceilings and rounds are timed in turn, so that a busy machine lowers both.
"""

import math
from collections.abc import Callable

import numpy as np

from thalweg.kernels import roofline_probes
from thalweg.kernels.rls import rls
from thalweg.lab.bench.found import Found, Row
from thalweg.lab.bench.plan import Plan
from thalweg.lab.bench.stream import DISCOUNT, draw
from thalweg.lab.bench.timing import Timed, interleaved, repeated
from thalweg.learners import RecursiveLeastSquares
from thalweg.types import FloatArray

SIZES = (8, 16, 32, 64, 128, 256)
ROUND, PARTS = "round", ("dots", "pivots", "sweeps")
LOOPS = 20_000
IN_CACHE, IN_MEMORY, SHORT = 512, 8_000_000, 4
"""Numbers in an array: three fit a first-level cache, or no cache; or half a line."""
ALIGNED = 64
"""Bytes: a vector that crosses two cache lines costs two loads."""


def flops(n: int) -> int:
    """Additions, multiplications and divisions of a round.

    n(n-1)/2 multiply-adds for ``dots`` and twice that for ``sweeps``; 16 for each
    coordinate: forgetting 1, its size 1, √weight 1, whether it is noise 2, g 1,
    ratio 1, α 2, 1/α 1, D 2, the prediction 2 and θ 2.
    """
    return 3 * n * (n - 1) + 16 * n


def moved(n: int) -> int:
    """Bytes that a round loads from the first-level cache and stores there.

    ``dots`` loads the triangle of U, and v once for four rows; ``sweeps`` loads and
    stores both U and P⁻¹v. Of the stream itself 8(n + 3) bytes come and go.
    """
    return (4 + 1) * n * (n - 1) + 16 * n * (n - 1) + 8 * (n + 3)


def tops(found: Found) -> dict[str, float]:
    """The ceilings of a run; empty where it did not look.

    GFLOP/s of ``fused`` and ``separate`` multiply-adds, GB/s of ``cache`` and
    ``memory``; nanoseconds of an ``addition`` and a ``pass``.
    """
    alone = {row.name: row.ns for row in found.of("roofline") if row.n == 0}
    waits = ("addition", "pass")
    return {name: ns if name in waits else 1 / ns for name, ns in alone.items()}


def model(n: int, tops: dict[str, float]) -> dict[str, float]:
    """Nanoseconds that a part should take if only one thing bound it.

    ``dots``: four sums run side by side, and each addition waits for the one before.
    ``sweeps``: each row waits for what the row before has stored, and n(n-1) numbers
    are stored at no more than the triad's rate, a third of whose bytes are stores.
    """
    stored = 8 * n * (n - 1) / (tops["cache"] / 3)
    return {
        "dots": n * (n - 1) / 8 * tops["addition"],
        "sweeps": max((n - 1) * tops["pass"], stored),
    }


def roofline(plan: Plan) -> list[Row]:
    """Ceilings, with n = 0, in ns an operation or byte; rounds and parts in ns."""
    timed: dict[tuple[str, int], Timed] = {
        (name, 0): one for name, one in _ceilings(plan).items()
    }
    for n in SIZES:
        timed[ROUND, n] = _round(n, plan)
        timed |= {(name, n): one for name, one in _parts(n, plan).items()}
    found = interleaved(timed, plan)
    return [Row("roofline", *key, 0, *spread) for key, spread in found.items()]


def _ceilings(plan: Plan) -> dict[str, Timed]:
    """Each counts what it does: operations, bytes, additions, passes."""
    x, few = _aligned(256), _aligned(SHORT)
    small, large = _aligned(3, IN_CACHE), _aligned(3, IN_MEMORY)
    work = 2 * roofline_probes.STEPS * x.size * LOOPS
    calls: dict[str, tuple[Callable[[], object], int]] = {
        "fused": (
            lambda: roofline_probes.fused_multiply_adds(x, 0.999, 1e-3, LOOPS),
            work,
        ),
        "separate": (
            lambda: roofline_probes.multiply_adds(x, 0.999, 1e-3, LOOPS),
            work,
        ),
        "cache": (
            lambda: roofline_probes.triad(*small, 0.5, LOOPS),
            small.nbytes * LOOPS,
        ),
        "memory": (lambda: roofline_probes.triad(*large, 0.5, 1), large.nbytes),
        "addition": (lambda: roofline_probes.chained_sums(x, LOOPS), x.size * LOOPS),
        "pass": (lambda: roofline_probes.dependent_passes(few, 1e-9, LOOPS), LOOPS),
    }
    return {name: repeated(*one, plan) for name, one in calls.items()}


def _round(n: int, plan: Plan) -> Timed:
    stream = draw(max(100, LOOPS * 8 // n), n)
    rounds, none = len(stream.y), np.empty(0)
    start = RecursiveLeastSquares(DISCOUNT).init(np.zeros((n, 1)))
    arrays = stream.x, stream.y[:, None], none, none
    out = np.empty((rounds, 1)), np.empty(rounds), np.empty((0, n, 1))

    def play() -> None:
        theta, factor = (part.copy() for part in start)
        rls(theta, factor, DISCOUNT, 0.0, False, *arrays, *out)

    return repeated(play, rounds, plan)


def _parts(n: int, plan: Plan) -> dict[str, Timed]:
    factor, v = _aligned(n + 3, n), _aligned(n)
    image, f, gain, ratio, fresh = (_aligned(n) for _ in range(5))
    loops = max(100, LOOPS * 8 // n)
    still = np.zeros(n)  # with gains of zero U stays as it is, however often
    calls: dict[str, Callable[[], object]] = {
        "dots": lambda: roofline_probes.dots(factor, v, image, loops),
        "pivots": lambda: roofline_probes.pivots(factor, f, gain, ratio, fresh, loops),
        "sweeps": lambda: roofline_probes.sweeps(factor, image, still, still, loops),
    }
    return {name: repeated(play, loops, plan) for name, play in calls.items()}


def _aligned(*shape: int) -> FloatArray:
    """Ones that begin where a cache line does."""
    size = math.prod(shape)
    raw = np.ones(size + ALIGNED // 8)
    skip = -raw.ctypes.data % ALIGNED // 8
    return raw[skip : skip + size].reshape(shape)
