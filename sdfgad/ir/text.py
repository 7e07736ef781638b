"""Pretty printer: programs as readable text, one statement a line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from sdfgad.ir.expr import Const, Expr, Int, Lin, Op, Read, postorder
from sdfgad.ir.ops import OPERATIONS
from sdfgad.ir.program import Access, Block, Call, Compute, Loop, Program, Statement

# Operators on bits are written by name.
INFIX = {name: op.infix for name, op in OPERATIONS.items() if op.infix and not name.startswith("bitwise")}
# In expressions with more nodes, counted as often as they occur, parts with more than a few get names.
MOST_NODES, FEW_NODES = 1000, 5
SIGNS = {None: "=", "add": "+=", "maximum": "max=", "minimum": "min="}


def statement_head(statement: Statement) -> str:
    """A statement on one line; of a loop and a branch the first one."""
    return next(_block((statement,), 0))


def program_text(program: Program) -> str:
    """One statement a line: ``for p < 8: u[p + 1] = ...`` is a box of independent points."""
    return "\n".join(_block(program.body, 0))


def _block(block: Block, depth: int) -> Iterator[str]:
    pad = "    " * depth
    for statement in block:
        if isinstance(statement, Compute):
            yield pad + statement_text(statement)
        elif isinstance(statement, Loop):
            order = "backwards " if statement.backward else "parallel " if statement.is_parallel else ""
            order += "in a block " if statement.is_in_block else ""
            is_open = " (still)" if statement.is_open else ""
            start = "" if statement.start == Lin(0) else f"{form_text(statement.start)} <= "
            end = form_text(statement.start + statement.trips)
            yield f"{pad}loop {order}{start}{statement.var} < {end}{is_open}:"
            yield from _block(statement.body, depth + 1)
        elif isinstance(statement, Call):
            yield f"{pad}{call_text(statement)}"
        else:
            yield f"{pad}if {expression_text(statement.condition)}:"
            yield from _block(statement.then, depth + 1)
            if statement.orelse:
                yield f"{pad}else:"
                yield from _block(statement.orelse, depth + 1)


def statement_text(statement: Compute) -> str:
    box = ", ".join(f"{name} < {form_text(extent)}" for name, extent in statement.params)
    head = f"for {box}: " if box else ""
    value = expression_text(statement.value)
    sign = "= sum of" if statement.fresh and statement.accumulate == "add" else SIGNS[statement.accumulate]
    sign = sign.replace("=", "= all", 1) if statement.fresh and statement.accumulate != "add" else sign
    return f"{head}{access_text(statement.target)} {sign} {value}"


def call_text(call: Call) -> str:
    outputs, inputs = (", ".join(whole.buffer for whole in wholes) for wholes in (call.outputs, call.inputs))
    return f"{outputs} = {call.name}({inputs})"


def access_text(access: Access) -> str:
    return f"{access.buffer}[{', '.join(map(form_text, access.index))}]" if access.index else access.buffer


def form_text(form: Lin) -> str:
    """A linear form with its signs and coefficients as one writes them."""
    parts: list[str] = []
    for atom, coefficient in form.terms:
        name = atom if isinstance(atom, str) else expression_text(atom)
        size = name if abs(coefficient) == 1 else f"{abs(coefficient)}*{name}"
        parts.append(("- " if coefficient < 0 else "+ ") + size)
    if form.const or not parts:
        parts.append(("- " if form.const < 0 else "+ ") + str(abs(form.const)))
    text = " ".join(parts)
    return text[2:] if text.startswith("+ ") else "-" + text[2:]


def expression_text(value: Expr) -> str:
    """An expression as one writes it; what a large one has several times gets a name: ``... with e1 = ...``."""
    nodes = list(postorder(value))
    names = _shared(value, nodes)
    texts, parts = dict[Expr, str](), list[str]()
    for node in nodes:
        text = _text(node, texts)
        if node in names:
            parts.append(f"{names[node]} = {text}")
        texts[node] = names.get(node, text)
    return texts[value] + (f" with {', '.join(parts)}" if parts else "")


def _shared(value: Expr, nodes: list[Expr]) -> dict[Expr, str]:
    """Names of the parts that a large expression has several times."""
    sizes, uses = dict[Expr, int](), Counter[Expr]()
    for node in nodes:
        args = node.args if isinstance(node, Op) else ()
        sizes[node] = 1 + sum(sizes[arg] for arg in args)
        uses.update(args)
    if sizes[value] <= MOST_NODES:
        return {}
    shared = [node for node in nodes if uses[node] > 1 and sizes[node] > FEW_NODES]
    return {node: f"e{k}" for k, node in enumerate(shared, 1)}


def _text(value: Expr, texts: Mapping[Expr, str]) -> str:
    """The text of an expression from those of its parts."""
    if isinstance(value, Const):
        return repr(value.value)
    if isinstance(value, Int):
        return form_text(value.value)
    if isinstance(value, Read):
        return access_text(Access(value.buffer, value.index))
    assert isinstance(value, Op)
    args = [_operand_text(arg, texts[arg]) for arg in value.args]
    if value.name in INFIX:
        return f"({args[0]} {INFIX[value.name]} {args[1]})"
    if value.name == "negative":
        return f"-{args[0]}"
    if value.name == "square":
        return f"({args[0]})**2" if args[0].startswith("-") else f"{args[0]}**2"
    name = str(value.dtype) if value.name == "cast" else value.name
    return f"{name}({', '.join(texts[arg] for arg in value.args)})"


def _operand_text(value: Expr, text: str) -> str:
    """The text of an operand; a linear form in parentheses, unless it is a single number or atom."""
    is_single = not isinstance(value, Int) or value.value.is_const or value.value == Lin.symbol(value.value.terms[0][0])
    return text if is_single else f"({text})"
