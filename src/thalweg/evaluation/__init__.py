"""Experiments: learners run, measured and compared."""

from thalweg.evaluation.growth import Growth as Growth
from thalweg.evaluation.growth import growth as growth
from thalweg.evaluation.reproduce import Reproduction as Reproduction
from thalweg.evaluation.reproduce import reproduce as reproduce
from thalweg.evaluation.reproduce import steps as steps

__all__ = ["Growth", "Reproduction", "growth", "reproduce", "steps"]
