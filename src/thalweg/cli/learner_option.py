"""The learner that an option names, with its settings as Python writes them."""

import ast
from importlib import import_module
from typing import TYPE_CHECKING, Any

from thalweg.errors import InvalidParameterError

if TYPE_CHECKING:
    from thalweg.learners import Learner


def parse_learner(text: str) -> "Learner[Any]":
    """The learner in ``Tracker`` or ``RecursiveLeastSquares(discount=0.99)``.

    What a learner's repr gives is taken. Settings are numbers, texts, None, True and
    False; nothing in ``text`` is executed.
    """
    # The help of a command needs no learners.
    learners = import_module("thalweg.learners")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        call = tree if isinstance(tree, ast.Call) else None
        name = call.func if call else tree
        if not isinstance(name, ast.Name) or (call and call.args):
            raise ValueError
        settings = {
            str(word.arg): ast.literal_eval(word.value)
            for word in (call.keywords if call else ())
        }
        kind = getattr(learners, name.id) if name.id in learners.__all__ else None
        if not isinstance(kind, type) or not issubclass(kind, learners.Learner):
            raise ValueError
        learner: Learner[Any] = kind(**settings)
        return learner
    except (SyntaxError, ValueError, TypeError) as error:
        if isinstance(error, InvalidParameterError):
            raise
        reason = f" ({error})" if isinstance(error, TypeError) else ""
        raise InvalidParameterError(
            "--learner takes the name of a learner, with its settings or without, such "
            f"as Tracker or 'RecursiveLeastSquares(discount=0.99)'. Got {text!r} "
            f"instead{reason}."
        ) from None
