"""The nearest point under linear constraints, for Box, Simplex and Polytope.

    minimise ½‖z - y‖²_P  subject to  low ≤ Cz ≤ high

daqp proposes which constraints are active, that is, hold with equality. The point is
then computed afresh from them, which costs one factorisation and makes up for the
solver's tolerances. Where the proposal fails (cond(P) ≫ 1e8, a y very far
away, a set without interior) a primal active-set method starts over from a point of the
set. Where that fails as well, P is raised by a rounding; then the Euclidean projection
is tried; the last resort is the point of the set itself.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import daqp
import numpy as np
import numpy.typing as npt

from thalweg.domains.base import Projection, is_legal, limit_problem
from thalweg.types import FloatArray

ROUNDING = 1e-13
"""Relative tolerance of constraints and signs."""
STEPS_PER_SIDE = 20
"""Limit of the number of active-set steps per row and column of C: three times the
largest number observed."""
EQUALITY = 5
"""daqp's code for a constraint with low = high."""


class Constraints(NamedTuple):
    """low ≤ Cz ≤ high; the rows of C have length one, or nearly."""

    normals: FloatArray  # (m, n) C
    low: FloatArray  # (m,)
    high: FloatArray  # (m,)


class ActiveSetPoint(NamedTuple):
    """The nearest point that meets the active constraints with equality."""

    point: FloatArray
    multipliers: FloatArray  # (m,) λ with P(y - z) = Cᵀλ; 0 where not active
    side: FloatArray  # (m,) 1 active at high, -1 active at low, 0 not active


def project(
    point: FloatArray,
    information: FloatArray,
    constraints: Constraints,
    start: FloatArray,
    unit: float,
    repair: Callable[[FloatArray], FloatArray],
) -> Projection:
    """The projection; ``start`` lies in the set, ``repair`` moves rounding into it.

    ``unit`` is the size of the set, or of what matters of it where it is unbounded.
    """
    member = np.asarray(start, np.float64)
    y, P, is_exact = limit_problem(point, information, member, unit)
    # What overflows in an extreme P is noticed, as a point that is not in the set.
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        for matrix in _replacements(P):
            solution = _solve(y, matrix, constraints, member)
            if solution is None:
                continue
            nearest = repair(solution.point).astype(point.dtype)
            if is_legal(nearest):
                is_exact = is_exact and matrix is P
                gap = _gap(nearest, y, P, constraints, solution) if is_exact else np.inf
                return Projection(nearest, gap)
    return Projection(member.astype(point.dtype), np.inf)


def _replacements(P: FloatArray) -> Iterator[FloatArray]:
    """P; P as it is to rounding, but not singular; the identity."""
    identity = np.eye(len(P))
    yield from (P, P + ROUNDING * np.abs(P).max() * identity, identity)


def _solve(
    y: FloatArray, P: FloatArray, constraints: Constraints, member: FloatArray
) -> ActiveSetPoint | None:
    """The nearest point in the norm of P, or None where rounding leaves none."""
    try:
        solution = _propose(y, P, constraints)
        if solution is None:
            solution = _search_active_set(y, P, constraints, member)
    except np.linalg.LinAlgError:  # P, or the active constraints, are singular
        return None
    # Not a number is no violation, and yet no point.
    is_member = not _violations(solution.point, constraints).any()
    return solution if is_member and np.isfinite(solution.point).all() else None


def _propose(
    y: FloatArray, P: FloatArray, constraints: Constraints
) -> ActiveSetPoint | None:
    """The point of daqp's active constraints, or None where that is not optimal."""
    C, low, high = constraints
    reach = C @ y
    # Its tolerances are absolute: the unit of length is how far y lies outside.
    unit = max((reach - high).max(), (low - reach).max())
    is_equality = low == high
    _, _, status, info = daqp.solve(
        P / np.abs(P).max(),
        np.zeros_like(y),
        C,
        (high - reach) / unit,
        (low - reach) / unit,
        np.where(is_equality, EQUALITY, 0).astype(np.int32),
        primal_tol=1e-11,
        eps_prox=0.0,
    )
    side = np.sign(info["lam"])
    side[is_equality] = 1.0
    if status != 1 or np.count_nonzero(side) > y.size:
        return None
    try:
        solution = _active_point(y, P, constraints, side)
    except np.linalg.LinAlgError:  # its active constraints depend on each other
        return None
    if _violations(solution.point, constraints).any():
        return None
    return None if _wrong_signs(y, P, constraints, solution).size else solution


def _search_active_set(
    y: FloatArray, P: FloatArray, constraints: Constraints, z: FloatArray
) -> ActiveSetPoint:
    """A primal active-set method, from a point z of the set.

    It goes to the best point of the active constraints as far as the others allow. A
    constraint that stops it becomes active; one whose multiplier has the wrong sign at
    the best point is dropped. Cost never rises, and Bland's rule of the least index
    breaks ties. z stays in the set: if rounding exhausts the limit of steps, its gap
    bounds its error.
    """
    C, low, high = constraints
    side = np.where(low == high, 1.0, 0.0)
    for _ in range(int(STEPS_PER_SIDE * sum(C.shape))):
        best = _active_point(y, P, constraints, side)
        violated = np.flatnonzero(_violations(best.point, constraints))
        if violated.size:
            here, reach = C[violated] @ z, C[violated] @ best.point
            above = reach > high[violated]
            bound = np.where(above, high[violated], low[violated])
            slack = np.where(above, bound - here, here - bound)
            # A slack of mere rounding counts as 0, so that the least index breaks ties.
            slack[slack <= ROUNDING * (np.linalg.norm(z) + np.abs(bound))] = 0.0
            share = slack / (slack + np.abs(reach - bound))
            first = int(share.argmin())
            z = z + share[first] * (best.point - z)
            side[violated[first]] = 1.0 if above[first] else -1.0
        else:
            z = best.point
            wrong = _wrong_signs(y, P, constraints, best)
            if not wrong.size:
                return best
            side[wrong[0]] = 0.0
    return best._replace(point=z)


def _active_point(
    y: FloatArray, P: FloatArray, constraints: Constraints, side: FloatArray
) -> ActiveSetPoint:
    """The nearest point that meets the active constraints with equality."""
    C, low, high = constraints
    active = np.flatnonzero(side)
    offset = np.where(side > 0, high, low)[active]
    Q, R = np.linalg.qr(C[active].T, mode="complete")
    across, along, R = Q[:, : active.size], Q[:, active.size :], R[: active.size]
    # From the constraints towards y, not back from y: a far y costs no digits.
    z = across @ np.linalg.solve(R.T, offset)
    z = z + along @ np.linalg.solve(along.T @ P @ along, along.T @ (P @ (y - z)))
    multipliers = np.zeros(len(side))
    multipliers[active] = np.linalg.solve(R, across.T @ (P @ (y - z)))
    return ActiveSetPoint(z, multipliers, side.copy())


def _violations(z: FloatArray, constraints: Constraints) -> npt.NDArray[np.bool_]:
    """Which constraints z violates by more than rounding."""
    C, low, high = constraints
    reach, size = C @ z, np.linalg.norm(z)
    above = reach - high > ROUNDING * (size + np.abs(high))
    below = low - reach > ROUNDING * (size + np.abs(low))
    return np.asarray(above | below)


def _wrong_signs(
    y: FloatArray, P: FloatArray, constraints: Constraints, best: ActiveSetPoint
) -> npt.NDArray[np.intp]:
    """The active inequalities whose multipliers have the wrong sign: at best none."""
    away = y - best.point
    wrong = best.side * best.multipliers < -ROUNDING * np.linalg.norm(P @ away)
    wrong &= constraints.low != constraints.high
    # A gap below the rounding of the cost is noise: to follow it would go in circles.
    noise = np.finfo(np.float64).eps * np.trace(P) * (away @ away)
    if wrong.any() and _gap(best.point, y, P, constraints, best) <= noise:
        wrong[:] = False
    return np.flatnonzero(wrong)


def _gap(
    z: FloatArray,
    y: FloatArray,
    P: FloatArray,
    constraints: Constraints,
    best: ActiveSetPoint,
) -> float:
    """½‖z - y‖²_P less the dual value at λ: ½‖P(z-y) + Cᵀλ‖²_{P⁻¹} + λ·(bound - Cz)."""
    C, low, high = constraints
    right = (best.side * best.multipliers > 0) | (low == high)
    dual = np.where(right, best.multipliers, 0.0)
    bound = np.where(dual > 0, high, np.where(dual < 0, low, 0.0))
    residual = P @ (z - y) + C.T @ dual
    # Sizes, not signs: z may lie outside by a rounding, and no gap is negative.
    slack = np.abs(dual) @ np.abs(np.where(dual != 0, bound - C @ z, 0.0))
    try:
        return float(0.5 * residual @ np.linalg.solve(P, residual) + slack)
    except np.linalg.LinAlgError:
        return np.inf
