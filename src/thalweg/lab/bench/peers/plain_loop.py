"""A plain numba loop: benchmarks/plain_rls.py, which lies in the repository only."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import numpy as np

from thalweg.lab.bench.bench_stream import BenchStream
from thalweg.lab.bench.implementations import Implementation, Run
from thalweg.types import FloatArray

PLAIN_RLS = Path(__file__).parents[5] / "benchmarks" / "plain_rls.py"


def load_module(path: Path) -> ModuleType:
    """The module in a file; ``ImportError`` where there is no such file."""
    spec = spec_from_file_location("plain_rls", path)
    if spec is None or spec.loader is None or not path.exists():
        raise ImportError(f"There is no {path.name} beside this installation.")
    module = module_from_spec(spec)
    sys.modules[spec.name] = module  # Numba's cache looks for it there.
    spec.loader.exec_module(module)
    return module


plain_rls = load_module(PLAIN_RLS).plain_rls


def prepare(stream: BenchStream, discount: float, ridge: float) -> Run:
    """Compiled, whole arrays, no safeguards."""
    n = stream.x.shape[1]

    def run() -> FloatArray:
        out = np.empty(len(stream.y))
        plain_rls(np.zeros(n), np.eye(n) / ridge, discount, stream.x, stream.y, out)
        return out

    return run


PER_ROUND: list[Implementation] = []
WHOLE_ARRAY = [Implementation("plain numba loop", prepare)]
