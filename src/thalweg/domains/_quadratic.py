"""The nearest point under linear constraints: what Box, Simplex and Polytope share.

    minimise ½‖z - y‖²_P  subject to  low ≤ Cz ≤ high

daqp proposes which constraints hold with equality. The point is then computed afresh
from them, which costs one factorisation and makes up for the solver's tolerances. Where
the proposal fails (cond(P) ≫ 1e8, a y very far away, a set without interior) a primal
active-set method starts over from a point of the set.
"""

from collections.abc import Callable
from typing import NamedTuple

import daqp
import numpy as np
import numpy.typing as npt

from thalweg.domains.base import Projection
from thalweg.types import FloatArray

ROUNDING = 1e-13  # relative; a constraint or a sign is not broken by less than this
STEPS = 20  # for each row and column of C; three times the most seen
EQUALITY = 5  # daqp's code for a constraint with low = high


class Constraints(NamedTuple):
    """low ≤ Cz ≤ high; the rows of C have length one, or nearly."""

    normals: FloatArray  # (m, n) C
    low: FloatArray  # (m,)
    high: FloatArray  # (m,)


class Working(NamedTuple):
    """A point found by holding some constraints with equality."""

    point: FloatArray
    multipliers: FloatArray  # (m,) λ with P(y - z) = Cᵀλ; 0 on the others
    side: FloatArray  # (m,) 1 held at high, -1 held at low, 0 not held


def project(
    point: FloatArray,
    information: FloatArray,
    constraints: Constraints,
    start: FloatArray,
    repair: Callable[[FloatArray], FloatArray],
) -> Projection:
    """The projection; ``start`` lies in the set, ``repair`` moves rounding into it."""
    y, P = np.asarray(point, np.float64), np.asarray(information, np.float64)
    found = _propose(y, P, constraints)
    if found is None:
        found = _active_set(y, P, constraints, np.asarray(start, np.float64))
    nearest = repair(found.point).astype(point.dtype)
    return Projection(nearest, _gap(nearest, y, P, constraints, found))


def _propose(y: FloatArray, P: FloatArray, constraints: Constraints) -> Working | None:
    """What daqp's active constraints give, or None where that is not optimal."""
    C, low, high = constraints
    reach = C @ y
    # Its tolerances are absolute: the unit of length is how far y lies outside.
    unit = max((reach - high).max(), (low - reach).max())
    fixed = low == high
    _, _, status, info = daqp.solve(
        P / np.abs(P).max(),
        np.zeros_like(y),
        C,
        (high - reach) / unit,
        (low - reach) / unit,
        np.where(fixed, EQUALITY, 0).astype(np.int32),
        primal_tol=1e-11,
        eps_prox=0.0,
    )
    side = np.sign(info["lam"])
    side[fixed] = 1.0
    if status != 1 or np.count_nonzero(side) > y.size:
        return None
    try:
        found = _held(y, P, constraints, side)
    except np.linalg.LinAlgError:  # the constraints it holds depend on each other
        return None
    if _broken(found.point, constraints).any():
        return None
    return None if _pulling(y, P, constraints, found).size else found


def _active_set(
    y: FloatArray, P: FloatArray, constraints: Constraints, z: FloatArray
) -> Working:
    """Go to the best point of the constraints held, as far as the others allow.

    One that stops us is held from then on; one that pulls the wrong way at the best
    point is let go. Cost never rises, and Bland's least index breaks ties. z stays in
    the set, so that should rounding exhaust the limit, its gap tells how good it is.
    """
    C, low, high = constraints
    side = np.where(low == high, 1.0, 0.0)
    for _ in range(int(STEPS * sum(C.shape))):
        found = _held(y, P, constraints, side)
        broken = np.flatnonzero(_broken(found.point, constraints))
        if broken.size:
            here, reach = C[broken] @ z, C[broken] @ found.point
            above = reach > high[broken]
            bound = np.where(above, high[broken], low[broken])
            room = np.where(above, bound - here, here - bound)
            # Rooms of a rounding tie at 0, or the least index would not choose.
            room[room <= ROUNDING * (np.linalg.norm(z) + np.abs(bound))] = 0.0
            share = room / (room + np.abs(reach - bound))
            first = int(share.argmin())
            z = z + share[first] * (found.point - z)
            side[broken[first]] = 1.0 if above[first] else -1.0
        else:
            z = found.point
            wrong = _pulling(y, P, constraints, found)
            if not wrong.size:
                return found
            side[wrong[0]] = 0.0
    return found._replace(point=z)


def _held(
    y: FloatArray, P: FloatArray, constraints: Constraints, side: FloatArray
) -> Working:
    """The nearest point that meets the held constraints with equality."""
    C, low, high = constraints
    held = np.flatnonzero(side)
    offset = np.where(side > 0, high, low)[held]
    Q, R = np.linalg.qr(C[held].T, mode="complete")
    across, along, R = Q[:, : held.size], Q[:, held.size :], R[: held.size]
    # From the constraints towards y, not back from y: a far y costs no digits.
    z = across @ np.linalg.solve(R.T, offset)
    z = z + along @ np.linalg.solve(along.T @ P @ along, along.T @ (P @ (y - z)))
    multipliers = np.zeros(len(side))
    multipliers[held] = np.linalg.solve(R, across.T @ (P @ (y - z)))
    return Working(z, multipliers, side.copy())


def _broken(z: FloatArray, constraints: Constraints) -> npt.NDArray[np.bool_]:
    C, low, high = constraints
    reach, size = C @ z, np.linalg.norm(z)
    above = reach - high > ROUNDING * (size + np.abs(high))
    below = low - reach > ROUNDING * (size + np.abs(low))
    return np.asarray(above | below)


def _pulling(
    y: FloatArray, P: FloatArray, constraints: Constraints, found: Working
) -> npt.NDArray[np.intp]:
    """The held inequalities that pull the wrong way; at the optimum there are none."""
    away = y - found.point
    wrong = found.side * found.multipliers < -ROUNDING * np.linalg.norm(P @ away)
    wrong &= constraints.low != constraints.high
    # A gap below the rounding of the cost is noise: to follow it would go in circles.
    noise = np.finfo(np.float64).eps * np.trace(P) * (away @ away)
    if wrong.any() and _gap(found.point, y, P, constraints, found) <= noise:
        wrong[:] = False
    return np.flatnonzero(wrong)


def _gap(
    z: FloatArray,
    y: FloatArray,
    P: FloatArray,
    constraints: Constraints,
    found: Working,
) -> float:
    """½‖z - y‖²_P less the dual value at λ: ½‖P(z-y) + Cᵀλ‖²_{P⁻¹} + λ·(bound - Cz)."""
    C, low, high = constraints
    right = (found.side * found.multipliers > 0) | (low == high)
    dual = np.where(right, found.multipliers, 0.0)
    bound = np.where(dual > 0, high, np.where(dual < 0, low, 0.0))
    residual = P @ (z - y) + C.T @ dual
    # Sizes, not signs: z may lie outside by a rounding, and no gap is negative.
    slack = np.abs(dual) @ np.abs(np.where(dual != 0, bound - C @ z, 0.0))
    return float(0.5 * residual @ np.linalg.solve(P, residual) + slack)
