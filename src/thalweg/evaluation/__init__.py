"""Evaluation of learners on streams: prequential errors, comparisons, studies.

``prequential`` evaluates one learner (test-then-train), ``compare`` several on the
same rounds. A ``Study`` holds all that the command line and its reports show of a
stream.
"""

from thalweg.evaluation.prequential import ComparisonResult as ComparisonResult
from thalweg.evaluation.prequential import PrequentialResult as PrequentialResult
from thalweg.evaluation.prequential import compare as compare
from thalweg.evaluation.prequential import prequential as prequential
from thalweg.evaluation.study import Study as Study
from thalweg.lazy import exported_names

__all__ = exported_names(__name__)
