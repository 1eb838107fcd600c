"""The search for a shift of the level in months, in plain NumPy: fits are by lstsq."""

import numpy as np

COEFFICIENTS = (0, 0.25, 0.5, 0.7, 0.85, 0.95, 0.99)


def find_plain_shift(y, times, period, columns, onsets):
    """The row of a shift among the last ones, and its size; None if there is none.

    ``onsets`` are those of earlier alarms; all times are known, and so are columns.
    """
    oldest = max(len(y) - 256, onsets[-5] if len(onsets) > 4 else 0)
    t = np.arange(oldest, len(y))
    months = np.rint((times[t] % 1 - times[0] % 1) * period) % period
    shifts = [t >= one for one in onsets[-4:]]
    shifts += [np.maximum(t - one, 0) / 256 for one in onsets[-4:]]
    x = np.column_stack(
        [*(months == k for k in range(period)), t / 256, columns[t], *shifts]
    ).astype(float)
    freedom = len(t) - x.shape[1] - 2
    first = max(2 * period, 12, len(t) - 12)
    if onsets:
        first = max(first, onsets[-1] + 7 - oldest)
    if freedom < 10 or len(t) < first + 6:
        return None
    scales = [(y[t], 0.0)]
    if y[t].min() > 0:
        scales.append((np.log(y[t]), 2 * np.log(y[t]).sum() * freedom / len(t)))
    best, without = (np.inf, 0, 0.0), np.inf
    for values, jacobian in scales:
        given, place, size, other = fit_shifts(values, x, first, freedom)
        best = min(best, (given + jacobian, place, size))
        without = min(without, other + jacobian)
    return (t[best[1]], best[2]) if without - best[0] > 4.85**2 else None


def plain_period(times):
    """The rows of a year; 0 of more than 13."""
    years = 0.0 if times is None else np.median(np.diff(times))
    return max(round(1 / years), 1) if 13.5 * years > 1 else 0


def fit_shifts(y, x, first, freedom):
    """The likelihood with a shift, its place and size, and the likelihood without."""
    best, residuals = (np.inf, 0, 0.0, 0.0), []
    least = freedom * 1e-12 * np.mean(y**2)
    for phi in COEFFICIENTS:
        penalty = -np.log(1 - phi**2)
        u, v = transform(y, phi), transform(x, phi)
        residuals.append((u - v @ np.linalg.lstsq(v, u)[0], penalty))
        for place in range(first, len(y) - 5):
            step = transform((np.arange(len(y)) >= place).astype(float), phi)
            wide = np.column_stack([v, step])
            theta, _, rank, _ = np.linalg.lstsq(wide, u)
            if rank > np.linalg.matrix_rank(v):
                rest = max(((u - wide @ theta) ** 2).sum(), least)
                one = freedom * np.log(rest) + penalty, place, theta[-1], rest / freedom
                best = min(best, one)
    without = np.inf
    for errors, penalty in residuals:
        squares = errors**2
        squares[best[1] :] = np.minimum(squares[best[1] :], 9 * best[3])
        total = max(squares.sum(), least)
        without = min(without, freedom * np.log(total) + penalty)
    return *best[:3], without


def transform(values, phi):
    """Rows less φ times those before; the first one as if many had been before."""
    return np.concatenate(
        [values[:1] * np.sqrt(1 - phi**2), values[1:] - phi * values[:-1]]
    )
