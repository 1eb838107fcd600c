"""What can be changed in a file: arithmetic, comparisons, constants and branches.

A mutation replaces one stretch of the text and leaves every other line as it is. Left
alone is what no behaviour depends on: docstrings and other text, annotations, the
arguments of decorators (options of the compiler), what is raised (messages),
``__all__`` and blocks for type checkers.
"""

import ast
import random
import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

ARITHMETIC = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "*"),
    ast.Pow: ("**", "*"),
    ast.MatMult: ("@", "*"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
    ast.LShift: ("<<", ">>"),
    ast.RShift: (">>", "<<"),
}
COMPARISONS = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
}
KINDS = ("arithmetic", "comparison", "constant", "branch")
_LEFT_ALONE = (ast.Raise, ast.JoinedStr, ast.Assert, ast.Import, ast.ImportFrom)


class Mutation(NamedTuple):
    """One replacement in the text of a file."""

    file: str  # below src/thalweg
    function: str  # qualified name; empty for a line outside of functions
    line: int
    kind: str
    start: int  # in characters of the text
    end: int
    old: str
    new: str
    name: str  # the same as long as the function has this site

    def apply(self, text: str) -> str:
        """The text of the file with the replacement."""
        if text[self.start : self.end] != self.old:
            raise ValueError(f"{self.name}: the text is not the one it was found in.")
        return text[: self.start] + self.new + text[self.end :]


class _Site(NamedTuple):
    function: str
    kind: str
    start: int
    end: int
    new: str


class _Finder(ast.NodeVisitor):
    """Goes through a syntax tree and collects the sites, in order of the text."""

    def __init__(self, text: str) -> None:
        self.text = text
        lines = text.splitlines(keepends=True)
        self.lines = [line.encode() for line in lines]
        self.starts = [0]
        for line in lines:
            self.starts.append(self.starts[-1] + len(line))
        self.sites: list[_Site] = []
        self.scope: list[str] = []

    def position(self, line: int, column: int) -> int:
        """The place in the text of a node's line (from 1) and column (in bytes)."""
        before = self.lines[line - 1][:column].decode()
        return self.starts[line - 1] + len(before)

    def bounds(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """Where a node starts and ends in the text."""
        end_line, end_column = node.end_lineno or 0, node.end_col_offset or 0
        return (
            self.position(node.lineno, node.col_offset),
            self.position(end_line, end_column),
        )

    def add(self, kind: str, start: int, end: int, new: str) -> None:
        """Remember that this stretch can be replaced."""
        self.sites.append(_Site(".".join(self.scope), kind, start, end, new))

    def add_operator(
        self, kind: str, left: ast.expr, right: ast.expr, swap: tuple[str, str]
    ) -> None:
        """Remember the operator that stands between two operands."""
        start, end = self.bounds(left)[1], self.bounds(right)[0]
        pattern = r"\s+".join(map(re.escape, swap[0].split()))
        match = re.search(pattern, re.sub(r"#.*", _blank, self.text[start:end]))
        if match:
            self.add(kind, start + match.start(), start + match.end(), swap[1])

    def add_reversal(self, test: ast.expr) -> None:
        """Remember that a condition can be reversed; ``not`` is dropped elsewhere."""
        if not (isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)):
            start, end = self.bounds(test)
            self.add("branch", start, end, f"not ({self.text[start:end]})")

    def visit(self, node: ast.AST) -> None:
        """Visit a node unless nothing depends on what it holds."""
        if isinstance(node, _LEFT_ALONE) or _is_for_readers(node):
            return
        super().visit(node)

    def visit_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """Visit defaults and body, without decorators and annotations."""
        for default in [*node.args.defaults, *node.args.kw_defaults]:
            if default is not None:
                self.visit(default)
        self.scope.append(node.name)
        for statement in node.body:
            self.visit(statement)
        self.scope.pop()

    visit_FunctionDef = visit_AsyncFunctionDef = visit_function  # noqa: N815

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """Visit the body."""
        self.scope.append(node.name)
        for statement in node.body:
            self.visit(statement)
        self.scope.pop()

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """Visit the value, without the annotation."""
        if node.value is not None:
            self.visit(node.value)

    def visit_Call(self, node: ast.Call) -> None:
        """A call; of isinstance without the types, whose union is no arithmetic."""
        if isinstance(node.func, ast.Name) and node.func.id == "isinstance":
            self.visit(node.args[0])
        else:
            self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        """An arithmetic operator, unless it puts text together."""
        if not any(_is_text(side) for side in (node.left, node.right)):
            swap = ARITHMETIC.get(type(node.op))
            if swap:
                self.add_operator("arithmetic", node.left, node.right, swap)
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        """An arithmetic operator before an equals sign."""
        swap = ARITHMETIC.get(type(node.op))
        if swap and not _is_text(node.value):
            self.add_operator("arithmetic", node.target, node.value, swap)
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        """Every comparison of a chain."""
        operands = [node.left, *node.comparators]
        for i, operator in enumerate(node.ops):
            swap = COMPARISONS[type(operator)]
            self.add_operator("comparison", operands[i], operands[i + 1], swap)
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        """Numbers and truth values."""
        start, end = self.bounds(node)
        if isinstance(node.value, bool):
            self.add("constant", start, end, str(not node.value))
        elif isinstance(node.value, int):
            self.add("constant", start, end, str(node.value + 1))
        elif isinstance(node.value, float):
            new = f"({self.text[start:end]} * 2)" if node.value else "1.0"
            self.add("constant", start, end, new)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        """``and`` becomes ``or``, and the other way round."""
        swap = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        self.add_operator("branch", node.values[0], node.values[1], swap)
        self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        """A branch that is never taken, or that is taken where it should not be."""
        self.add("branch", *self.bounds(node.test), "False")
        self.add_reversal(node.test)
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        """A condition inside of an expression, reversed."""
        self.add_reversal(node.test)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        """``not`` and a minus sign are dropped."""
        kinds = {ast.Not: "branch", ast.USub: "arithmetic"}
        kind = kinds.get(type(node.op))
        if kind:
            start, end = self.bounds(node)
            inner_start, inner_end = self.bounds(node.operand)
            self.add(kind, start, end, f"({self.text[inner_start:inner_end]})")
        self.generic_visit(node)


def mutations(file: str, text: str, seed: int) -> list[Mutation]:
    """All mutations of a file, in order of the text, one for each kind and place."""
    finder = _Finder(text)
    finder.visit(ast.parse(text))
    counts: Counter[tuple[str, ...]] = Counter()
    found = []
    for site in sorted(finder.sites, key=lambda site: site.start):
        old = text[site.start : site.end]
        key = (file, site.function, site.kind, old, site.new)
        counts[key] += 1
        label = " ".join([*key, str(counts[key])])
        number = random.Random(f"{seed} {label}").getrandbits(32)
        name = f"{file}:{site.function}:{number:08x}"
        line = text.count("\n", 0, site.start) + 1
        found.append(
            Mutation(file, site.function, line, *site[1:4], old, site.new, name)
        )
    return found


def draw(candidates: list[Mutation], count: int, seed: int) -> list[Mutation]:
    """``count`` of the candidates, as many of each kind, in order of file and line.

    Each candidate has a random number of its own, from its name, and those with the
    least are drawn: a change to one file leaves what is drawn from the others nearly as
    it was.
    """
    order = sorted(
        candidates, key=lambda one: random.Random(f"{seed}{one.name}").random()
    )
    drawn: list[Mutation] = []
    places: set[tuple[str, int]] = set()
    for kind in _kinds_in_turn(order):
        match = next(
            one
            for one in order
            if one.kind == kind and (one.file, one.start) not in places
        )
        order.remove(match)
        places.add((match.file, match.start))
        drawn.append(match)
        if len(drawn) == count:
            break
    return sorted(drawn)


def _kinds_in_turn(candidates: list[Mutation]) -> Iterator[str]:
    """Kinds one after the other, each as often as it has places."""
    left = {
        kind: len({(one.file, one.start) for one in candidates if one.kind == kind})
        for kind in KINDS
    }
    while any(left.values()):
        for kind in KINDS:
            if left[kind]:
                left[kind] -= 1
                yield kind


def _blank(match: re.Match[str]) -> str:
    return " " * len(match.group())


def _is_text(node: ast.expr) -> bool:
    """Whether an operand is text, or the None of a union of types."""
    if isinstance(node, ast.Constant):
        return node.value is None or isinstance(node.value, str | bytes)
    return isinstance(node, ast.JoinedStr)


def _is_for_readers(node: ast.AST) -> bool:
    """Whether a statement is for readers and checkers of types alone."""
    if isinstance(node, ast.Assign):
        return any(
            isinstance(target, ast.Name) and target.id == "__all__"
            for target in node.targets
        )
    if isinstance(node, ast.If):
        return ast.unparse(node.test) in ("TYPE_CHECKING", "__name__ == '__main__'")
    return False
