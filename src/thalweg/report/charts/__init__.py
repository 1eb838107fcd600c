"""All charts of a study, in the order in which a page shows them."""

import numpy as np

from thalweg.evaluation.digest import Curve
from thalweg.evaluation.study import Study
from thalweg.report.charts import errors, frontier, inside, regret, stream
from thalweg.report.charts.lines import VEGA_LITE as VEGA_LITE
from thalweg.report.charts.lines import Figure as Figure

__all__ = ["VEGA_LITE", "Figure", "figures"]


def figures(study: Study) -> list[Figure]:
    """Every chart that the study has numbers for."""
    found = [stream.stream(study)] if _known(study.observed) else []
    if (last := study.recent) is not None and np.isfinite(last.observed).any():
        found.append(stream.recent(study, last))
    found += [errors.cumulative(study), errors.relative(study)]
    if (within := study.inside) is not None:
        if _known(within.memory):
            found.append(inside.memory(within))
        if any(map(_known, within.weights.values())):
            found.append(inside.weights(within))
        if any(map(_known, within.coefficients.values())):
            found.append(inside.coefficients(within, len(study.features)))
    if study.hindsight is not None:
        found.append(frontier.frontier(study, study.hindsight))
    if study.regrets:
        found.append(regret.regret(study.regrets))
    # One level alone is a sentence of the summary, and no chart.
    if within is not None and len(within.coverage) > 1:
        found.append(inside.calibration(within))
    return found


def _known(curve: Curve) -> bool:
    return bool(np.isfinite(curve.mean).any())
