"""min ½‖Rθ - q‖² over a ball or a box: inner loops of constrained_intervals.py.

R (n, n) is upper triangular and q (n,) lies beside it: ``triangle`` (n, n+1), as
intervals.insert_row fills it, so that a zero on its diagonal has a row of zeros. A
domain is {‖θ‖ ≤ radius, low ≤ θ ≤ high}, a ball where the radius is finite, else a box
whose sides may have no end (``NO_END`` and beyond).

Every solution comes with a lower bound from duality, so that a solver that stopped
early widens a bracket and breaks none: in a box, with s = Rθ - q and g = Rᵀs,

    min over S  ≥  ½‖s‖² - (g·θ + max{-g·z : z in S}),  whatever θ is;

in a ball  min over S  ≥  min ½‖Rθ - q‖² + ½μ(‖θ‖² - radius²),  whatever μ ≥ 0 is. Its
first part is what is left of q when the rows √μe_i are rotated into the triangle.
"""

import math

import numpy as np

from thalweg.kernels.compiler.jit import kernel
from thalweg.kernels.hindsight.intervals import MIN_ENTRY, insert_row

NO_END = 1e150
"""Minimum distance of a box's side that counts as unbounded: checks.MAX_MAGNITUDE."""
RADIUS_TOLERANCE = 1e-10
"""Newton's steps end when ‖θ‖ is that near to the radius: the loss of the point, once
moved to the sphere, is off by the square of it."""
MAX_NEWTON_STEPS = 100
"""Steps of the secular equation before giving up; 2 to 8 are usual."""
SIGN_ROUNDING = 16 * np.finfo(np.float64).eps
"""A derivative below this part of its terms, times n, has no sign."""
STEPS_PER_SIDE = 20
"""Active-set steps for each coordinate of a box before giving up; 1 to 3 are usual."""
FREE, ACTIVE, BARRED = 1.0, 0.0, -1.0
"""A coordinate of a box: inside; at a bound; at a bound that is not released again."""


@kernel
def least_loss_in_domain(triangle, radius, low, high, theta, mu, work):
    """Bounds (upper, lower) on the least ½‖Rθ - q‖², and the multiplier μ of a ball.

    ``theta`` is a guess that is changed to a point which attains the upper bound, and
    ``mu`` a guess of the multiplier. The bounds are equal up to rounding wherever the
    solver has converged; where a box has no end that is not certified.
    Shapes: triangle (n, n+1), low, high and theta (n,), work (n+4, n+1). O(n³).
    """
    n = theta.size
    guess = work[n + 3, :n]
    guess[:] = theta
    _back_substitute(triangle, low, high, theta)
    if _is_inside(theta, radius, low, high):
        return 0.0, 0.0, 0.0
    if radius < np.inf:
        mu, lower = _solve_on_sphere(triangle, radius, theta, mu, work)
        _set_residual(triangle, theta, work[n])
        return 0.5 * _square(work[n, :n]), lower, mu
    theta[:] = guess
    converged = _descend_in_box(triangle, low, high, theta, work)
    gap = _box_gap(triangle, low, high, theta, work[n], converged)
    upper = 0.5 * _square(work[n, :n])
    # No loss is negative: 0 is a bound where the gap has overflowed, too.
    return upper, (upper - gap if gap <= upper else 0.0), mu


@kernel
def distance_to_domain(triangle, radius, low, high):
    """min ½‖rθ - q‖² over S for one number r and a vector q: ``triangle`` is (1, 1+n).

    The nearest point of S to q/r in the Euclidean norm, for losses ½‖θ - y‖².
    """
    r, square, inside = triangle[0, 0], 0.0, 0.0
    for i in range(low.size):
        q = triangle[0, 1 + i]
        square += q * q
        outside = max(q - r * high[i], r * low[i] - q, 0.0)
        inside += outside * outside
    if radius < np.inf:
        inside = max(math.sqrt(square) - r * radius, 0.0) ** 2
    return 0.5 * inside


@kernel
def _back_substitute(triangle, low, high, theta):
    """R⁻¹q, with the point nearest to 0 in coordinates that R leaves open."""
    n = theta.size
    for i in range(n - 1, -1, -1):
        r = triangle[i, i]
        if r == 0:
            theta[i] = max(low[i], min(high[i], 0.0))
            continue
        s = triangle[i, n]
        for j in range(i + 1, n):
            s -= triangle[i, j] * theta[j]
        theta[i] = s / r


@kernel
def _is_inside(theta, radius, low, high):
    square = 0.0
    for i in range(theta.size):
        if not low[i] <= theta[i] <= high[i]:
            return False
        square += theta[i] * theta[i]
    return math.sqrt(square) <= radius


@kernel
def _solve_on_sphere(triangle, radius, theta, mu, work):
    """θ(μ) = (RᵀR + μI)⁻¹Rᵀq with ‖θ(μ)‖ = radius; returns μ and a lower bound.

    1/‖θ(μ)‖ is concave and grows (domains/ball.py), so that Newton's steps on
    1/‖θ(μ)‖ - 1/radius go up to the root from below, and from above land below it:
    any guess of μ will do. The factor of RᵀR + μI is R with n rows √μe_i inserted.
    """
    n = theta.size
    damped, row = work[:n], work[n]
    least = 0.0
    for i in range(n):
        least += _square(triangle[i, i:n])
    # Its root is what insert_row does not yet take for rounding of R.
    least *= (2 * n * MIN_ENTRY) ** 2
    mu = max(mu, least)
    for _ in range(MAX_NEWTON_STEPS):
        damped[:] = triangle
        left = 0.0
        for i in range(n):
            row[:] = 0
            row[i] = math.sqrt(mu)
            left += insert_row(damped, row, n)
        length = _solve_damped(damped, theta)
        slope = _inverse_norm(damped, theta, row)
        excess = length / radius - 1
        if abs(excess) <= RADIUS_TOLERANCE or not slope > 0:
            break
        further = max(mu + excess * (length / slope) ** 2, least)
        if further == mu or not further < np.inf:
            break
        mu = further
    if mu > least or length > radius:
        for i in range(n):
            theta[i] *= radius / length
    return mu, max(0.0, left - 0.5 * mu * radius * radius)


@kernel
def _solve_damped(damped, theta):
    """R⁻¹q into ``theta``, 0 where R is 0 on its diagonal; returns ‖θ‖."""
    n, square = theta.size, 0.0
    for i in range(n - 1, -1, -1):
        s = damped[i, n]
        for j in range(i + 1, n):
            s -= damped[i, j] * theta[j]
        theta[i] = s / damped[i, i] if damped[i, i] != 0 else 0.0
        square += theta[i] * theta[i]
    return math.sqrt(square)


@kernel
def _inverse_norm(damped, theta, out):
    """‖R⁻ᵀθ‖, the root of θ·(RᵀR)⁻¹θ."""
    square = 0.0
    for i in range(theta.size):
        s = theta[i]
        for j in range(i):
            s -= damped[j, i] * out[j]
        out[i] = s / damped[i, i] if damped[i, i] != 0 else 0.0
        square += out[i] * out[i]
    return math.sqrt(square)


@kernel
def _descend_in_box(triangle, low, high, theta, work):
    """The least loss in a box by a primal active-set method (Stark & Parker's BVLS).

    Coordinates inside the box are free, those at a bound are active. Least squares in
    the free ones gives a step: to its end, or to the first bound that it meets, which
    is active from then on. At its end the bound with the steepest descent inwards is
    released. Returns whether no such bound was left.
    """
    n = theta.size
    step, status = work[n + 1, :n], work[n + 2, :n]
    for i in range(n):
        theta[i] = max(low[i], min(high[i], theta[i]))
        status[i] = FREE if low[i] < theta[i] < high[i] else ACTIVE
    released, inwards = -1, 0.0
    for _ in range(STEPS_PER_SIDE * n):
        _set_free_step(triangle, theta, status, step, work)
        if released >= 0 and not step[released] * inwards > 0:
            # Descent inwards was rounding: to release the bound again would cycle.
            status[released] = BARRED
            step[:] = 0
        blocking = _move(theta, step, status, low, high)
        if blocking >= 0:
            status[blocking], released = ACTIVE, -1
            continue
        released, inwards = _steepest_bound(triangle, low, high, theta, status, work[n])
        if released < 0:
            return True
        status[released] = FREE
    return False


@kernel
def _set_free_step(triangle, theta, status, step, work):
    """The free coordinates' step to the least ½‖Rθ - q‖², 0 where R leaves it open."""
    n = theta.size
    count = 0
    for i in range(n):
        count += status[i] == FREE
    factor, row = work[:count], work[n, : count + 1]
    factor[:, : count + 1] = 0
    for h in range(n):
        residual, column = triangle[h, n], 0
        for j in range(n):
            residual -= triangle[h, j] * theta[j]
            if status[j] == FREE:
                row[column] = triangle[h, j]
                column += 1
        row[count] = residual
        insert_row(factor, row, count)
    column = count
    for i in range(n - 1, -1, -1):
        step[i] = 0.0
        if status[i] != FREE:
            continue
        column -= 1
        s, later = factor[column, count], column
        for j in range(i + 1, n):
            if status[j] == FREE:
                later += 1
                s -= factor[column, later] * step[j]
        if factor[column, column] != 0:
            step[i] = s / factor[column, column]


@kernel
def _move(theta, step, status, low, high):
    """Add as much of the step as has room in the box; returns what blocks it, or -1."""
    share, blocking = 1.0, -1
    for i in range(theta.size):
        if step[i] != 0 and status[i] == FREE:
            room = (high[i] if step[i] > 0 else low[i]) - theta[i]
            if abs(room) < share * abs(step[i]):
                share, blocking = room / step[i], i
    for i in range(theta.size):
        if status[i] == FREE:
            theta[i] = max(low[i], min(high[i], theta[i] + share * step[i]))
    if blocking >= 0:
        theta[blocking] = high[blocking] if step[blocking] > 0 else low[blocking]
    return blocking


@kernel
def _steepest_bound(triangle, low, high, theta, status, residual):
    """The active bound with the steepest descent inwards, and its direction ± 1.

    (-1, 0) if no side qualifies. Steepest for features of length one.
    """
    n = theta.size
    size = _set_residual(triangle, theta, residual)
    steepest, released, inwards = n * SIGN_ROUNDING * size, -1, 0.0
    for i in range(n):
        if status[i] != ACTIVE or low[i] == high[i]:
            continue
        slope, square = 0.0, 0.0
        for h in range(i + 1):
            slope += triangle[h, i] * residual[h]
            square += triangle[h, i] * triangle[h, i]
        descent = -slope if theta[i] == low[i] else slope
        if descent > steepest * math.sqrt(square):
            steepest, released = descent / math.sqrt(square), i
            inwards = 1.0 if theta[i] == low[i] else -1.0
    return released, inwards


@kernel
def _set_residual(triangle, theta, residual):
    """Rθ - q into ``residual``; returns the root of the sum of its squared terms."""
    n, size = theta.size, 0.0
    for h in range(n):
        residual[h] = -triangle[h, n]
        size += triangle[h, n] * triangle[h, n]
        for j in range(h, n):
            term = triangle[h, j] * theta[j]
            residual[h] += term
            size += term * term
    return math.sqrt(size)


@kernel
def _box_gap(triangle, low, high, theta, residual, converged):
    """By how much the loss of θ can exceed the least; sets ``residual`` to Rθ - q."""
    n, gap = theta.size, 0.0
    _set_residual(triangle, theta, residual)
    for i in range(n):
        slope = 0.0
        for h in range(i + 1):
            slope += triangle[h, i] * residual[h]
        end = low[i] if slope > 0 else high[i]
        if abs(end) < NO_END:
            gap += slope * (theta[i] - end)
        elif not converged:
            return np.inf
    return gap


@kernel
def _square(values):
    """Σ v_i²."""
    total = 0.0
    for i in range(values.size):
        total += values[i] * values[i]
    return total
