"""The candidates of a step: forecasts that are mixed by their errors (step_mixture.py).

A candidate is a line in ``TABLE``. A new one is appended, as some of the others stand
for the one before them, and raises the version of STATE in forecaster_layout.py even
where the padding has room for its errors. Where it is more than a feature, it has a
file with up to three kernels:

    forecast(s, w, j, t, h, level, scale, candidates)   of step h after round t, by the
        model j, less the level and in units of the scale; candidates before it in the
        table are set
    begin(s, w, t, scale)   what all steps share; returns whether it can forecast
    learn(s, t, y, level)   the value y of round t

Where a candidate cannot forecast, it has no weight, and its errors are those of the one
before it in the table. Its errors at each step are counted in the state
(``candidate_errors``). As kernels cannot loop over functions, the loops over the table
are written out as source, as kernels/compiler/layout.py does.
"""

import linecache
from typing import Any, NamedTuple

from thalweg.kernels.compiler.jit import inner_function
from thalweg.kernels.compiler.simd import WIDTH
from thalweg.kernels.forecaster import forecaster_layout as layout
from thalweg.kernels.forecaster.analogues import (
    begin_analogues,
    forecast_analogues,
    learn_history,
)
from thalweg.kernels.forecaster.nonlinear_regression import forecast_nonlinear
from thalweg.kernels.forecaster.recursive_forecast import forecast_recursive
from thalweg.kernels.forecaster.step_regressions import predict_lanes


class Candidate(NamedTuple):
    """A forecast that is mixed at every step."""

    name: str
    prior: float  # its weight before any error is known, up to a factor
    forecast: Any  # a kernel; an integer is a feature of the step, or a lane
    errors: float = 0.0  # number of its errors after which the prior counts by half
    begin: Any = None
    learn: Any = None


TABLE = (
    *(Candidate(f"regression {lane}", 1.0, lane) for lane in range(layout.LANES)),
    Candidate("recursive", 8.0, forecast_recursive),
    Candidate("last value", 0.3, layout.LAST),
    Candidate("season ago", 0.3, layout.SEASON_AGO),
    Candidate("cycle ago", 0.3, layout.CYCLE_AGO),
    # With more coefficients than rounds, past errors predict little.
    Candidate("nonlinear", 20.0, forecast_nonlinear, errors=100.0),
    Candidate(
        "analogues", 12.0, forecast_analogues, errors=100.0,
        begin=begin_analogues, learn=learn_history,
    ),
)  # fmt: skip
PADDED_CANDIDATES = -(-len(TABLE) // WIDTH) * WIDTH
PLACES = {candidate.name: k for k, candidate in enumerate(TABLE)}
"""The index of each candidate, by name."""


def _written_out(table: tuple[Candidate, ...]) -> dict[str, Any]:
    """The kernels that go through the table: ``learn_candidates``,
    ``begin_candidates`` and ``set_candidates``."""
    scope: dict[str, Any] = {"predict_lanes": predict_lanes}
    learn = ["def learn_candidates(s, t, y, level):", "    return"]
    begin = ["def begin_candidates(s, w, slot, t, scale):"]
    forecast = [
        "def set_candidates(s, w, slot, j, t, h, level, scale, candidates):",
        "    predict_lanes(s.theta[j], w.row, candidates)",
    ]
    for k, one in enumerate(table):
        scope |= {f"learn_{k}": one.learn, f"begin_{k}": one.begin}
        can = "1.0"
        if one.learn is not None:
            learn.insert(-1, f"    learn_{k}(s, t, y, level)")
        if one.begin is not None:
            can = f"1.0 if begin_{k}(s, w, t, scale) else 0.0"
        begin.append(f"    s.has_candidate[slot, {k}] = {can}")
        if k < layout.LANES:
            continue
        made = f"w.row[{one.forecast}]"
        if callable(one.forecast):
            scope[f"forecast_{k}"] = one.forecast
            made = f"forecast_{k}(s, w, j, t, h, level, scale, candidates)"
        if one.begin is not None:
            made += f" if s.has_candidate[slot, {k}] > 0.0 else candidates[{k - 1}]"
        forecast.append(f"    candidates[{k}] = {made}")
    file = "<candidates of the Forecaster>"
    source = "\n".join([*learn, *begin, *forecast]) + "\n"
    # With the source in linecache, tracebacks and numba's errors can show its lines.
    linecache.cache[file] = len(source), None, source.splitlines(True), file
    exec(compile(source, file, "exec"), scope)
    return scope


_kernels = _written_out(TABLE)
learn_candidates = inner_function(_kernels["learn_candidates"])
begin_candidates = inner_function(_kernels["begin_candidates"])
set_candidates = inner_function(_kernels["set_candidates"])
