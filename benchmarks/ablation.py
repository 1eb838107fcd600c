"""``python -m benchmarks.ablation``: what each part of the Tracker is worth.

Every part is left out in turn, by a setting, a mask or a constant of its kernel: the
source stays as it is, and the kernel is compiled again for each. Squared errors on the
streams of benchmarks/accuracy are compared with those of the whole Tracker. What is
worth less than 0.3 % everywhere, and is needed by no promise of docs/guarantees.md, has
no place in the Tracker; what the others are worth is in docs/decisions/tracker.md.
"""

import multiprocessing
from collections.abc import Iterator, Mapping
from importlib import import_module
from math import inf
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from numba.core.caching import NullCache

from benchmarks.accuracy.accuracy_streams import (
    AccuracyStream,
    public_streams,
    shocked_streams,
    stripped_streams,
    synthetic_streams,
)
from benchmarks.accuracy.tracker_accuracy import (
    geometric_mean,
    mean_square,
    pair_errors,
)
from benchmarks.commands import make_app
from benchmarks.public_streams import MissingDataError
from thalweg.kernels.tracker import entry
from thalweg.kernels.tracker import tracker_layout as layout
from thalweg.learners import Tracker
from thalweg.learners.tracker import explanation
from thalweg.losses import SquaredError
from thalweg.types import Block

HUGE = 1e300
"""A limit that nothing reaches, and whose product with 0 is 0."""
NEVER = 1 << 60
"""A round, or a number of experts, that is never reached."""
KERNELS = "thalweg.kernels.tracker."
MIN_WORTH = 0.003
"""The least worth of a part, anywhere, for it to stay."""
SYNTHETIC_SEEDS = 2


class Ablation(NamedTuple):
    """A part of the Tracker, and how it is left out."""

    constants: Mapping[str, Any] = {}  # by "module.NAME" below kernels/tracker
    experts: tuple[int, ...] = ()
    settings: Mapping[str, Any] = {}
    context_labels: int = layout.CONTEXT_LABELS
    is_active_at_once: bool = False


Errors = Mapping[tuple[str, str], float]
"""The mean squared error by set and stream."""


def without_rule(*rules: int) -> Ablation:
    """Without base rules, or without the committee, for the meta-rule."""
    masks = {}
    for name in ("RULE_MASK", "BASE_RULE_MASK"):
        mask = getattr(layout, name).copy()
        mask[list(rules)] = 0.0
        masks[f"tracker_layout.{name}"] = mask
    return Ablation(masks)


def without_candidate(candidate: int) -> Ablation:
    """Without one of the corrections of the committee."""
    mask = layout.CANDIDATE_MASK.copy()
    mask[candidate] = 0.0
    return Ablation({"tracker_layout.CANDIDATE_MASK": mask})


def without_constant(**constants: Any) -> Ablation:
    """With other constants, of ``module__NAME`` each."""
    return Ablation({key.replace("__", "."): new for key, new in constants.items()})


def _family_ablations() -> Iterator[tuple[str, Ablation]]:
    for i, family in enumerate(explanation.EXPERT_FAMILIES):
        experts = np.flatnonzero(explanation.FAMILY_OF_EXPERT == i)
        yield f"experts: {family.name}", Ablation(experts=tuple(experts.tolist()))


def _memory_ablations() -> Iterator[tuple[str, Ablation]]:
    memories = explanation.MEMORY_OF_EXPERT[: layout.LAST_VALUE]
    for memory in layout.MEMORIES:
        experts = np.flatnonzero(memories == memory)
        yield f"memory {memory:g}", Ablation(experts=tuple(experts.tolist()))


ABLATIONS: Mapping[str, Ablation] = {
    **dict(_family_ablations()),
    **dict(_memory_ablations()),
    "experts wait for half their memory": Ablation(is_active_at_once=True),
    "rule: AdaShare": without_rule(0),
    "rule: quick AdaShare": without_rule(1),
    "rule: BOA": without_rule(2),
    "rule: ML-Poly": without_rule(3),
    "rule: slow softmax": without_rule(4),
    "rule: fast softmax": without_rule(5),
    "rule: Cauchy weights": without_rule(6),
    "committee": without_rule(layout.COMMITTEE),
    "meta-rule": Ablation(
        {"tracker_layout.RULE_MASK": np.arange(layout.PADDED_RULES) == layout.COMMITTEE}
    ),
    "prior of the committee": without_constant(
        tracker_layout__RULE_PRIOR=np.full(layout.RULES, 1 / layout.RULES)
    ),
    "confidence": without_constant(ridge_experts__MAX_LEVERAGE=0.0),
    "confidence: square of the leverage": without_constant(round__DOUBT=0.0),
    "uniform share of softmax and Cauchy": without_constant(softmax__UNIFORM_SHARE=0.0),
    "limit of Cauchy's squares": without_constant(cauchy__MAX_SQUARE=HUGE),
    "curvature": Ablation(settings={"curvature": False}),
    "curvature: change of the label": Ablation(context_labels=1),
    "curvature: labels": Ablation(context_labels=0),
    "curvature: no correction": without_candidate(0),
    "curvature: whole correction": without_candidate(1),
    "curvature: half of it": without_candidate(2),
    "curvature: winsorised errors": without_constant(curvature__MAX_LEARNT_ERROR=HUGE),
    "curvature: limit of the correction": without_constant(
        curvature__MAX_CORRECTION=HUGE
    ),
    "limit: range of labels": without_constant(clipping__RANGE_MARGIN=1e30),
    "limit: largest step": without_constant(clipping__STEP_MARGIN=1e30),
    "limit: yields to experts": without_constant(clipping__AGREED=NEVER),
    "limit: not after a large step": without_constant(clipping__MAX_USUAL_STEP=1e30),
    "limit: after a jump": without_constant(clipping__JUMP_RATIO=HUGE),
    "limit: after its return": without_constant(clipping__RETURN_RATIO=0.0),
    "limit: only of surprises": without_constant(clipping__MIN_SURPRISE=1e-300),
    "restart": without_constant(
        restart__MAX_LABEL_RATIO=HUGE, restart__MAX_FEATURE_RATIO=HUGE
    ),
    "replay": without_constant(replay__FIRST_REPLAY=NEVER),
}
"""What is left out, by name."""


def run_without(
    ablation: Ablation, streams: Mapping[tuple[str, str], AccuracyStream], seeds: int
) -> Errors:
    """The errors without this part; for a process of its own, whose kernel it changes.

    A kernel takes its constants when it is compiled, so it must be compiled here.
    """
    for name, value in ablation.constants.items():
        module, constant = name.split(".")
        old = getattr(import_module(KERNELS + module), constant)
        new = np.asarray(value, old.dtype) if isinstance(old, np.ndarray) else value
        setattr(import_module(KERNELS + module), constant, new)
    if ablation.constants:
        entry.call._cache = NullCache()
    return {
        key: float(np.mean([_error(ablation, seed, stream) for seed in range(seeds)]))
        for key, stream in streams.items()
    }


class AblatedTracker(Tracker):
    """A Tracker whose hinges may see fewer of the past labels."""

    context_labels = layout.CONTEXT_LABELS

    def _context_size(self, n: int) -> int:
        return n + self.context_labels


def _error(ablation: Ablation, seed: int, stream: AccuracyStream) -> float:
    AblatedTracker.context_labels = ablation.context_labels
    learner = AblatedTracker(seed=seed, **ablation.settings)
    start = learner.init(np.zeros(stream.x.shape[1]))
    active_from = layout.views(start.packed, stream.x.shape[1]).active_from
    active_from[list(ablation.experts)] = inf
    if ablation.is_active_at_once:
        active_from[: layout.EXPERTS] = 1.0
    block = Block(stream.x, stream.y)
    trace = learner.run(start, SquaredError(), block)[1]
    return mean_square(trace.prediction, stream.y)


def load_streams(rows: int) -> dict[tuple[str, str], AccuracyStream]:
    """All streams that are installed, by set and name."""
    sets = {
        "public": public_streams(rows),
        "stripped": stripped_streams(rows),
        "shocked": shocked_streams(rows),
        "synthetic": synthetic_streams(SYNTHETIC_SEEDS),
    }
    streams = {}
    for name, loaders in sets.items():
        for stream, load in loaders.items():
            try:
                streams[name, stream] = load()
            except MissingDataError as error:
                print(error)
    return streams


class Worth(NamedTuple):
    """By how much the errors of a set rise where a part is left out."""

    mean: float  # the geometric mean of ratios, minus one
    worst: float  # of the largest error over that of the best fixed pair
    largest: float  # on one stream


def worth_by_set(without: Errors, whole: Errors, pairs: Errors) -> dict[str, Worth]:
    """What a part is worth on each set of streams."""
    worths = {}
    for name in dict.fromkeys(key[0] for key in whole):
        keys = [key for key in whole if key[0] == name]
        ratios = [without[key] / whole[key] for key in keys]
        worst = max(without[key] / pairs[key] for key in keys)
        worst /= max(whole[key] / pairs[key] for key in keys)
        worths[name] = Worth(geometric_mean(ratios) - 1, worst - 1, max(ratios) - 1)
    return worths


def ablation(
    rows: Annotated[
        int, typer.Option(min=200, help="The first rows of each real stream.")
    ] = 5000,
    seeds: Annotated[
        int, typer.Option(min=1, help="Draws of hinges that errors are averaged over.")
    ] = 1,
    only: Annotated[
        str, typer.Option(metavar="TEXT", help="Only parts whose name begins so.")
    ] = "",
    processes: Annotated[int, typer.Option(min=1)] = 2,
) -> None:
    """Leave out each part of the Tracker, and print how much errors rise."""
    streams = load_streams(rows)
    pairs = {key: min(pair_errors(each).values()) for key, each in streams.items()}
    chosen = {name: a for name, a in ABLATIONS.items() if name.startswith(only)}
    context = multiprocessing.get_context("fork")
    with context.Pool(processes, maxtasksperchild=1) as pool:
        pending = [
            pool.apply_async(run_without, (variant, streams, seeds))
            for variant in (Ablation(), *chosen.values())
        ]
        whole = pending[0].get()
        typer.echo(_header(whole))
        for name, each in zip(chosen, pending[1:], strict=True):
            typer.echo(_line(name, worth_by_set(each.get(), whole, pairs)))


APP = make_app(ablation)


def _header(whole: Errors) -> str:
    sets = "".join(f"{name:>24}" for name in dict.fromkeys(key[0] for key in whole))
    return (
        "Rise of the squared error in %: mean, worst of the set, largest on a stream\n"
        f"{'left out (*: worth nothing)':38}{sets}"
    )


def _line(name: str, worths: Mapping[str, Worth]) -> str:
    is_idle = all(max(each.mean, each.worst) < MIN_WORTH for each in worths.values())
    cells = "".join(
        "".join(f"{100 * value:+8.2f}" for value in each) for each in worths.values()
    )
    return f"{name + ' *' * is_idle:38}{cells}"


if __name__ == "__main__":
    APP(prog_name="python -m benchmarks.ablation")
