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
    from thalweg.models.waiting_rows import Ticket as Ticket

# Only rows with names need tables, and only files the classes of all learners: such
# modules are used as ``models.columns``, so that whoever has arrays loads neither.
__getattr__, __all__ = lazy_exports(__name__)
