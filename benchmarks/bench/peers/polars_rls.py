"""polars-ols: recursive least squares as a polars expression, over a whole frame."""

from typing import Any

import numpy as np
import polars as pl
import polars_ols  # noqa: F401  (it registers ``least_squares`` on expressions)

from benchmarks.bench.bench_stream import BenchStream
from benchmarks.bench.implementations import Implementation, Run
from thalweg.types import FloatArray


def prepare(stream: BenchStream, discount: float, ridge: float) -> Run:
    """Its predictions have seen their own y, so the coefficients before are used."""
    names = [f"x{i}" for i in range(stream.x.shape[1])]
    columns = dict(zip(names, stream.x.T, strict=True))
    frame = pl.DataFrame(columns | {"y": stream.y})
    half_life = float(np.log(0.5) / np.log(discount))
    target: Any = pl.col("y")
    after = target.least_squares.rls(
        *names, half_life=half_life, initial_state_covariance=1 / ridge,
        mode="coefficients",
    )  # fmt: skip

    def run() -> FloatArray:
        theta = frame.select(after.alias("theta")).unnest("theta").to_numpy()
        out = np.zeros(len(stream.y))
        np.einsum("ti,ti->t", stream.x[1:], theta[:-1], out=out[1:])
        return out

    return run


PER_ROUND: list[Implementation] = []
WHOLE_ARRAY = [Implementation("polars-ols rls", prepare)]
