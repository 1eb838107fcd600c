"""The results of a run: sections for the terminal, the page and JSON, and the files."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from thalweg.evaluation.classification_study import ClassificationStudy
from thalweg.evaluation.keyed_scores import (
    KeyedClassScores,
    KeyedScores,
    pool_class_scores,
    pool_scores,
)
from thalweg.report.classification_section import section_of
from thalweg.report.keyed_class_section import keyed_class_section
from thalweg.report.keyed_sections import keyed_section
from thalweg.report.terminal import print_section
from thalweg.runs import study_files
from thalweg.runs.forecast_command import interesting_keys
from thalweg.runs.keyed_session import KeyedSession
from thalweg.runs.settings import OutputOptions
from thalweg.tables.row_keys import key_text


class RunResults:
    """What came of a run, of one series or of many; false where no row was scored.

    Many series have scores over all of them, and a section each on the page where they
    are the best, the worst or in the middle. ``notes`` are shown on the page.
    """

    def __init__(self, session: KeyedSession, name: str, notes: Sequence[str]) -> None:
        self._session, self._name = session, name
        self._studies = []  # of a single series
        self._scores = keyed_scores(session) if session.keys else []
        if not session.keys and session.scored_rounds():
            self._studies = session.studies(name, notes)
        self._sections = [
            *(section_of(study) for study in self._studies),
            *(
                keyed_class_section(one, session.keys, name, notes)
                if isinstance(one, KeyedClassScores)
                else keyed_section(one, session.keys, name, notes)
                for one in self._scores
            ),
        ]

    def __bool__(self) -> bool:
        return bool(self._sections)

    def show(self, console: Console) -> None:
        """Print the tables, and what they say in sentences."""
        for section in self._sections:
            print_section(console, section)

    def as_json(self) -> list[Any]:
        """The numbers of each target."""
        return [section.numbers for section in self._sections]

    def save(self, folder: Path) -> list[Path]:
        """Write the studies of a single series, which can be shown again.

        Those of many are in their models.
        """
        if not self._studies:
            return []
        return [study_files.save_studies(self._studies, folder)]

    def draw(
        self, folder: Path, outputs: OutputOptions, later: Sequence[Any]
    ) -> list[Path]:
        """Write the page and the figures that are wanted; returns their paths.

        ``later`` are sections of a forecast that the page ends with.
        """
        if not self._scores:
            return study_files.draw_studies(self._studies, folder, outputs, later)
        own = [
            section_of(study)
            for key in interesting_keys([score.key for score in self._scores[0].keys])
            for study in self._session.sessions[key].studies(key_text(key))
        ]
        content, title = [*self._sections, *own, *later], f"{self._name}, by key"
        return study_files.write_page(content, own, folder, outputs, title)


def keyed_scores(session: KeyedSession) -> list[KeyedScores | KeyedClassScores]:
    """The scores of each target over all keys; none where nothing was scored."""
    scored = {
        key: one.studies(key_text(key))
        for key, one in session.sessions.items()
        if one.scored_rounds()
    }
    unscored = len(session.sessions) - len(scored)
    results: list[KeyedScores | KeyedClassScores] = []
    for k, target in enumerate(session.recipe.targets if scored else ()):
        numbers, classes = {}, {}
        for key, studies in scored.items():
            study = studies[k]
            if isinstance(study, ClassificationStudy):
                classes[key] = study
            else:
                numbers[key] = study
        if classes:
            results.append(pool_class_scores(target, classes, unscored))
        else:
            results.append(pool_scores(target, numbers, unscored))
    return results
