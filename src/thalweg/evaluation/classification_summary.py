"""The results of a classification in plain sentences."""

from thalweg.evaluation.classification_study import ClassificationStudy

SMALL_DIFFERENCE = 0.01
"""Differences of log loss smaller than this part of it are not worth a verdict."""


def classification_summary(study: ClassificationStudy) -> list[str]:
    """A few sentences, the most important first. The best baseline is always named."""
    if not study.scored_rounds:
        return ["No row was scored, so that nothing can be said."]
    sentences = [
        _loss_sentence(study), _accuracy_sentence(study), _calibration_sentence(study)
    ]  # fmt: skip
    return [sentence for sentence in sentences if sentence]


def _loss_sentence(study: ClassificationStudy) -> str:
    ratio, base = study.ratio(study.tracker), study.best_baseline.name
    if ratio == float("inf"):
        return f"The log loss of {base!r} is 0, and cannot be beaten."
    text = f"The Tracker's log loss is {ratio:.2f} of that of {base!r}, the best "
    text += f"of the {len(study.entries) - 1} usual guesses"
    if ratio > 1 + SMALL_DIFFERENCE:
        return f"{text}: here the guess is better."
    if ratio > 1 - SMALL_DIFFERENCE:
        return f"{text}: the features say next to nothing of the class."
    return f"{text}."


def _accuracy_sentence(study: ClassificationStudy) -> str:
    own = study.tracker.accuracy
    others = [entry for entry in study.entries if entry.role == "baseline"]
    best = max(others, key=lambda entry: entry.accuracy)
    return (
        f"It names the right class in {_percent(own)} of the rows, the best guess in "
        f"{_percent(best.accuracy)} ({best.name})."
    )


def _calibration_sentence(study: ClassificationStudy) -> str:
    reliability = study.reliability
    return (
        f"Its probabilities of {reliability.of} differ from how often it came by "
        f"{100 * reliability.error:.1f} percentage points on average."
    )


def _percent(part: float) -> str:
    return f"{100 * part:.1f} %"
