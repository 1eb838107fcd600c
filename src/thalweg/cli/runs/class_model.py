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
    ``Classifier``. Their rows are arrays: the features of the run, and then those that
    say which class was the last known (``ClassifierRun.past_feature_names``).
    """
    trackers, imputer = run.trackers, run.imputer
    more = np.zeros(run.past_features)  # these are never missing
    state = imputer.state._replace(
        sums=np.append(imputer.state.sums, more),
        counts=np.append(imputer.state.counts, more),
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
