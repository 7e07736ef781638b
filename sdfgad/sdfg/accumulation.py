"""Write-conflict resolution: what is written is combined with what is there."""

from __future__ import annotations

import ast
from typing import Any

from sdfgad.errors import Location, UnsupportedGraph
from sdfgad.ir.expr import Expr, Op
from sdfgad.ir.program import Access, Accumulate, Compute, Params

EXTREMA = {"max": "maximum", "maximum": "maximum", "min": "minimum", "minimum": "minimum"}
KINDS: dict[str, Accumulate] = {"add": "add", "maximum": "maximum", "minimum": "minimum"}
TODO = "Use a sum, a product, a minimum or a maximum: `lambda a, b: a + b`, say."


def accumulated(
    wcr: Any, params: Params, target: Access, value: Expr, dtype: Any, where: Location | None = None
) -> Compute:
    """A statement that combines a value with what its target has.

    Raises:
        UnsupportedGraph: the function is not a sum, a product, a minimum or a maximum.
    """
    kind = operation_of(wcr)
    if kind == "multiply":
        # Points that share a target run one after the other: `is_in_order` asks for that.
        return Compute(params, target, Op("multiply", (target.read(dtype), value), dtype), None, where)
    return Compute(params, target, value, KINDS[kind], where)


def operation_of(wcr: Any) -> str:
    """The elementary operation of a write-conflict resolution; see `accumulated`."""
    function = ast.parse(str(wcr).strip(), mode="eval").body
    if not isinstance(function, ast.Lambda):
        raise UnsupportedGraph(f"the write-conflict resolution `{wcr}`", todo=TODO)
    body, params = function.body, [arg.arg for arg in function.args.args]
    if isinstance(body, ast.BinOp) and _are(params, [body.left, body.right]):
        kind = {ast.Add: "add", ast.Mult: "multiply"}.get(type(body.op))
        if kind is not None:
            return kind
    is_call = isinstance(body, ast.Call) and not body.keywords and _are(params, body.args)
    name = ast.unparse(body.func).removeprefix("sdfgad_") if is_call and isinstance(body, ast.Call) else ""
    if name not in EXTREMA:
        raise UnsupportedGraph(f"the write-conflict resolution `{wcr}`", todo=TODO)
    return EXTREMA[name]


def _are(params: list[str], values: list[ast.expr]) -> bool:
    """Whether the operands of an operation are the two values that meet, and nothing else."""
    return len(params) == 2 and sorted(params) == sorted(ast.unparse(value) for value in values)
