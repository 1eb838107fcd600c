"""Models that users hold and update: regression, classes, filters."""

from typing import TYPE_CHECKING

from thalweg.lazy import lazy_exports

if TYPE_CHECKING:
    from thalweg.models import columns as columns
    from thalweg.models import model_file as model_file
    from thalweg.models import named_rounds as named_rounds
    from thalweg.models.adaptive_filters import AdaptiveFilter as AdaptiveFilter
    from thalweg.models.adaptive_filters import adaptive_filter as adaptive_filter
    from thalweg.models.classifier import Classifier as Classifier
    from thalweg.models.online import Online as Online
    from thalweg.models.tickets import Ticket as Ticket

_MODULE_OF = {
    "AdaptiveFilter": "adaptive_filters",
    "Classifier": "classifier",
    "Online": "online",
    "Ticket": "tickets",
    "adaptive_filter": "adaptive_filters",
}

__all__ = sorted(_MODULE_OF)

# Only rows with names need tables, and only files the classes of all learners: such
# modules are used as ``models.columns``, so that whoever has arrays loads neither.
_MODULES = {name: name for name in ("columns", "model_file", "named_rounds")}

__getattr__ = lazy_exports(__name__, _MODULE_OF | _MODULES)
