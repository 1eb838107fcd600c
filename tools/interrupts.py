"""Interrupt calls of models at random bytecodes, and see that they learn afterwards.

    python tools/interrupts.py --count 50000 --seed 0       # the whole campaign
    python tools/interrupts.py --count 2000 --signals       # by a timer's signal
    python tools/interrupts.py --replay rls/update/123      # one interrupt again

A call of a model is played with a ``KeyboardInterrupt`` raised at one bytecode of the
library, drawn at random from all that the call executes (``sys.settrace``). That finds
windows which a signal hits once in a million calls, and some which it cannot hit: the
handlers of signals run between fewer bytecodes. ``--signals`` raises it from such a
handler. Afterwards the model learns one round in another thread and one in this, in
either order, while the interrupt's traceback is still alive, as it is in a shell. Its
state must then be, bit by bit, the one in which the call had learnt or the one in which
it had not.
"""

import argparse
import contextlib
import copy
import pickle
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import thalweg as tw
from thalweg.errors import ThalwegError
from thalweg.keyed import KeyedModels

LIBRARY = str(Path(tw.__file__).parent)
TRACED_FILES = (LIBRARY, contextlib.__file__)
PATIENCE = 4.0
"""Seconds after which a thread that has not learnt is taken for a deadlock."""
N, ROUNDS = 3, 12
RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(ROUNDS + 20, N)), RNG.normal(size=ROUNDS + 20)
GAPS = np.where(RNG.random(X.shape) < 0.2, np.nan, X)
ROW, LABEL = X[ROUNDS], float(Y[ROUNDS])
INCOMPLETE = np.array([1.0, np.nan, 2.0])

Call = Callable[[Any, Path], object]


class Subject(NamedTuple):
    """What is called: how it is made, called, taught and compared."""

    make: Callable[[Path], Any]  # in a folder of its own
    learn: Callable[[Any, int], None]  # the round after the call, 0 or 1
    fingerprint: Callable[[Any], bytes]  # called last: all that it has learnt
    calls: dict[str, Call]


class Failure(NamedTuple):
    """An interrupt that did harm."""

    case: str  # subject/call/bytecode, for --replay
    place: str  # where it was raised
    problem: str


class Interruption:
    """Raises ``KeyboardInterrupt`` at the library's k-th bytecode while it traces."""

    def __init__(self, target: int | None) -> None:
        self.target = target  # None: count only
        self.count = 0
        self.place = "nowhere: the call was over"

    def __enter__(self) -> "Interruption":
        # From Python 3.12 on, frames that are traced later may ask for opcodes only
        # where one has asked before.
        sys._getframe().f_trace_opcodes = True
        sys.settrace(self._trace_call)
        return self

    def __exit__(self, *given: object) -> None:
        sys.settrace(None)

    def _trace_call(self, frame: Any, event: str, arg: object) -> Any:
        if not frame.f_code.co_filename.startswith(TRACED_FILES):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return self._trace_opcode

    def _trace_opcode(self, frame: Any, event: str, arg: object) -> Any:
        if event == "opcode":
            self.count += 1
            if self.count == self.target:
                code = frame.f_code
                name = Path(code.co_filename).name
                self.place = f"{name}:{frame.f_lineno} in {code.co_name}"
                raise KeyboardInterrupt
        return self._trace_opcode


def leaves(tree: Any) -> Iterator[bytes]:
    """The arrays and numbers of a state, however deeply nested, as bytes."""
    if isinstance(tree, dict):
        tree = tuple(tree.items())
    if isinstance(tree, tuple | list):
        for branch in tree:
            yield from leaves(branch)
    elif isinstance(tree, np.ndarray | np.generic):
        yield tree.tobytes()
    else:
        yield repr(tree).encode()


# Online


def _settle(call: Callable[[], object]) -> None:
    """A call that may refuse what it is given."""
    with contextlib.suppress(ThalwegError):
        call()


def _model_fingerprint(model: tw.Online) -> bytes:
    pickled = model.__getstate__()
    return b"|".join(leaves((pickled["_snapshot"], pickled["refusals"])))


def _save_and_load(model: tw.Online, folder: Path) -> None:
    path = folder / "m.thalweg"
    model.save(path)
    tw.Online.load(path)


MODEL_CALLS: dict[str, Call] = {
    "update": lambda model, _: model.update(ROW, LABEL),
    "update-list": lambda model, _: model.update(ROW.tolist(), 1),
    "update-checked": lambda model, _: model.update(ROW, np.array(LABEL), 0.5, 2.0),
    "update-missing": lambda model, _: _settle(lambda: model.update(INCOMPLETE, LABEL)),
    "update-refused": lambda model, _: _settle(lambda: model.update(ROW, np.inf)),
    "predict": lambda model, _: model.predict(ROW),
    "predict-checked": lambda model, _: model.predict(ROW.astype(np.float32)),
    "predict-missing": lambda model, _: _settle(lambda: model.predict(INCOMPLETE)),
    "run": lambda model, _: model.run(X[ROUNDS:], Y[ROUNDS:]),
    "run-missing": lambda model, _: _settle(
        lambda: model.run(GAPS[ROUNDS:], Y[ROUNDS:])
    ),
    "state": lambda model, _: model.state,
    "imputer": lambda model, _: model.imputer,
    "coefficients": lambda model, _: model.coefficients,
    "health": lambda model, _: model.health(),
    "save": lambda model, folder: model.save(folder / "m.thalweg"),
    "load": _save_and_load,
    "clone": lambda model, _: model.clone(),
    "deepcopy": lambda model, _: copy.deepcopy(model),
    "pickle": lambda model, _: pickle.loads(pickle.dumps(model)),
}
TRACKER_CALLS: dict[str, Call] = {
    "interval": lambda model, _: model.predict(ROW, interval=0.9),
    "explain": lambda model, _: model.explain(),
    "memory": lambda model, _: model.memory,
}


def _model(learner: Any, missing: Any = "refuse", rounds: int = ROUNDS) -> Subject:
    """An ``Online`` after so many rounds."""
    trained = tw.Online(learner, missing=missing)
    for t in range(rounds):
        trained.update(X[t], Y[t])
    calls = MODEL_CALLS | (TRACKER_CALLS if isinstance(learner, tw.Tracker) else {})
    return Subject(
        make=lambda _: trained.clone(),
        learn=lambda model, k: model.update(X[k], Y[k]),
        fingerprint=_model_fingerprint,
        calls=calls,
    )


def _late(learner: Any, missing: Any = "refuse", answered: int = 4) -> Subject:
    """An ``Online`` of which six rows were asked for, and the first ones answered."""
    trained = tw.Online(learner, missing=missing, max_waiting=6)
    for t in range(6):
        trained.ask(X[t])
    for t in range(answered):
        trained.tell(Y[t])

    def learn(model: tw.Online, k: int) -> None:
        model.ask(X[10 + k], key=f"after {k}")
        model.tell(Y[10 + k], f"after {k}")

    calls: dict[str, Call] = {
        "ask": lambda model, _: model.ask(ROW),
        "ask-key": lambda model, _: model.ask(ROW.tolist(), "a", 0.9),
        "tell": lambda model, _: model.tell(LABEL),
        "tell-key": lambda model, _: model.tell(np.float32(LABEL), 5, 0.5),
        "tell-never": lambda model, _: model.tell(None),
        "tell-refused": lambda model, _: _settle(lambda: model.tell(np.inf)),
        "waiting": lambda model, _: model.waiting,
        "load": _save_and_load,
        "clone": lambda model, _: model.clone(),
    }
    return Subject(lambda _: trained.clone(), learn, _model_fingerprint, calls)


# Classifier


def _classifier_fingerprint(classifier: tw.Classifier) -> bytes:
    models = classifier.__getstate__()["_models"]
    snapshots = [(k, model.__getstate__()["_snapshot"]) for k, model in models.items()]
    return b"|".join(leaves((classifier.classes, snapshots[0][1:], snapshots[1:])))


def _classifier(learner: Any, missing: Any = "refuse", rounds: int = ROUNDS) -> Subject:
    """A ``Classifier`` of three classes after so many rounds."""
    trained = tw.Classifier(learner, missing=missing)
    for t in range(rounds):
        trained.update(X[t], "abc"[t % 3])

    def save_and_load(model: tw.Classifier, folder: Path) -> None:
        model.save(folder / "c.thalweg")
        tw.Classifier.load(folder / "c.thalweg")

    calls: dict[str, Call] = {
        "update": lambda model, _: model.update(ROW, "b"),
        "update-new": lambda model, _: model.update(ROW, "d", 0.5, 2.0),
        "update-missing": lambda model, _: _settle(
            lambda: model.update(INCOMPLETE, "a")
        ),
        "predict": lambda model, _: model.predict(ROW),
        "classify": lambda model, _: model.classify(ROW),
        "run": lambda model, _: model.run(X[ROUNDS:], ["b", "d"] * 10),
        "load": save_and_load,
        "clone": lambda model, _: model.clone(),
    }
    return Subject(
        make=lambda _: trained.clone(),
        learn=lambda model, k: model.update(X[k], "ad"[k]),
        fingerprint=_classifier_fingerprint,
        calls=calls,
    )


# KeyedModels


TWO_MODELS = 20_000
"""Memory of two models of RLS with three features, and not of three."""
ALL_MODELS = 10**9


def _keyed_fingerprint(models: KeyedModels) -> bytes:
    """What a kill after a flush leaves: states, and rows in the log."""
    models.flush()
    models._release()
    with KeyedModels(models.path, models.learner, memory=TWO_MODELS) as again:
        kept = {
            key: again._cache.settings.encode(again._cache.find(key))
            for key in again.keys()
        }
        return b"|".join(leaves((again.offset, kept)))


def _keyed(folder: Path, memory: int) -> Subject:
    """A ``KeyedModels`` with three keys; one of them has a row in the log."""
    learner, source = tw.RecursiveLeastSquares(0.9), folder / f"keyed-{memory}.db"
    with KeyedModels(source, learner, memory=memory) as models:
        for seq in range(9):
            models.observe("abc"[seq % 3], X[seq], Y[seq], seq)

    def make(own: Path) -> KeyedModels:
        copied = own / "keyed.db"
        for stale in own.glob("keyed.db*"):
            stale.unlink()
        shutil.copy(source, copied)
        opened = KeyedModels(copied, learner, memory=memory)
        opened.observe("a", X[0], Y[0], 8)
        opened.flush()
        opened.observe("a", X[1], Y[1], 9)
        opened.flush()
        opened.observe("a", X[0], Y[0], 10)
        return opened

    calls: dict[str, Call] = {
        "observe": lambda models, _: models.observe("a", ROW, LABEL, 11),
        "observe-read": lambda models, _: models.observe("b", ROW, LABEL, 11),
        "observe-new": lambda models, _: models.observe("d", ROW, LABEL, 11),
        "observe-again": lambda models, _: models.observe("a", ROW, LABEL, 10),
        "observe-list": lambda models, _: models.observe("a", ROW.tolist(), LABEL, 11),
        "observe-unlabelled": lambda models, _: models.observe("a", ROW, None, 11),
        "observe-many": lambda models, _: models.observe_many(
            ["a"], ROW[None], [LABEL], [11]
        ),
        "observe-rows": lambda models, _: models.observe_many(
            ["a", "a"], X[-2:], Y[-2:], [11, 12]
        ),
        "flush": lambda models, _: models.flush(),
        "flush-last": lambda models, _: models._flush(is_last=True),
        "predict": lambda models, _: models.predict("c", ROW),
        "keys": lambda models, _: models.keys(),
        "model": lambda models, _: models["a"],
    }
    return Subject(
        make,
        lambda models, k: models.observe("abc"[k], X[k], Y[k], 20 + k),
        _keyed_fingerprint,
        calls,
    )


def subjects(folder: Path) -> dict[str, Subject]:
    """All that is interrupted, by name."""
    rls, window = tw.RecursiveLeastSquares(0.9), tw.SlidingWindow(6)
    return {
        "rls": _model(rls),
        "rls-new": _model(rls, rounds=0),
        "rls-impute": _model(rls, "impute"),
        "rls-skip-new": _model(rls, "skip", 0),
        "tracker": _model(tw.Tracker()),
        "tracker-new": _model(tw.Tracker(), rounds=0),
        "tracker-impute": _model(tw.Tracker(delay=2), "impute"),
        "window": _model(window),  # without a live buffer
        "window-skip": _model(window, "skip"),
        "experts": _model(tw.Experts()),
        "late": _late(rls),
        "late-new": _late(rls, answered=0),
        "late-window": _late(window),
        "late-tracker": _late(tw.Tracker()),
        "late-delay": _late(tw.Tracker(delay=2)),
        "late-delay-skip": _late(tw.Tracker(delay=3), "skip"),
        "classifier": _classifier(tw.LogisticTracker()),
        "classifier-new": _classifier(tw.LogisticTracker(), rounds=0),
        "classifier-impute": _classifier(tw.LogisticTracker(), "impute"),
        "classifier-gradient": _classifier(tw.DiscountedGradient()),  # copies learn
        "keyed": _keyed(folder, TWO_MODELS),
        "keyed-log": _keyed(folder, ALL_MODELS),
    }


class Campaign:
    """Plays interrupts, and compares what they leave with what they may leave."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.subjects = subjects(folder)
        self.raised = 0  # interrupts that came while a call was going on
        self._expected: dict[tuple[str, str], set[bytes]] = {}
        self._lengths: dict[tuple[str, str], int] = {}

    def cases(self) -> list[tuple[str, str]]:
        """Every (subject, call)."""
        return [
            (s, call) for s, subject in self.subjects.items() for call in subject.calls
        ]

    def bytecodes(self, name: str, call: str) -> int:
        """How many bytecodes of the library the call executes."""
        if (name, call) not in self._lengths:
            subject = self.subjects[name]
            made = subject.make(self._folder())
            with Interruption(None) as counted:
                subject.calls[call](made, self.folder)
            subject.fingerprint(made)
            self._lengths[name, call] = counted.count
        return self._lengths[name, call]

    def expected(self, name: str, call: str) -> set[bytes]:
        """What may be left: with the call and without it, after two more rounds."""
        if (name, call) not in self._expected:
            subject, possible = self.subjects[name], set()
            for is_called in (False, True):
                for order in ((0, 1), (1, 0)):
                    made = subject.make(self._folder())
                    if is_called:
                        subject.calls[call](made, self.folder)
                    for k in order:
                        subject.learn(made, k)
                    possible.add(subject.fingerprint(made))
            self._expected[name, call] = possible
        return self._expected[name, call]

    def play(self, name: str, call: str, target: int) -> Failure | None:
        """Interrupt the call at this bytecode, and see what is left."""
        subject = self.subjects[name]
        possible = self.expected(name, call)
        made = subject.make(self._folder())
        traceback_of_shell, interruption = None, Interruption(target)
        try:
            with interruption:
                subject.calls[call](made, self.folder)
        except KeyboardInterrupt as error:
            traceback_of_shell = error
            self.raised += 1
        problem = self._problem(subject, made, target % 2 == 0, possible)
        del traceback_of_shell
        if problem is None:
            return None
        return Failure(f"{name}/{call}/{target}", interruption.place, problem)

    def play_signal(self, name: str, call: str, delay: float) -> Failure | None:
        """Interrupt the call by a signal, so many seconds after it began."""
        subject = self.subjects[name]
        possible = self.expected(name, call)
        made = subject.make(self._folder())
        traceback_of_shell = None
        try:
            signal.setitimer(signal.ITIMER_REAL, delay)
            subject.calls[call](made, self.folder)
            signal.setitimer(signal.ITIMER_REAL, 0)
        except KeyboardInterrupt as error:
            signal.setitimer(signal.ITIMER_REAL, 0)
            traceback_of_shell = error
            self.raised += 1
        problem = self._problem(subject, made, delay * 1e9 % 2 < 1, possible)
        del traceback_of_shell
        if problem is None:
            return None
        return Failure(
            f"{name}/{call}", f"{delay * 1e6:.1f} µs after its start", problem
        )

    def _problem(
        self, subject: Subject, made: Any, first_elsewhere: bool, possible: set[bytes]
    ) -> str | None:
        """What is wrong with the model now; None where it learns as it should."""
        errors: list[BaseException] = []

        def learn(k: int) -> None:
            try:
                subject.learn(made, k)
            except Exception as error:
                errors.append(error)

        def learn_elsewhere(k: int) -> bool:
            thread = threading.Thread(target=learn, args=(k,), daemon=True)
            thread.start()
            thread.join(PATIENCE)
            return not thread.is_alive()

        if not first_elsewhere:
            learn(0)
        if not learn_elsewhere(1):
            return "another thread waits for ever"
        if first_elsewhere:
            learn(0)
        if errors:
            return f"it does not learn: {errors[0]!r:.200}"
        try:
            is_possible = subject.fingerprint(made) in possible
        except Exception as error:
            return f"it cannot be read: {error!r:.200}"
        return None if is_possible else "a round is learnt by half"

    def _folder(self) -> Path:
        own = self.folder / "own"
        own.mkdir(exist_ok=True)
        return own


def random_interrupts(
    count: int, seed: int, signals: bool = False, only: str = "", most: int = 50
) -> list[Failure]:
    """The first failures, ``most`` at most, of interrupts drawn at random.

    ``count`` are raised: one that comes when its call is over is not counted.
    """
    generator, failures = random.Random(seed), list[Failure]()
    with tempfile.TemporaryDirectory() as folder:
        campaign = Campaign(Path(folder))
        cases = [case for case in campaign.cases() if case[0].startswith(only)]
        while campaign.raised < count:
            case = generator.choice(cases)
            if signals:
                # An untraced call takes some 40 ns a bytecode, at most.
                longest = max(campaign.bytecodes(*case), 100) * 4e-8
                delay = max(generator.uniform(0, longest), 1e-6)
                failure = campaign.play_signal(*case, delay)
            else:
                target = generator.randint(1, campaign.bytecodes(*case))
                failure = campaign.play(*case, target)
            if failure is not None:
                failures.append(failure)
                if len(failures) == most:
                    break
    return failures


def replay(case: str) -> Failure | None:
    """One interrupt again: ``subject/call/bytecode``."""
    name, call, target = case.split("/")
    with tempfile.TemporaryDirectory() as folder:
        return Campaign(Path(folder)).play(name, call, int(target))


def raise_interrupt(number: int, frame: Any) -> None:
    """The handler of a timer's signal: as Ctrl-C, but only inside a call."""
    while frame is not None:
        if frame.f_code.co_filename.startswith(LIBRARY):
            raise KeyboardInterrupt
        frame = frame.f_back


def main() -> int:
    """Play the interrupts that the command line asks for; 1 where one did harm."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=50_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="subjects whose name begins so")
    parser.add_argument("--signals", action="store_true")
    parser.add_argument("--replay", metavar="CASE")
    given = parser.parse_args()
    start = time.monotonic()
    if given.replay:
        failure = replay(given.replay)
        failures, count = [failure] if failure else [], 1
    else:
        signal.signal(signal.SIGALRM, raise_interrupt)
        count = given.count
        failures = random_interrupts(count, given.seed, given.signals, given.only)
    for failure in failures:
        print(f"{failure.case}: {failure.problem} ({failure.place})")
    spent = time.monotonic() - start
    print(
        f"seed {given.seed}: {len(failures)} of {count} interrupts did harm, "
        f"{spent:.0f} s"
    )
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
