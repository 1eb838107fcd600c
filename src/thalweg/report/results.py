"""The section of a study, whatever it is of."""

from thalweg.evaluation.classification_study import AnyStudy, ClassificationStudy
from thalweg.report.classification_section import classification_section
from thalweg.report.section import Section
from thalweg.report.study_sections import study_section


def section_of(study: AnyStudy) -> Section:
    """The section of a study of numbers, or of classes."""
    if isinstance(study, ClassificationStudy):
        return classification_section(study)
    return study_section(study)
