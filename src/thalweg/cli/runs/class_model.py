"""The model file of a run that classifies: ``Online`` or ``Classifier`` loads it."""

import numpy as np

from thalweg.evaluation.classifier_run import ClassifierRun
from thalweg.losses import Logistic
from thalweg.models.classifier_file import FIELD, ClassifierRecord
from thalweg.models.model_file import ModelRecord
from thalweg.persistence import SavedModel
from thalweg.preprocessing.imputer import POLICY_RULES
from thalweg.tables.class_labels import ClassLabels


def class_model(run: ClassifierRun, classes: ClassLabels) -> SavedModel:
    """The models of a target's classes, as ``Online.save`` or ``Classifier.save`` do.

    Of a binary target it is an ``Online`` that gives the probability of 1, of others a
    ``Classifier``. Their rows are arrays of the run's features, without those made of
    past labels or of an unasked calendar; the part of a run that knows these and the
    last class, and the mixture, stay in the run.
    """
    trackers, imputer, n = run.trackers, run.imputer, run.own_features
    state = imputer.state._replace(
        sums=imputer.state.sums[:n].copy(), counts=imputer.state.counts[:n].copy()
    )
    record = ModelRecord(
        intercept=False,
        rounds=run.rounds,
        missing=imputer.policy,
        refusals=0,
        unexcited_rounds=np.zeros(trackers.features),  # not counted here
        imputer=state if POLICY_RULES[imputer.policy].accepts else None,
    )
    loss, extra = Logistic(), record._asdict()
    if classes.is_binary:
        return SavedModel(trackers.learner, loss, trackers.states[0], extra)
    known = [k for k, is_known in enumerate(trackers.is_known) if is_known]
    labels = tuple(classes.labels[k] for k in known)
    states = tuple(trackers.states[k] for k in known)
    extra[FIELD] = ClassifierRecord(labels, states)
    return SavedModel(trackers.learner, loss, trackers.background, extra)
