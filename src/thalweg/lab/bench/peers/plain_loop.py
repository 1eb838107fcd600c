"""The yardstick: benchmarks/plain_rls.py, which lies in the repository only."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import numpy as np

from thalweg.lab.bench.contender import Contender, Play
from thalweg.lab.bench.stream import Stream
from thalweg.types import FloatArray

HOME = Path(__file__).parents[5] / "benchmarks" / "plain_rls.py"


def load(path: Path) -> ModuleType:
    """The module in a file; ``ImportError`` where there is no such file."""
    spec = spec_from_file_location("plain_rls", path)
    if spec is None or spec.loader is None or not path.exists():
        raise ImportError(f"There is no {path.name} beside this installation.")
    module = module_from_spec(spec)
    sys.modules[spec.name] = module  # where numba's cache will look for it
    spec.loader.exec_module(module)
    return module


YARDSTICK = load(HOME).plain_rls


def prepare(stream: Stream, discount: float, ridge: float) -> Play:
    """Compiled, whole arrays, no safeguards."""
    n = stream.x.shape[1]

    def play() -> FloatArray:
        out = np.empty(len(stream.y))
        YARDSTICK(np.zeros(n), np.eye(n) / ridge, discount, stream.x, stream.y, out)
        return out

    return play


SINGLE: list[Contender] = []
WHOLE = [Contender("plain numba loop", prepare)]
