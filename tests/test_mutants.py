"""The tool of ``make mutants``: what it changes, draws, and runs."""

import ast
import textwrap

from tools.mutants.baseline import Baseline
from tools.mutants.named import named_mutations
from tools.mutants.selection import (
    SurveyedTest,
    function_name,
    kernel_closures,
    select_tests,
)
from tools.mutants.server import judge
from tools.mutants.sites import KINDS, draw, mutations

TOY = textwrap.dedent('''
    """A docstring with 1 + 1 and not a thing to change."""

    from typing import TYPE_CHECKING

    __all__ = ["a"] + ["b"]
    LIMIT: int = 3
    if TYPE_CHECKING:
        NEVER = 1 < 2


    @decorate(size=4)
    def grow(x: "int | None", twice=False) -> "1 + 1":
        """Text: 5 < 6."""
        if x is not None and x < LIMIT:  # a comment < that stays
            raise ValueError(f"{x + 1} is less than {LIMIT - 1}")
        return (x
                # the operator stands behind + a comment
                + 2.5) if not twice else -x
''')


def mutated_lines(text):
    """The changed line of every mutant, stripped."""
    lines = []
    for mutation in mutations("toy.py", text, seed=0):
        changed = mutation.apply(text).splitlines()
        lines.append(changed[mutation.line - 1].strip())
    return lines


def test_each_kind_of_site_is_found_and_nothing_else():
    assert mutated_lines(TOY) == [
        "LIMIT: int = 4",
        'def grow(x: "int | None", twice=True) -> "1 + 1":',
        "if False:  # a comment < that stays",
        "if not (x is not None and x < LIMIT):  # a comment < that stays",
        "if x is None and x < LIMIT:  # a comment < that stays",
        "if x is not None or x < LIMIT:  # a comment < that stays",
        "if x is not None and x <= LIMIT:  # a comment < that stays",
        "- 2.5) if not twice else -x",
        "+ (2.5 * 2)) if not twice else -x",
        "+ 2.5) if (twice) else -x",
        "+ 2.5) if not twice else (x)",
    ]


def test_every_mutant_is_a_program_and_differs_in_one_place():
    for mutation in mutations("toy.py", TOY, seed=0):
        text = mutation.apply(TOY)
        ast.parse(text)
        assert text != TOY
        assert text.count("\n") == TOY.count("\n")


def test_characters_of_several_bytes_do_not_move_a_site():
    text = 'NAME = "ε ≤ δ"; LIMIT = "é" if 1 < 2 else 0  # ≥\n'
    changed = [one.apply(text) for one in mutations("toy.py", text, seed=0)]
    assert 'NAME = "ε ≤ δ"; LIMIT = "é" if 1 <= 2 else 0  # ≥\n' in changed


def test_a_draw_takes_as_many_of_each_kind_and_no_place_twice():
    candidates = mutations("toy.py", TOY * 3, seed=0)
    drawn = draw(candidates, 8, seed=1)
    kinds = [one.kind for one in drawn]
    assert all(kinds.count(kind) == 2 for kind in KINDS)
    assert len({one.start for one in drawn}) == 8


def test_a_change_elsewhere_leaves_the_names_of_mutants_alone():
    before = {one.name for one in mutations("toy.py", TOY, seed=0)}
    after = {one.name for one in mutations("toy.py", "MORE = 1 + 2\n" + TOY, seed=0)}
    assert before < after and len(after - before) == 3


def test_the_tests_that_call_the_function_come_first_and_cheap_ones_before():
    def surveyed(name, seconds, *functions, processes=False):
        return SurveyedTest(name, seconds, processes, frozenset(functions))

    def names(tests):
        return [test.name for test in tests]

    grow, shrink = ("toy.py", "grow"), ("toy.py", "shrink")
    tests = [
        surveyed("tests/a/test_other.py::quick", 0.1, grow),
        surveyed("tests/a/test_toy.py::slow", 2.0, grow),
        surveyed("tests/a/test_toy.py::quick", 0.2, grow, shrink),
        surveyed("tests/a/test_kill.py::process", 0.1, processes=True),
        surveyed("tests/b/test_toy.py::elsewhere", 0.1, grow),
        surveyed("tests/a/test_other.py::unrelated", 0.1, ("else.py", "grow")),
    ]
    assert names(select_tests(tests, "toy.py", "grow", ["tests/a"])) == [
        "tests/a/test_toy.py::quick",
        "tests/a/test_toy.py::slow",
        "tests/a/test_other.py::quick",
        "tests/a/test_kill.py::process",
    ]
    assert names(select_tests(tests, "toy.py", "", ["tests/b"])) == [
        "tests/b/test_toy.py::elsewhere"
    ]


def test_comprehensions_belong_to_the_function_around_them():
    assert function_name("Reader.read.<locals>.<listcomp>") == "Reader.read"
    assert function_name("outer.<locals>.inner") == "outer.inner"


def test_a_kernel_depends_on_the_kernels_that_it_imports():
    texts = {
        "kernels/one.py": "LIMIT = 1",
        "kernels/two.py": "from thalweg.kernels.one import LIMIT",
        "kernels/three.py": "from thalweg.kernels import two",
        "learners/three.py": "from thalweg.kernels.three import play",
    }
    closures = kernel_closures(texts)
    assert closures["kernels/one.py"] == {"kernels/one.py"}
    assert closures["learners/three.py"] == {
        f"kernels/{n}.py" for n in ("one", "two", "three")
    }


def test_the_end_of_a_run_says_what_became_of_the_mutant():
    log = "RUNNING tests/a.py::one\nRUNNING tests/a.py::two\n"
    assert judge(0, log) == ("survived", "")
    assert judge(5, "") == ("survived", "no test reaches it")
    assert judge(1, log + "FAILED tests/a.py::two\n") == ("killed", "tests/a.py::two")
    assert judge(-11, log) == ("killed", "tests/a.py::two (exit code -11)")
    assert judge(None, log) == ("timed out", "tests/a.py::two")
    assert judge(1, log + "\nTimeout (0:00:30)!") == ("timed out", "tests/a.py::two")


def test_the_named_mutants_apply_to_the_present_source(pytestconfig):
    package = pytestconfig.rootpath / "src" / "thalweg"
    files = {
        path.relative_to(package).as_posix(): path.read_text()
        for path in package.rglob("*.py")
    }
    named = named_mutations(files)
    assert len(named) == 11
    for mutation in named:
        ast.parse(mutation.apply(files[mutation.file]))


def test_a_mutant_is_the_tree_with_one_change(tmp_path):
    baseline = Baseline(tmp_path, tmp_path / "work")
    package = baseline.source / "thalweg"
    baseline.texts = {"kernels/one.py": "LIMIT = 1\n", "other.py": "SIZE = 2\n"}
    for name, text in baseline.texts.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(text)
    [mutation] = mutations("kernels/one.py", "LIMIT = 1\n", seed=0)
    source = baseline.write_mutant(mutation, tmp_path / "mutant")
    assert (source / "thalweg/kernels/one.py").read_text() == "LIMIT = 2\n"
    assert (source / "thalweg/other.py").read_text() == "SIZE = 2\n"
    assert (package / "kernels/one.py").read_text() == "LIMIT = 1\n"
