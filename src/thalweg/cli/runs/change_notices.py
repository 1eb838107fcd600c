"""Changes of the target, told in the row in which they are noticed."""

from thalweg.cli.console import print_sentence, stderr_console
from thalweg.cli.runs.observed_rows import given_columns
from thalweg.cli.runs.session import Session
from thalweg.evaluation.study import ChangeAlarm


class ChangeNotices:
    """Tells the changes that a session notices from now on, on standard error.

    ``name`` is that of a series among several, whose rows are numbered alone. If
    ``is_new``, the rows that the session has seen came just now.
    """

    def __init__(self, session: Session, name: str = "", is_new: bool = False) -> None:
        self.session = session
        self.name = name
        self._told = [] if is_new else [one.total for one in session.changes]

    def print(self) -> None:
        """Print a sentence on each change since the last call."""
        session = self.session
        told = self._told or [0] * len(session.changes)
        self._told = [detector.total for detector in session.changes]
        names = given_columns(session.encoder.state.schema)
        for k, detector in enumerate(session.changes):
            count = detector.total - told[k]
            target = f"{session.recipe.targets[k]}: " if len(told) > 1 else ""
            target = f"{self.name}: {target}" if self.name else target
            for alarm in detector.alarms(names)[-count:] if count else ():
                print_sentence(stderr_console(), target + _notice(alarm))


def _notice(alarm: ChangeAlarm) -> str:
    """Such as "row 1,806 (2026-03-08T06:25:00): since row 1,801 level fell by 90 %"."""
    when = f" ({alarm.time})" if alarm.time is not None else ""
    return f"row {alarm.row:,}{when}: since row {alarm.onset:,}, {alarm.text}"
