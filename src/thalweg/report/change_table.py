"""The table of changes of the target, the newest first."""

from thalweg.evaluation.study import ChangeAlarm, Study
from thalweg.report.number_text import format_count
from thalweg.report.section import PageTable

SHOWN_CHANGES = 100
"""The newest so many are in the table."""
MIDNIGHT = "T00:00:00"


def change_table(study: Study) -> PageTable | None:
    """When each change began, in which row it was noticed, and what it was."""
    history = study.history
    if history is None or not history.alarms:
        return None
    shown = history.alarms[-SHOWN_CHANGES:][::-1]
    caption = "The row in which a change began, and the one in which it was noticed."
    if history.alarm_count > len(shown):
        count = format_count(history.alarm_count)
        caption += f" The last {len(shown)} of {count}."
    rows = tuple(
        (_time(one), format_count(one.onset), format_count(one.row), one.text)
        for one in shown
    )
    names = ("time", "row", "noticed", "change")
    if not any(one.onset_time for one in shown):
        plain = tuple(row[1:] for row in rows)
        return PageTable(caption, names[1:], plain, (0, 1), (1,))
    return PageTable(caption, names, rows, (1, 2), (2,))


def _time(alarm: ChangeAlarm) -> str:
    return (alarm.onset_time or "").removesuffix(MIDNIGHT).replace("T", " ")
