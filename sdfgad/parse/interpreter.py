"""Abstract interpretation: runs a function's syntax tree on abstract values, which emits its program.

Python itself computes values that are known while parsing; other values become tensors and statements. A call of a
function of the user is run in a new frame, which inlines it.

Modules that parse one kind of statement or expression are below this one in the import order. They know only
`frame.py`, whose methods dispatch nested statements and expressions by the tables here.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

from sdfgad.errors import SdfgadError, UnsupportedProgram
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse import (
    attribute_moves,
    binding,
    chosen_texts,
    comprehensions,
    conditional_sums,
    conditions,
    control,
    delay_lines,
    exceptions,
    expressions,
    filled_lists,
    formatted_texts,
    global_names,
    inlined_calls,
    local_classes,
    loops,
    statements,
    tail_duplication,
    throwing,
)
from sdfgad.parse.closures import Closure
from sdfgad.parse.exception_values import Raises
from sdfgad.parse.frame import Frame, Return
from sdfgad.parse.logs import is_log
from sdfgad.parse.optional_values import is_handed_on, required
from sdfgad.parse.source import source_text
from sdfgad.parse.texts import RUN_TIME_TEXT, USE_NUMBERS, KeyText, require_handed_on
from sdfgad.parse.values import ChosenText, MaybeNone, NotNumeric, Record, Tensor

REPORT = "This is a bug of sdfgad, not of your program: please report it, with this line and the arguments."


class ParserFails(UnsupportedProgram):
    """Raised where the parser itself fails. Another attempt may succeed, for a user; a test fails all the same."""


# No `ast.If`: `tail_duplication.py` parses a branch together with the statements that follow it.
STATEMENTS: Mapping[type[ast.stmt], Callable[[Frame, Any], Return | None]] = {
    ast.AnnAssign: binding.assign_annotated,
    ast.Assert: exceptions.assert_,
    ast.Assign: binding.assign,
    ast.AugAssign: statements.update,
    ast.ClassDef: local_classes.class_,
    ast.Delete: statements.delete,
    ast.Expr: statements.expression,
    ast.For: loops.for_loop,
    ast.FunctionDef: statements.function,
    ast.Global: global_names.global_,
    ast.Import: statements.import_,
    ast.ImportFrom: statements.import_from,
    ast.Nonlocal: statements.no_operation,
    ast.Pass: statements.no_operation,
    ast.Raise: exceptions.raises,
    ast.Return: statements.return_,
    ast.Try: exceptions.try_,
    ast.While: loops.while_loop,
    ast.With: statements.with_,
}
EXPRESSIONS: Mapping[type[ast.expr], Callable[[Frame, Any], Any]] = {
    ast.Attribute: expressions.attribute,
    ast.BinOp: expressions.binary,
    ast.BoolOp: conditions.bool_op,
    ast.Call: conditional_sums.call,
    ast.Compare: expressions.compare,
    ast.Constant: expressions.constant,
    ast.Dict: expressions.dict_,
    ast.DictComp: expressions.dict_comprehension,
    ast.GeneratorExp: comprehensions.generator,
    ast.IfExp: conditions.conditional_expression,
    ast.JoinedStr: formatted_texts.text,
    ast.Lambda: Closure.of,
    ast.List: expressions.list_,
    ast.ListComp: expressions.list_comprehension,
    ast.Name: expressions.name,
    ast.NamedExpr: expressions.named,
    ast.Set: expressions.set_,
    ast.SetComp: expressions.set_comprehension,
    ast.Slice: expressions.slice_,
    ast.Starred: expressions.starred,
    ast.Subscript: expressions.subscript,
    ast.Tuple: expressions.tuple_,
    ast.UnaryOp: expressions.unary,
    Raises: throwing.raises,
}


class Interpreter(Frame):
    """A frame that dispatches each kind of statement and expression to its parser."""

    def block(self, statements: list[ast.stmt]) -> Return | None:
        return tail_duplication.block(self, statements)

    def statement(self, node: ast.stmt) -> Return | None:
        handler = STATEMENTS.get(type(node))
        if handler is None:
            raise self.unsupported(
                node,
                f"`{_keyword(node)}` is not supported",
                "Write it with assignments, `if`, `for`, `while` and functions, or do it outside of the function.",
            )
        with self.reported(node):
            return attribute_moves.parsed(self, node, partial(handler, self, node))

    @contextmanager
    def reported(self, node: ast.stmt) -> Iterator[None]:
        try:
            yield
        except SdfgadError as error:
            error.locate(self.where(node))
            raise
        except NotNumeric as error:
            if error.symbols:
                raise NeedsConstant(error.symbols, self.where(node), str(error), error.todo) from error
            raise self.unsupported(node, str(error), error.todo) from error
        except (TypeError, ValueError, ArithmeticError, LookupError, AttributeError, AssertionError) as error:
            if RUN_TIME_TEXT in str(error):
                raise self.unsupported(node, str(error), USE_NUMBERS) from error
            what = f"sdfgad fails on this line with {type(error).__name__}: {error}"
            raise ParserFails(what, self.where(node), REPORT) from error

    def call(
        self,
        node: ast.AST,
        function: Any,
        positional: list[Any],
        keywords: dict[str, Any],
        is_definition: bool = False,
    ) -> Any:
        result = inlined_calls.inlined(self, node, function, positional, keywords, is_definition)
        return required(self.b, result, "what this function returns")

    def chosen(self, condition: Tensor, arms: tuple[Callable[[], Any], Callable[[], Any]], join: Any) -> Any:
        return control.chosen(self, condition, arms, join)

    def eval(self, node: ast.expr) -> Any:
        handler = EXPRESSIONS.get(type(node))
        if handler is None:
            raise self.unsupported(
                node,
                f"the expression `{source_text(node)}` is not supported",
                "Write it with names, operators, calls and comprehensions, in several statements.",
            )
        try:
            before = self.b.contents.count
            value = handler(self, node)
            if type(value) is list and isinstance(node, delay_lines.MAKING):
                value = delay_lines.of_new(self, node, value, before)
            if isinstance(value, Record) and is_log(value):
                value = delay_lines.handed_on(self.b, value, node, self.source.parents.get(id(node)))
            if isinstance(value, MaybeNone) and not is_handed_on(node, self.source.parents.get(id(node))):
                value = required(self.b, value, f"`{source_text(node)}`")
            if isinstance(value, ChosenText):
                chosen_texts.require_handed_on(self.b, node, self.source.parents.get(id(node)))
            if isinstance(value, KeyText):
                require_handed_on(value, node, self.source.parents.get(id(node)), self.where(node))
            if self.b.filling:
                filled_lists.require_handed_on(self, node, value)
            return value
        except SdfgadError as error:
            error.locate(self.where(node))
            raise


def _keyword(node: ast.stmt) -> str:
    return {"While": "while", "Try": "try", "With": "with", "ClassDef": "class", "FunctionDef": "def"}.get(
        type(node).__name__, type(node).__name__.lower()
    )
