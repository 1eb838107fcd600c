"""The HTML page of a report: one file without network access, light, dark and print."""

import json
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
import vl_convert
from markupsafe import Markup

from thalweg.errors import InvalidParameterError
from thalweg.evaluation.study import Entry, Study
from thalweg.evaluation.summary import summary
from thalweg.report.chart_elements import VEGA_LITE, Figure
from thalweg.report.charts import study_figures
from thalweg.report.theme import CSS_COLOURS, DARK, LIGHT, vega_config

ASSETS = Path(__file__).parent / "assets"
EXPORT_SNIPPET = "window.vegaEmbed = vegaEmbed;"
"""Makes Vega-Embed, which the bundle holds, available to the page's own script."""
ROLE_LABELS = {
    "tracker": "adaptive",
    "fixed": "fixed setting",
    "paper": "from the paper",
    "rival": "rival",
    "peer": "other library",
    "persistence": "last value",
}
FULL_BAR = 2.0
"""The ratio to persistence at which a bar fills its cell."""


def write_page(studies: Sequence[Study], path: Path) -> None:
    """Write the report on these studies to ``path``, one section per study."""
    if not studies:
        raise InvalidParameterError(
            "A page needs at least one study. Got none instead."
        )
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(ASSETS),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    figures = {
        f"stream-{k}": study_figures(study) for k, study in enumerate(studies, 1)
    }
    text = templates.get_template("page.html").render(
        title=studies[0].title if len(studies) == 1 else f"{len(studies)} streams",
        studies=[
            _section(study, anchor, figures[anchor], alone=len(studies) == 1)
            for study, anchor in zip(studies, figures, strict=True)
        ],
        light=LIGHT.css_variables(),
        dark=DARK.css_variables(),
        style=_asset("page.css"),
        script=_asset("page.js"),
        libraries=_libraries(),
        specs=_specs(figures),
        version=version("thalweg"),
    )
    path.write_text(text, encoding="utf-8")


def _section(
    study: Study, anchor: str, figures: Sequence[Figure], alone: bool
) -> dict[str, Any]:
    """All that the template shows of one study."""
    return {
        "anchor": anchor,
        "title": study.title,
        "heading": "Summary" if alone else study.title,
        "rows": f"{study.rounds:,}",
        "ratio": _persistence_ratio(study, study.tracker),
        "winner": study.ranked_entries()[0].name,
        "summary": summary(study),
        "facts": study_facts(study),
        "learners": learner_rows(study),
        "figures": [
            {
                "anchor": f"{anchor}-{figure.name}",
                "title": figure.title,
                "caption": figure.caption,
                "narrow": figure.narrow,
            }
            for figure in figures
        ],
        "words": study.history.explanation if study.history else "",
        "notes": study.notes,
    }


def study_facts(study: Study) -> list[tuple[str, str]]:
    """The facts below the summary, each a name and a text."""
    facts = [
        ("target", study.target),
        ("rows", f"{study.rounds:,}"),
        ("scored", f"{study.scored_rounds:,}, from row {study.first_scored_round:,}"),
        ("features", f"{len(study.features):,}"),
        ("the Tracker took", _duration(study)),
    ]
    if study.start is not None and study.end is not None:
        facts.insert(1, ("time", f"{study.start} to {study.end}"))
    return facts


def learner_rows(study: Study) -> list[dict[str, Any]]:
    """The cells of the table of learners, the least error first."""
    return [
        {
            "name": entry.name,
            "role": entry.role,
            "kind": ROLE_LABELS[entry.role],
            "squared": _number(entry.squared),
            "absolute": _number(entry.absolute),
            "ratio": _persistence_ratio(study, entry),
            "bar": _bar_percent(study, entry),
            "best": rank == 0,
        }
        for rank, entry in enumerate(study.ranked_entries())
    ]


def _persistence_ratio(study: Study, entry: Entry) -> str:
    """The squared error over persistence's, to three digits."""
    value = study.ratio(entry.name, study.persistence.name)
    return f"{value:.3f}" if value < 100 else _number(value)


def _bar_percent(study: Study, entry: Entry) -> int:
    """The length of the bar in per cent of its cell."""
    value = study.ratio(entry.name, study.persistence.name)
    fraction = min(value / FULL_BAR, 1.0) if np.isfinite(value) else 1.0
    return round(100 * fraction)


def _number(value: float) -> str:
    if np.isnan(value):
        return "not a number"
    if np.isinf(value):
        return "∞"
    size = abs(value)
    if size and not 1e-3 <= size < 1e6:
        return f"{value:.3e}"
    return f"{value:,.4g}" if size < 1e4 else f"{value:,.0f}"


def _duration(study: Study) -> str:
    if not study.seconds > 0:
        return "no time"
    took = f"{study.seconds:.1f} s" if study.seconds >= 1 else f"{study.seconds:.2g} s"
    rate = float(f"{study.rounds / study.seconds:.2g}")
    return f"{took}, {rate:,.0f} rows a second"


def _specs(figures: dict[str, list[Figure]]) -> Markup:
    """The charts of all studies, and the configurations for screen and print."""
    charts = {
        f"{anchor}-{figure.name}": _spec(figure)
        for anchor, section in figures.items()
        for figure in section
    }
    screen, paper = vega_config(CSS_COLOURS), vega_config(LIGHT)
    return json_for_script({"charts": charts, "config": screen, "paper": paper})


def _spec(figure: Figure) -> dict[str, Any]:
    spec: dict[str, Any] = figure.chart.to_dict()
    return {name: part for name, part in spec.items() if name != "config"}


def json_for_script(value: Any) -> Markup:
    """JSON that cannot end the script element that holds it, nor open a comment."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c"))


def _asset(name: str) -> Markup:
    return Markup((ASSETS / name).read_text(encoding="utf-8"))


@cache
def _libraries() -> Markup:
    """Vega, Vega-Lite and Vega-Embed, once for all charts of the page."""
    return Markup(vl_convert.javascript_bundle(EXPORT_SNIPPET, vl_version=VEGA_LITE))
