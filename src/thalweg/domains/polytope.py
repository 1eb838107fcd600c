"""Polytopes and polyhedra: the points that meet finitely many linear inequalities."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import scipy  # its parts are loaded when they are first used, which takes long

from thalweg import checks
from thalweg.domains import quadratic_program
from thalweg.domains.base import Domain, Projection, is_legal, norm
from thalweg.errors import InvalidParameterError, ThalwegError
from thalweg.types import FloatArray

SOLVED, EMPTY, UNBOUNDED = 0, 2, 3
"""scipy's codes for how a linear program ended."""
ROUNDING = 1e-12
"""Relative tolerance of ``contains``: ten times that of the projection."""


@dataclass(frozen=True, eq=False)
class Polytope(Domain):
    """S = {θ : Aθ ≤ b}, which may be unbounded or flat but not empty.

    ``normals`` (A) has shape (m, n), ``offsets`` (b) has shape (m,); both are finite,
    and no row of A is zero. A ``radius`` or a ``support`` costs linear programs.
    """

    normals: FloatArray
    offsets: FloatArray
    _feasible_point: FloatArray = field(init=False, repr=False)  # any point of S

    def __post_init__(self) -> None:
        for name, axes in (("normals", 2), ("offsets", 1)):
            value = checks.check_array(self, name, axes)
            object.__setattr__(self, name, value)
            if not np.isfinite(value).all():
                raise InvalidParameterError(
                    f"The {name!r} parameter of Polytope must be finite. "
                    f"Got {value} instead."
                )
        if len(self.normals) != len(self.offsets):
            raise InvalidParameterError(
                "The 'offsets' parameter of Polytope must have one number for each of "
                f"the {len(self.normals)} normals. Got {len(self.offsets)} instead."
            )
        zero = ~self.normals.any(axis=1)
        if zero.any():
            raise InvalidParameterError(
                "The 'normals' parameter of Polytope must have no row of zeros. "
                f"Got one in row {int(zero.argmax())} instead."
            )
        object.__setattr__(self, "dimension", self.normals.shape[1])
        object.__setattr__(self, "_feasible_point", self._find_feasible_point())

    @cached_property
    def radius(self) -> float:
        """The norm of the farthest corner of the box around S, so at least D."""
        axes = np.eye(self.normals.shape[1])
        ends = np.maximum(self.support(axes), self.support(-axes))
        return float(np.linalg.norm(ends))

    def contains(self, point: FloatArray) -> bool:
        if not is_legal(point):
            return False
        unit = self._constraints
        rounding = max(ROUNDING, point.size * float(np.finfo(point.dtype).eps))
        size = norm(point) + np.abs(unit.high)
        return bool((unit.normals @ point <= unit.high + rounding * size).all())

    def project(self, point: FloatArray) -> FloatArray:
        return self.project_in(point, np.eye(point.size)).point

    def project_in(self, point: FloatArray, information: FloatArray) -> Projection:
        member = self._project_member(point)
        if member is not None:
            return member
        return quadratic_program.project(
            point,
            information,
            self._constraints,
            self._feasible_point,
            unit=max(1.0, norm(self._feasible_point)),
            repair=np.asarray,
        )

    def support(self, directions: FloatArray) -> FloatArray:
        results = (self._solve_program(-x) for x in directions)
        return np.array([np.inf if r.status == UNBOUNDED else -r.fun for r in results])

    def _find_feasible_point(self) -> FloatArray:
        """A point of S, or an error where there is none."""
        result = self._solve_program(np.zeros(self.normals.shape[1]))
        if result.status == SOLVED and self.contains(result.x):
            point = np.array(result.x)
            point.flags.writeable = False
            return point
        raise InvalidParameterError(
            "The 'normals' and 'offsets' parameters of Polytope must leave a point. "
            f"Got {len(self.offsets)} inequalities that no point meets instead."
        )

    def _solve_program(self, cost: FloatArray) -> "scipy.optimize.OptimizeResult":
        """min cost·θ over S, by a second method where the first does not know."""
        for method in ("highs-ds", "highs-ipm"):
            result = scipy.optimize.linprog(
                cost,
                self._constraints.normals,
                self._constraints.high,
                bounds=(None, None),
                method=method,
                # Presolve cannot always distinguish an unbounded S from an empty one.
                options={"presolve": False, "primal_feasibility_tolerance": 1e-10},
            )
            if result.status in (SOLVED, EMPTY, UNBOUNDED):
                return result
        raise ThalwegError(f"No linear program ends on {self!r}: {result.message}")

    @cached_property
    def _constraints(self) -> quadratic_program.Constraints:
        """The same inequalities with normals of length one."""
        length = np.linalg.norm(self.normals, axis=1)
        high = self.offsets / length
        unit = self.normals / length[:, None]
        return quadratic_program.Constraints(unit, np.full(high.size, -np.inf), high)
