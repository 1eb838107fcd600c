"""The theorems of Yuan & Lamperski (2020) as experiments."""

from thalweg.lab.paper.reproduce import Reproduction as Reproduction
from thalweg.lab.paper.reproduce import reproduce as reproduce
from thalweg.lab.paper.reproduce import steps as steps

__all__ = ["Reproduction", "reproduce", "steps"]
