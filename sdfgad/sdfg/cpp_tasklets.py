"""Tasklets in a subset of C++ (recursive descent): their statements as those of Python, which the reader parses.

Declarations and assignments of numbers, ``if`` and ``else``, the operators and functions of numbers, conversions, and
the conditional operator. Loops, pointers, strings, templates and functions of one's own are none of it.
"""

from __future__ import annotations

import ast
import re

from sdfgad.errors import UnsupportedGraph

TOKEN = re.compile(
    r"""\s*(?:
    (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[fFlLuU]*)
    | (?P<name>[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*)
    | (?P<sign>\+=|-=|\*=|/=|==|!=|<=|>=|&&|\|\||[-+*/%<>=!?:;,(){}\[\]])
    )""",
    re.VERBOSE,
)
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
NAMESPACES = ("std::", "dace::math::", "dace::", "math::")
# The types of declarations and conversions, as DaCe calls them; `auto` converts nothing.
TYPES = {
    **{"double": "float64", "float": "float32", "bool": "bool_", "int": "int32", "auto": ""},
    **{f"{sign}int{bits}_t": f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
    **{name: name for name in ("float64", "float32", "int64", "int32")},
}
# The functions of numbers that are the same in Python or NumPy.
FUNCTIONS = {
    **{name: f"math.{name}" for name in ("sqrt", "exp", "expm1", "log", "log2", "log10", "log1p", "erf", "erfc")},
    **{name: f"math.{name}" for name in ("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "hypot", "copysign")},
    **{name: f"math.{name}" for name in ("sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "floor", "ceil", "trunc")},
    **{name: f"math.{name}" for name in ("cbrt", "exp2", "fmod", "isnan", "isinf", "isfinite")},
    **{name: f"numpy.{name}" for name in ("fmin", "fmax", "rint")},
    **{"fabs": "math.fabs", "abs": "numpy.abs", "max": "max", "min": "min"},
    **{"tgamma": "math.tgamma", "lgamma": "math.lgamma"},
}
CONSTANTS = {"true": True, "false": False}
# From what binds least on; comparisons and sums of one level associate to the left.
LEVELS: tuple[dict[str, ast.operator | ast.cmpop | ast.boolop], ...] = (
    {"||": ast.Or()},
    {"&&": ast.And()},
    {"==": ast.Eq(), "!=": ast.NotEq()},
    {"<": ast.Lt(), "<=": ast.LtE(), ">": ast.Gt(), ">=": ast.GtE()},
    {"+": ast.Add(), "-": ast.Sub()},
    {"*": ast.Mult(), "/": ast.Div(), "%": ast.Mod()},
)
TODO = "Write it in Python, or as assignments of expressions to numbers, with `if` and `else` if need be."


def statements_of_cpp(text: str, name: str) -> list[ast.stmt]:
    """The statements of a tasklet's C++.

    Raises:
        UnsupportedGraph: it is none of the subset; `name` is the tasklet's.
    """
    parser = _Parser(_tokens(text, name), name)
    found: list[ast.stmt] = []
    while parser.next is not None:
        found += parser.statement()
    return [ast.fix_missing_locations(one) for one in found]


def _tokens(text: str, name: str) -> list[str]:
    rest, found = COMMENT.sub(" ", text).rstrip(), list[str]()
    while rest:
        match = TOKEN.match(rest)
        if match is None:
            raise UnsupportedGraph(f"the C++ of the tasklet `{name}` at `{rest.strip()[:30]}`", todo=TODO)
        found.append(match.group().strip())
        rest = rest[match.end() :]
    return found


class _Parser:
    """Parses tokens from the left.

    Attributes:
        next: the next token; None after the last one.
        types: those of the variables that are declared, to which all that is assigned to them is converted.
    """

    def __init__(self, tokens: list[str], name: str) -> None:
        self.tokens, self.name, self.place = tokens, name, 0
        self.types = dict[str, str]()

    @property
    def next(self) -> str | None:
        return self.tokens[self.place] if self.place < len(self.tokens) else None

    def take(self, *wanted: str) -> bool:
        """Whether the next tokens are these, which are passed then."""
        is_there = tuple(self.tokens[self.place : self.place + len(wanted)]) == wanted
        self.place += len(wanted) if is_there else 0
        return is_there

    def need(self, *wanted: str) -> None:
        if not self.take(*wanted):
            raise self.error()

    def error(self) -> UnsupportedGraph:
        near = " ".join(self.tokens[max(self.place - 3, 0) : self.place + 4])
        return UnsupportedGraph(f"the C++ of the tasklet `{self.name}` near `{near}`", todo=TODO)

    def identifier(self) -> str:
        token = self.next
        if token is None or not (token[0].isalpha() or token[0] == "_"):
            raise self.error()
        self.place += 1
        return token

    # --- statements

    def statement(self) -> list[ast.stmt]:
        if self.take(";"):
            return []
        if self.take("{"):
            found: list[ast.stmt] = []
            while not self.take("}"):
                found += self.statement()
            return found
        if self.take("if", "("):
            return [self.choice()]
        self.take("const")
        kind = TYPES.get(_plain(self.next or ""))
        if kind is None:
            return [self.assignment()]
        self.place += 1
        target = self.identifier()
        if target in self.types:
            # One in a block of its own would hide the other one.
            raise self.error()
        self.types[target] = kind
        if kind and self.take(";"):
            return []
        self.place -= 1
        return [self.assignment()]

    def choice(self) -> ast.stmt:
        test = self.expression()
        self.need(")")
        then = self.statement()
        otherwise = self.statement() if self.take("else") else []
        return ast.If(test, then or [ast.Pass()], otherwise)

    def assignment(self) -> ast.stmt:
        target = self.identifier()
        operator = {"+=": ast.Add(), "-=": ast.Sub(), "*=": ast.Mult(), "/=": ast.Div()}.get(self.next or "")
        self.place += operator is not None
        if operator is None:
            self.need("=")
        value = self.expression()
        self.need(";")
        value = value if operator is None else ast.BinOp(ast.Name(target), operator, value)
        return ast.Assign([ast.Name(target)], _converted(self.types.get(target, ""), value))

    # --- expressions

    def expression(self) -> ast.expr:
        test = self.binary(0)
        if not self.take("?"):
            return test
        then = self.expression()
        self.need(":")
        return ast.IfExp(test, then, self.expression())

    def binary(self, level: int) -> ast.expr:
        if level == len(LEVELS):
            return self.unary()
        found = self.binary(level + 1)
        while self.next in LEVELS[level]:
            operator = LEVELS[level][str(self.next)]
            self.place += 1
            found = _combined(operator, found, self.binary(level + 1))
        return found

    def unary(self) -> ast.expr:
        for sign, operator in {"-": ast.USub(), "+": ast.UAdd(), "!": ast.Not()}.items():
            if self.take(sign):
                return ast.UnaryOp(operator, self.unary())
        following = self.tokens[self.place + 1 : self.place + 3]
        if self.next == "(" and len(following) == 2 and following[1] == ")" and _plain(following[0]) in TYPES:
            self.place += 3
            return _converted(TYPES[_plain(following[0])], self.unary())
        return self.primary()

    def primary(self) -> ast.expr:
        if self.take("("):
            inner = self.expression()
            self.need(")")
            return inner
        token = self.next
        if token is not None and (token[0].isdigit() or token[0] == "."):
            self.place += 1
            return self.number(token)
        name = self.identifier()
        if name == "static_cast":
            self.need("<")
            kind = TYPES.get(_plain(self.identifier()))
            self.need(">")
            return _converted(kind, *self.arguments()) if kind else self.refused()
        return self.call(_plain(name)) if self.next == "(" else _named(_plain(name))

    def refused(self) -> ast.expr:
        raise self.error()

    def number(self, token: str) -> ast.expr:
        digits = token.rstrip("fFlLuU")
        if digits.isdigit():
            return ast.Constant(int(digits)) if not (len(digits) > 1 and digits[0] == "0") else self.refused()
        value = ast.Constant(float(digits))
        return _converted("float32", value) if token[-1] in "fF" else value

    def arguments(self) -> list[ast.expr]:
        self.need("(")
        found: list[ast.expr] = []
        while not self.take(")"):
            found.append(self.expression())
            if self.next != ")":
                self.need(",")
        return found

    def call(self, name: str) -> ast.expr:
        arguments = self.arguments()
        if name in TYPES:
            return _converted(TYPES[name], *arguments) if len(arguments) == 1 and TYPES[name] else self.refused()
        if name == "pow" and len(arguments) == 2:
            return ast.BinOp(arguments[0], ast.Pow(), arguments[1])
        if name not in FUNCTIONS:
            raise UnsupportedGraph(f"the function `{name}` in the C++ of the tasklet `{self.name}`", todo=TODO)
        return ast.Call(_dotted(FUNCTIONS[name]), arguments, [])


def _plain(name: str) -> str:
    """A name without the namespaces of numbers."""
    return next((name.removeprefix(one) for one in NAMESPACES if name.startswith(one)), name)


def _named(name: str) -> ast.expr:
    return ast.Constant(CONSTANTS[name]) if name in CONSTANTS else ast.Name(name)


def _dotted(name: str) -> ast.expr:
    return ast.parse(name, mode="eval").body


def _converted(kind: str, value: ast.expr) -> ast.expr:
    return ast.Call(_dotted(f"dace.{kind}"), [value], []) if kind else value


def _combined(operator: ast.operator | ast.cmpop | ast.boolop, left: ast.expr, right: ast.expr) -> ast.expr:
    if isinstance(operator, ast.boolop):
        return ast.BoolOp(operator, [left, right])
    if isinstance(operator, ast.cmpop):
        return ast.Compare(left, [operator], [right])
    return ast.BinOp(left, operator, right)
