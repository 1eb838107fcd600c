"""Whatever becomes of labels, a model is what a slow and obvious rule says it is.

Random histories: labels late by any number of rows, in any order, lost, told twice,
for keys that nobody asked for; updates in between; models saved and loaded, pickled or
cloned at any moment.
"""

import pickle
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import thalweg as tw
from thalweg.errors import StreamError

RNG = np.random.default_rng(9)
X = RNG.normal(size=(64, 2))
Y = X @ [1.0, -0.5] + RNG.normal(size=64).cumsum() / 4
MAX_WAITING = 4


class ArrivalOrder:
    """A label is learnt when it comes, as an update."""

    def __init__(self, learner):
        self.model, self.waiting, self.waited = tw.Online(learner), {}, 0.0

    def predict(self, x):
        return self.model.predict(x)

    def ask(self, key, x, y):
        if len(self.waiting) == MAX_WAITING:
            self.give_up(next(iter(self.waiting)))
        self.waiting[key] = (x, y)

    def tell(self, key):
        x, y = self.waiting.pop(key)
        self.model.update(x, y, 1.0, 1.0 + self.waited)
        self.waited = 0.0

    def lose(self, key):
        x, _ = self.waiting.pop(key)
        if not self.model.learner.advances_on_zero_weight:
            self.waited += 1.0
        elif self.model.rounds:
            self.model.update(x, 0.0, 0.0)

    def give_up(self, key):
        del self.waiting[key]

    def update(self, x, y):
        self.model.update(x, y)

    def can_update(self):
        return True


class RowOrder:
    """A label is learnt in its turn, ``delay`` rows after its own: a run's rule.

    Predictions are those of a new model that runs all rows played so far, in which
    labels that are not known by then are of no consequence.
    """

    def __init__(self, learner):
        self.learner, self.waiting = learner, {}
        self.rows, self.labels, self.played = [], [], 0  # None: waits; NaN: lost

    def predict(self, x):
        if not self.played:
            return 0.0
        model = tw.Online(self.learner, missing="skip")
        labels = [0.0 if y is None else y for y in self.labels[: self.played]]
        model.run(np.array(self.rows[: self.played]), np.array(labels))
        return model.predict(x)

    def ask(self, key, x, y):
        if len(self.waiting) == MAX_WAITING + self.learner.delay:
            self.give_up(next(iter(self.waiting)))
        self.waiting[key] = (len(self.rows), y)
        self.rows.append(x)
        self.labels.append(None)
        self.play()

    def tell(self, key):
        row, self.labels[row] = self.waiting.pop(key)
        self.play()

    def give_up(self, key):
        row, _ = self.waiting.pop(key)
        self.labels[row] = np.nan

    def lose(self, key):
        self.give_up(key)
        self.play()

    def play(self):
        delay = self.learner.delay
        while self.played < len(self.rows):
            due = self.played - delay
            if due >= 0 and self.labels[due] is None:
                later = self.labels[due + 1 : len(self.rows) - delay]
                if not any(y is not None and y == y for y in later):
                    return
                self.give_up(next(key for key in self.waiting if self.row(key) == due))
            self.played += 1

    def row(self, key):
        return self.waiting[key][0]

    def update(self, x, y):
        if all(label != label for label in self.labels):  # nothing is known yet
            self.rows, self.labels, self.played = [], [], 0
        self.rows.append(x)
        self.labels.append(y)
        self.play()

    def can_update(self):
        return not self.waiting


def restart(model, how):
    if how == 0:
        return model.clone()
    if how == 1:
        return pickle.loads(pickle.dumps(model))
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "m.thalweg")
        return tw.Online.load(Path(folder) / "m.thalweg")


KINDS = ["ask", "ask", "ask", "tell", "tell", "oldest", "lose", "wrong", "update",
         "restart"]  # fmt: skip
EVENTS = st.lists(
    st.tuples(st.sampled_from(KINDS), st.integers(0, 63)), min_size=20, max_size=60
)
LEARNERS = {
    "least squares": (tw.RecursiveLeastSquares(0.9), ArrivalOrder),
    "window": (tw.SlidingWindow(5, ridge=0.1), ArrivalOrder),
    "tracker": (tw.Tracker(), ArrivalOrder),
    "delay 1": (tw.Tracker(delay=1), RowOrder),
    "delay 3": (tw.Tracker(delay=3, curvature=False), RowOrder),
}


@pytest.mark.parametrize("name", LEARNERS)
@given(events=EVENTS)
@settings(max_examples=40, deadline=None)
def test_every_history_of_labels_is_that_of_the_rule(name, events):
    learner, rule = LEARNERS[name]
    model, oracle = tw.Online(learner, max_waiting=MAX_WAITING), rule(learner)
    asked, answered = 0, 0
    for kind, number in events:
        x, y = X[number], float(Y[number])
        waiting = list(oracle.waiting)
        if kind == "ask":
            ticket = model.ask(x)
            assert ticket == (oracle.predict(x), None, asked)
            assert np.isfinite(ticket.prediction)
            oracle.ask(asked, x, y)
            asked += 1
        elif kind == "restart":
            model = restart(model, number % 3)
        elif kind == "update" and oracle.can_update():
            model.update(x, y)
            oracle.update(x, y)
        elif kind == "update":
            with pytest.raises(StreamError, match="while rows wait"):
                model.update(x, y)
        elif kind == "wrong":
            key = number if number not in oracle.waiting else 1000
            with pytest.raises(StreamError, match=f"the key {key}"):
                model.tell(y, key)
        elif waiting:
            key = waiting[0] if kind == "oldest" else waiting[number % len(waiting)]
            label = label_of(oracle, key)
            if kind == "lose":
                model.tell(None, key)
                oracle.lose(key)
            else:
                model.tell(label, None if kind == "oldest" else key)
                oracle.tell(key)
                answered += 1
        assert model.waiting == tuple(oracle.waiting)
    assert model.predict(X[0]) == oracle.predict(X[0])
    counts = model.ticket_counts
    assert (counts.asked, counts.answered) == (asked, answered)
    assert counts.given_up == asked - answered - len(oracle.waiting)


def label_of(oracle, key):
    return oracle.waiting[key][1]
