"""A server of ``KeyedModels``: a model per key behind a port (``thalweg serve``)."""

from typing import TYPE_CHECKING

from thalweg.lazy import lazy_exports

if TYPE_CHECKING:
    from thalweg.serve.application import create_app as create_app
    from thalweg.serve.limits import Limits as Limits
    from thalweg.serve.server import run_server as run_server

# The help of the command needs no FastAPI.
__getattr__, __all__ = lazy_exports(__name__)
