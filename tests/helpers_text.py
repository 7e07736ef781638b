"""Programs of the IR from their text, as `sdfgad.ir.text` writes it."""

import ast
import re
import textwrap

import numpy as np

from sdfgad.ir.expr import INT, Const, Int, Lin, Op, Read, as_linear, reads
from sdfgad.ir.program import Access, Branch, Buffer, Call, Compute, Loop, Program, Whole

F64 = np.dtype(np.float64)
OPERATORS = {ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide", ast.FloorDiv: "floor_divide"}
OPERATORS |= {ast.Mod: "remainder", ast.Gt: "greater", ast.Lt: "less", ast.GtE: "greater_equal", ast.Eq: "equal"}
KINDS = {"=": (None, False), "+=": ("add", False), "max=": ("maximum", False), "min=": ("minimum", False)}
KINDS |= {"= sum of": ("add", True), "max= all": ("maximum", True), "min= all": ("minimum", True)}
LOOP = re.compile(r"loop (parallel |backwards )?(?:(.+) <= )?(\w+) < (.+?)( \(still\))?:$")
SOLVE = re.compile(r"(\w+), (\w+) = solve\((\w+), (\w+)\)$")
STATEMENT = re.compile(
    r"(?:for (?P<box>[^:]+): )?(?P<to>.+?) (?P<sign>= sum of|max= all|min= all|max=|min=|\+=|=) (?P<value>.+)$"
)


def program_of(text, shapes, inputs=(), outputs=(), integers=(), dtypes=None):
    """The program; `shapes` maps buffers to their extents, numbers or texts; dtypes other than float64 are given."""
    dtypes = {name: np.dtype((dtypes or {}).get(name, F64)) for name in shapes}
    reader = _Reader(dtypes)
    sizes = {n: tuple(Lin(e) if isinstance(e, int) else reader.form(e) for e in shape) for n, shape in shapes.items()}
    buffers = {name: Buffer(name, size, dtypes[name]) for name, size in sizes.items()}
    reader.shapes = sizes
    lines = [line for line in text.rstrip().splitlines() if line.strip()]
    indent = min(len(line) - len(line.lstrip()) for line in lines)
    body, rest = reader.block([line[indent:] for line in lines], 0)
    assert not rest
    return Program("program", buffers, tuple(inputs), tuple(integers), {name: name for name in outputs}, body)


class _Reader:
    def __init__(self, dtypes):
        self.dtypes, self.shapes = dtypes, {}

    def block(self, lines, depth):
        statements, pad = [], "    " * depth
        while lines and lines[0].startswith(pad) and lines[0][len(pad)] != " ":
            line, lines = lines[0].strip(), lines[1:]
            if line == "else:":
                orelse, lines = self.block(lines, depth + 1)
                last = statements.pop()
                statements.append(Branch(last.condition, last.then, orelse))
            elif line.startswith("if "):
                then, lines = self.block(lines, depth + 1)
                statements.append(Branch(self.value(line[3:-1]), then, ()))
            elif line.startswith("loop "):
                body, lines = self.block(lines, depth + 1)
                statements.append(self.loop(line, body))
            elif SOLVE.match(line):
                statements.append(self.solve(*SOLVE.match(line).groups()))
            else:
                statements.append(self.compute(line))
        return tuple(statements), lines

    def loop(self, line, body):
        kind, start, var, end, still = LOOP.match(line).groups()
        start, counter = self.form(start or "0"), Lin.symbol(var)
        guards = (counter - start, self.form(end) - counter - 1)
        # Bounds that are read may change while the loop runs.
        guards = () if reads(*map(Int, guards)) else guards
        backward, parallel = kind == "backwards ", kind == "parallel "
        return Loop(var, self.form(end) - start, body, guards, backward, None, bool(still), start, parallel)

    def solve(self, *names):
        x, failed, a, b = (Whole(name, self.shapes[name], self.dtypes[name]) for name in names)
        return Call("solve", (a, b), (x, failed), (1, *(extent.const for extent in b.shape)))

    def compute(self, line):
        parts = STATEMENT.match(line).groupdict()
        box = [item.split(" < ") for item in (parts["box"] or "").split(", ") if item]
        target = ast.parse(parts["to"], mode="eval").body
        name = target.id if isinstance(target, ast.Name) else target.value.id
        accumulate, fresh = KINDS[parts["sign"]]
        params = tuple((p, self.form(extent)) for p, extent in box)
        value = self.as_type(self.value(parts["value"]), self.dtypes[name])
        return Compute(params, Access(name, self.index(target)), value, accumulate, None, fresh)

    def index(self, node):
        if isinstance(node, ast.Name):
            return ()
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return tuple(as_linear(self.expr(part)) for part in parts)

    def form(self, text):
        return as_linear(self.value(text))

    def value(self, text):
        return self.expr(ast.parse(text.strip(), mode="eval").body)

    def as_type(self, value, dtype):
        if isinstance(value, Int) and value.value.is_const and dtype != INT:
            return Const(value.value.const, dtype)
        return value if value.dtype == dtype else Op("cast", (value,), dtype)

    def expr(self, node):
        if isinstance(node, ast.Constant):
            return Int(Lin(node.value)) if type(node.value) is int else Const(node.value, np.asarray(node.value).dtype)
        if isinstance(node, ast.Name) and node.id not in self.dtypes:
            return Int(Lin.symbol(node.id))
        if isinstance(node, (ast.Name, ast.Subscript)):
            name = node.id if isinstance(node, ast.Name) else node.value.id
            return Read(name, self.index(node), self.dtypes[name])
        if isinstance(node, ast.UnaryOp):
            value = self.expr(node.operand)
            if isinstance(value, Const):
                return Const(-value.value, value.dtype)
            return Int(-as_linear(value)) if value.dtype == INT else Op("negative", (value,), value.dtype)
        if isinstance(node, ast.Call):
            args = [self.expr(arg) for arg in node.args]
            return Op(node.func.id, tuple(args), args[-1].dtype)
        is_test = isinstance(node, ast.Compare)
        left, right = (node.left, node.comparators[0]) if is_test else (node.left, node.right)
        return self.binary(
            OPERATORS[type(node.ops[0] if is_test else node.op)], self.expr(left), self.expr(right), is_test
        )

    def binary(self, name, left, right, is_test):
        if left.dtype == right.dtype == INT and not is_test:
            a, b = as_linear(left), as_linear(right)
            if name in ("add", "subtract"):
                return Int(a + b if name == "add" else a - b)
            if name == "multiply" and (a.is_const or b.is_const):
                return Int(b.scaled(a.const) if a.is_const else a.scaled(b.const))
            return Op(name, (left, right), INT)
        dtype = np.result_type(left.dtype, right.dtype)
        args = tuple(self.as_type(side, dtype) for side in (left, right))
        return Op(name, args, np.dtype(bool) if is_test else dtype)


# --- programs over buffers that are there for every test

SHAPES = dict.fromkeys("xyzwabt", (20,)) | dict.fromkeys("XYZWABT", (20, 6)) | dict.fromkeys("srqkm", ()) | {"i": (20,)}
INPUTS, OUTPUTS = "xyXYi", "zwZWq"


def sample(text, **integers):
    """A program of vectors (20 elements), matrices (20 x 6) and scalars, and its inputs.

    Inputs are x, y, X, Y and i, a permutation; outputs z, w, Z, W and q; the rest is temporary: a, b, t, A, B, T, the
    scalars s and r, and the integers k and m.
    """
    used = {word for word in re.findall(r"[a-zA-Z_]\w*", text) if word in SHAPES}
    rng = np.random.default_rng(7)
    arrays = {name: rng.normal(size=SHAPES[name]) for name in INPUTS if name in used} | (
        {"i": rng.permutation(20)} if "i" in used else {}
    )
    shapes = {name: SHAPES[name] for name in sorted(used)}
    outputs = [name for name in OUTPUTS if name in used]
    program = program_of(text, shapes, arrays, outputs, integers, dict.fromkeys("ikm", INT))
    return program, arrays, integers


def tidy(text):
    """Text of a program without the indentation that it has in a test."""
    return textwrap.dedent(text).strip()
