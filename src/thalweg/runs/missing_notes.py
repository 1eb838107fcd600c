"""Sentences that say how many values were missing in a run, and how many rows."""

from collections.abc import Iterable
from typing import Any

from thalweg.preprocessing.imputer import POLICY_RULES
from thalweg.tables import EncoderState, Recipe


def missing_notes(
    recipe: Recipe, states: Iterable[EncoderState], runs: Iterable[Any]
) -> list[str]:
    """Sentences on the rows so far, of one series or of several together.

    ``runs`` are those of one target: features are the same for all.
    """
    notes, states = [], list(states)
    rows = sum(state.rows for state in states)
    for k, target in enumerate(recipe.targets):
        gaps = rows - int(sum(state.known_targets[k] for state in states))
        if gaps:
            are = "is missing: it is" if gaps == 1 else "are missing: they are"
            notes.append(
                f"{gaps:,} of {rows:,} values of {target!r} {are} predicted and "
                f"not learnt."
            )
    imputers = [run.imputer for run in runs]
    filled = sum(imputer.state.imputed for imputer in imputers)
    if filled:
        rule = POLICY_RULES[recipe.missing]
        learning = "learnt as well" if rule.learns else "not learnt"
        notes.append(
            f"{filled:,} missing {'value' if filled == 1 else 'values'} of features "
            f"were filled with {rule.fill_name}; rows with one are {learning}."
        )
    absent = sum(state.clock.absent_rows() for state in states)
    if absent:
        times = "1 time has" if absent == 1 else f"{absent:,} times have"
        notes.append(
            f"{times} no row, of those that the other rows show to be evenly spaced."
        )
    return notes
