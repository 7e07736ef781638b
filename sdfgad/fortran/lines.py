"""Generated text with a map from its lines to those of the Fortran file."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass
class Lines:
    """Lines of Python, each with the number of the Fortran line that it stands for."""

    texts: list[str] = field(default_factory=list)
    origins: list[int] = field(default_factory=list)
    depth: int = 0

    def add(self, text: str, origin: int) -> None:
        self.texts.append("    " * self.depth + text)
        self.origins.append(origin)

    @contextmanager
    def block(self, head: str, origin: int) -> Iterator[None]:
        """A compound statement, whose body is what is added inside; an empty one passes."""
        self.add(head, origin)
        self.depth += 1
        start = len(self.texts)
        yield
        if len(self.texts) == start:
            self.add("pass", origin)
        self.depth -= 1

    @property
    def text(self) -> str:
        return "\n".join(self.texts) + "\n"

    def tree(self) -> ast.Module:
        """The syntax tree, whose nodes have the lines of the Fortran file."""
        module = ast.parse(self.text)
        for node in ast.walk(module):
            if isinstance(node, (ast.stmt, ast.expr, ast.arg, ast.keyword)):
                last = node.end_lineno or node.lineno
                node.lineno = self.origins[node.lineno - 1]
                node.end_lineno = max(node.lineno, self.origins[last - 1])
        return module
