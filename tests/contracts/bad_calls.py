"""Calls of learners with states and rounds that are not theirs.

They are made in a process of their own, because a kernel that reads an array of the
wrong shape may end it: ``python -m tests.contracts.bad_calls [LEARNER]`` prints a line
for each that is not refused by name, and one for each learner that it has done.
"""

import pickle
import sys

import numpy as np

from tests.contracts.examples import START, example_block
from tests.contracts.test_every_learner import EXAMPLES
from thalweg import learners
from thalweg.errors import ThalwegError
from thalweg.losses import Round

BAD_FEATURES = {
    "two features": np.ones(2),
    "fifty features": np.ones(50),
    "no features": np.ones(0),
    "a cube": np.ones((2, 3, 4)),
    "text": "abc",
    "NaN": np.array([0.0, np.nan, 0.0]),
    "infinity": np.array([0.0, np.inf, 0.0]),
    "1e200": np.array([0.0, 1e200, 0.0]),
    "complex numbers": np.ones(3, complex),
}
BAD_LABELS = {"NaN": np.nan, "1e200": 1e200, "text": "a", "five": np.ones(5)}
BAD_RATES = {"negative": -1.0, "NaN": np.nan, "infinite": np.inf, "text": "a"}


def bad_rounds(loss):
    """(name, Round) of rounds that are refused by every learner of this loss."""
    x, y, weight, elapsed = next(example_block(loss).rounds())
    good = Round(loss, x, y, weight, elapsed)
    if np.ndim(x) == 1:
        for name, bad in BAD_FEATURES.items():
            yield f"x: {name}", good._replace(x=bad)
        yield "x: none", good._replace(x=None)
    for name, bad in BAD_LABELS.items():
        yield f"y: {name}", good._replace(y=bad)
    for rate in ("weight", "elapsed"):
        for name, bad in BAD_RATES.items():
            yield f"{rate}: {name}", good._replace(**{rate: bad})
    yield "no round", (x, y)


def bad_states(learner, state):
    """(name, state) of states that are not the learner's."""
    yield "none", None
    yield "a tuple", tuple(state)
    for other, _ in EXAMPLES:
        foreign = other.init(START)
        if type(foreign) is not type(state):
            yield f"of {type(other).__name__}", foreign
    small = learner.init(START[:2])
    others = [np.shape(part) for part in state[1:] if not isinstance(part, tuple)]
    is_point = others == [
        np.shape(part) for part in small[1:] if not isinstance(part, tuple)
    ]
    for field, part in state._asdict().items():
        if field == "theta" and is_point and not hasattr(state, "experts"):
            continue  # a θ of any length is a state of such a learner
        if isinstance(part, np.ndarray) and part.ndim:
            yield f"{field} cut", state._replace(**{field: part[:-1]})
            yield f"{field} of another dtype", state._replace(**{field: part > 0})
            if part.shape != getattr(small, field).shape:
                other = getattr(small, field)
                yield f"{field} of two features", state._replace(**{field: other})
        elif isinstance(part, tuple):
            yield f"{field} missing", state._replace(**{field: part[:-1]})
            yield (
                f"{field} of two features",
                state._replace(**{field: getattr(small, field)}),
            )
        yield f"{field} is text", state._replace(**{field: "abc"})


def calls_with_state(learner, loss):
    """(name, call of a state): every public call that takes one."""
    block = example_block(loss)
    x, y, weight, elapsed = next(block.rounds())
    yield "update", lambda s: learner.update(s, Round(loss, x, y, weight, elapsed))
    yield "predict", lambda s: learner.predict(s, x)
    yield "play", lambda s: learner.play(s, x)
    yield "record", lambda s: learner.record(s, learner.records[-1])
    yield "run", lambda s: learner.run(s, loss, block)
    if type(learner).live_buffer is not learners.Learner.live_buffer:
        yield "live_buffer", lambda s: learner.live_buffer(s, loss, 0)
    if isinstance(learner, learners.Tracker):
        yield "interval", lambda s: learner.interval(s, x)
        yield "explain", lambda s: learner.explain(s)
        yield "memory", lambda s: learner.memory(s)
        yield "weights", lambda s: learner.weights(s)


def bad_calls(learner, loss):
    """(name, state, call): what every learner refuses and leaves the state as it is."""
    state, _ = learner.run(learner.init(START), loss, example_block(loss)[:20])
    for _, call in calls_with_state(learner, loss):
        call(state)  # compiles what it needs, in this process
    for name, f in bad_rounds(loss):
        yield f"update, {name}", state, lambda s, f=f: learner.update(s, f)
        if name.startswith("x: ") and name != "x: none":
            yield f"predict, {name}", state, lambda s, x=f.x: learner.predict(s, x)
    for call_name, call in calls_with_state(learner, loss):
        for name, bad in bad_states(learner, state):
            yield f"{call_name}, state: {name}", bad, call


def outcome(state, call):
    """What the call does: ``refused`` is what it should do."""
    before = pickle.dumps(state)
    try:
        call(state)
    except ThalwegError:
        is_unchanged = pickle.dumps(state) == before
        return "refused" if is_unchanged else "has changed the state"
    except BaseException as error:
        return f"{error!r:.100}"
    return "was played"


def main(only=""):
    """Print what learners do not refuse: all, or those whose name begins so."""
    for i, (learner, loss) in enumerate(EXAMPLES):
        name = f"{type(learner).__name__}-{i}"
        if name.startswith(only):
            for call_name, state, call in bad_calls(learner, loss):
                result = outcome(state, call)
                if result != "refused":
                    print(f"{name}: {call_name}: {result}", flush=True)
            print(f"{name} is done", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
