"""The theorems of Yuan & Lamperski (2020) as experiments."""

from thalweg.lab.paper.reproduce import Reproduction as Reproduction
from thalweg.lab.paper.reproduce import TheoremResult as TheoremResult
from thalweg.lab.paper.reproduce import count_steps as count_steps
from thalweg.lab.paper.reproduce import reproduce as reproduce

__all__ = ["Reproduction", "TheoremResult", "count_steps", "reproduce"]
