"""The theorems of Yuan & Lamperski (2020) as experiments."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from thalweg.lab.paper.paper_figures import save_figures as save_figures
    from thalweg.lab.paper.reproduction import Reproduction as Reproduction
    from thalweg.lab.paper.reproduction import TheoremResult as TheoremResult
    from thalweg.lab.paper.reproduction import count_steps as count_steps
    from thalweg.lab.paper.reproduction import reproduce as reproduce

_MODULE_OF = {
    "Reproduction": "reproduction",
    "TheoremResult": "reproduction",
    "count_steps": "reproduction",
    "reproduce": "reproduction",
    "save_figures": "paper_figures",
}

__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> Any:
    # Loaded on first use (PEP 562): `thalweg reproduce --help` needs no scipy.
    if name in _MODULE_OF:
        return getattr(import_module(f"thalweg.lab.paper.{_MODULE_OF[name]}"), name)
    raise AttributeError(f"module 'thalweg.lab.paper' has no attribute {name!r}")
