"""Changes of the target, told in the row in which they are noticed."""

from thalweg.changes.alarms import ChangeAlarm
from thalweg.report.console import print_sentence, stderr_console
from thalweg.runs.keyed_session import KeyedSession
from thalweg.runs.observed_rows import given_columns
from thalweg.tables.row_keys import key_text


class ChangeNotices:
    """Tells the changes that a run notices from now on, on standard error.

    Rows are numbered as those of their series.
    """

    def __init__(self, session: KeyedSession) -> None:
        self._session = session
        self._counts = {
            key: [detector.total for detector in one.changes]
            for key, one in session.sessions.items()
        }

    def print(self) -> None:
        """Print a sentence on each change that the last rows have shown."""
        for key in self._session.played:
            session = self._session.sessions[key]
            before = self._counts.get(key) or [0] * len(session.changes)
            self._counts[key] = [detector.total for detector in session.changes]
            names = given_columns(session.encoder.state.schema)
            several = session.recipe.targets if len(before) > 1 else ()
            for k, detector in enumerate(session.changes):
                count = detector.total - before[k]
                prefix = "".join(
                    f"{name}: " for name in (key_text(key), *several[k : k + 1]) if name
                )
                for alarm in detector.alarms(names)[-count:] if count else ():
                    print_sentence(stderr_console(), prefix + _notice(alarm))


def _notice(alarm: ChangeAlarm) -> str:
    """Such as "row 1,806 (2026-03-08T06:25:00): since row 1,801 level fell by 90 %"."""
    when = f" ({alarm.time})" if alarm.time is not None else ""
    return f"row {alarm.row:,}{when}: since row {alarm.onset:,}, {alarm.text}"
