"""The section of a study: what a manager reads, figures, and folded details."""

from dataclasses import replace

from thalweg.evaluation.study import Study
from thalweg.evaluation.summary import summary
from thalweg.evaluation.telling_columns import telling_sentence
from thalweg.report import headline
from thalweg.report.change_table import change_table
from thalweg.report.chart_elements import Figure
from thalweg.report.charts import (
    coefficient_figures,
    expert_figures,
    hindsight_figures,
    learner_figures,
    main_figures,
)
from thalweg.report.headline import BAND, GAIN, TYPICAL_ERROR
from thalweg.report.learner_table import learner_table
from thalweg.report.number_text import format_count
from thalweg.report.row_axis import RowAxis
from thalweg.report.section import FoldedPart, Section, Tile


def study_section(study: Study, forecast: Section | None = None) -> Section:
    """All that a page shows of one study, after the next values where there are any.

    ``forecast`` is the section of the next values of the same target: its headline, its
    first tile, which has a band of its own, and its figures come first, its details
    last. Errors of the study are called those of one row ahead then, as the forecast
    has others.
    """
    own = Section(
        title=study.title,
        headline=headline.headline_sentence(study),
        tiles=headline.tiles(study),
        figures=tuple(main_figures(study)),
        folded=_folded_parts(study),
        facts=study_facts(study),
        caution=telling_sentence(study),
    )
    if forecast is None:
        return own
    details = (
        replace(part, name=f"next-{part.name}", title=f"Next values: {part.title}")
        for part in forecast.folded
    )
    return replace(
        own,
        headline=forecast.headline,
        tiles=(
            *forecast.tiles[:1],
            *(_one_row_ahead(tile) for tile in own.tiles if tile.title != BAND),
        ),
        figures=(*forecast.figures, *own.figures),
        folded=(*own.folded, *details),
    )


def _one_row_ahead(tile: Tile) -> Tile:
    """A tile of errors, with a title that says how far ahead they are of."""
    if tile.title not in (TYPICAL_ERROR, GAIN):
        return tile
    return replace(tile, title=f"{tile.title}, one row ahead")


def study_facts(study: Study) -> tuple[tuple[str, str], ...]:
    """The facts in small print, each a name and a text."""
    scored = format_count(study.scored_rounds)
    first = format_count(study.first_scored_round)
    facts = [
        ("forecast of", study.target),
        ("rows", format_count(study.rounds)),
        ("scored", f"{scored}, from row {first}"),
        ("features", format_count(len(study.features))),
        ("computing time", _duration(study)),
    ]
    axis = RowAxis.from_study(study)
    if axis.has_times:
        facts.insert(1, ("time", f"{axis.label(1)} to {axis.label(study.rounds)}"))
    elif study.start is not None and study.end is not None:
        order = "" if study.times is None else ", not in order: charts go by rows"
        facts.insert(1, ("time", f"{study.start} to {study.end}{order}"))
    return tuple(facts)


def _folded_parts(study: Study) -> tuple[FoldedPart, ...]:
    """What only some readers want; parts without content are left out."""
    history = study.history
    parts = [
        FoldedPart("changes", "Changes that were seen", table=change_table(study)),
        FoldedPart(
            "learners",
            "All methods that were run",
            table=learner_table(study),
            figures=_figures(learner_figures(study)),
        ),
        FoldedPart(
            "coefficients", "Coefficients", figures=_figures(coefficient_figures(study))
        ),
        FoldedPart(
            "experts",
            "Inside the forecaster",
            figures=_figures(expert_figures(study)),
            preformatted=history.explanation if history else "",
        ),
        FoldedPart(
            "hindsight",
            "Hindsight and regret",
            figures=_figures(hindsight_figures(study)),
        ),
        FoldedPart("summary", "The results in sentences", items=tuple(summary(study))),
        FoldedPart("notes", "Notes on method and data", items=study.notes),
    ]
    return tuple(part for part in parts if _has_content(part))


def _figures(figures: list[Figure]) -> tuple[Figure, ...]:
    return tuple(figures)


def _has_content(part: FoldedPart) -> bool:
    return bool(part.table or part.figures or part.preformatted or part.items)


def _duration(study: Study) -> str:
    """The seconds of the forecaster; a whole run takes longer, as the terminal says."""
    if not study.seconds > 0:
        return "no time"
    took = f"{study.seconds:.1f} s" if study.seconds >= 1 else f"{study.seconds:.2g} s"
    return f"{took} for the forecasts alone"
