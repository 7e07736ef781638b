"""Random expressions and statements as people write them: normalisations, extrema, sorting, joining, views, exchanges.

Templates say their operands: ``{u}`` and ``{w}`` are parts of arrays of the wanted shape, ``{e}`` is an expression of
it; ``{n}`` and ``{m}`` are its extents, ``{k}`` is one of its axes, ``{c}`` a number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

from scripts.fuzzing.scope import Scope, Shape

if TYPE_CHECKING:
    from scripts.fuzzing.expressions import Expressions

Lines = list[str]
Template = TypeVar("Template", str, tuple[str, ...])
# What makes a matrix of a vector is for short ones.
SHORT = 40

# Of any shape but that of a number.
ALIKE = (
    "{u} / (1.5 + np.sum({u} ** 2))",
    "{u} / (0.5 + np.max(np.abs({e})))",
    "np.where({u} >= np.max({u}), {w}, 0.5 * {u})",
    "np.where({e} > np.mean({e}), {w}, {u})",
    "np.where(({u} > -0.5) & ({w} < 0.4), {u} * {w}, {w})",
    "np.exp({u} - np.max({u}))",
    "np.exp({u} - np.max({u}, axis={k}, keepdims=True))",
    "({e}) * (1.0 + 0.1 * np.max(np.exp(0.3 * {u}) * np.sin({w}), axis={k}, keepdims=True))",
    "{w} + np.min(np.sin({e}) * {u}, axis={k}, keepdims=True)",
    "({u} - np.mean({u}, axis={k}, keepdims=True)) / np.sqrt(np.var({e}, axis={k}, keepdims=True) + 0.5)",
    "{u} / (1.5 + ({e}).sum(axis={k}, keepdims=True) ** 2)",
    "np.sort({u}, axis={k}) * {w}",
    "np.cumsum({u} * {w}, axis={k})",
    "np.cumprod(1.0 + 0.1 * np.tanh({e}), axis={k})",
    "np.concatenate(({u}[1:], {w}[:1]))",
    "np.concatenate([{w}[-1:], {u}[:-1]], axis=0)",
    "np.stack([{u}, {w}, {u} * {w}]).max(axis=0)",
    "np.stack([{u}, {e}], axis=-1).sum(axis=-1)",
    "np.maximum({u}, {w}) - np.minimum({u}, {e})",
    "np.roll({u}, 1, axis={k}) - 2.0 * {u} + np.roll({u}, -1, axis={k})",
    "np.repeat({u}, 2, axis={k}).take(np.arange({a}) * 2, axis={k})",
    "np.diff({u}, axis={k}, append=0.3)",
    "np.array([0.5 * q * q for q in {u}])",
    "sum([{u}, {w}, 0.3])",
    "np.polyval([0.1, 0.2, 0.3], {u})",
    "{u}.reshape(-1)[::-1].reshape({s})",
    "({u} * np.arange({a}).reshape({b})) * 0.1",
    "{u}.copy() * {w}.clip(-0.6, 0.7)",
    "np.zeros_like({u}) + {w}",
    "({u} > {w}) * {u} + ({u} <= {w}) * {w}",
    "np.take({u}, np.argmax({u}, axis={k}), axis={k}).sum() * {w}",
    "{u} * len({w}) / {w}.size",
    "np.square({u}) + np.power(np.abs({w}) + 0.5, 1.5)",
    "np.arctan2({u}, 1.5 + {w} ** 2)",
    "np.sqrt(np.sum({u} ** 2, axis={k}, keepdims=True) + 0.2) * {w}",
    "({u} if {t} else {w})",
)
VECTOR = (
    "{w}[np.argsort({u})]",
    "np.flip({u}) + np.cumsum({e})[::-1]",
    "np.append({u}[1:], {c})",
    "np.hstack(({u}[1:], {c}))",
    "np.linalg.norm({u}) * {w}",
    "np.dot({u}, {w}) * {e}",
    "np.array([{u}[q] * {w}[-1 - q] for q in range({n})])",
)
SHORT_VECTOR = (
    "np.sum(({u}[:, None] - {w}) / (1.5 + ({u}[:, None] - {w}) ** 2), axis=1)",
    "np.max({u}[:, None] * np.cos({w}[None, :]), axis=0)",
    "np.outer({u}, {w}) @ {u}",
    "np.einsum('i,j->ij', {u}, {w}).sum(axis=0)",
    "np.convolve({u}, {w}, 'same')",
    "np.exp(-np.abs(np.subtract.outer({u}, {w}))).mean(axis=1)",
    "np.array([np.sum({u}[: q + 1] * {w}[q]) for q in range({n})])",
)
MATRIX = (
    "{u}.T.copy().T * {w}",
    "np.pad({u}, 1)[1:-1, 2:] + {w}",
    "np.pad({u}, ((1, 0), (0, 1)), mode='edge')[:-1, 1:]",
    "np.pad({u}, 1, mode='wrap')[2:, :-2]",
    "np.vstack(({u}[1:], {w}[0]))",
    "np.hstack(({w}[:, -1:], {u}[:, :-1]))",
    "{u}.reshape({m}, {n}).T",
    "{u}.max(axis=1)[:, None] * {w}",
    "np.where({u} == np.max({u}, axis={k}, keepdims=True), {w}, {u})",
    "np.tril({u}) - 0.5 * np.triu({w}, 1)",
    "np.einsum('ij,kj->ik', {u}, {w}) @ {u}",
    "np.einsum('ij,ij->i', {u}, {w})[:, None] + {u}",
    "np.tensordot({u}, {w}, axes=([1], [1])) @ {w}",
    "{u} @ {w}.T @ {e}",
    "np.linalg.norm({u}, axis=1, keepdims=True) * {w}",
    "np.swapaxes({u}, 0, 1).sum(axis=0)[:, None] * {w}",
    "{u}[np.arange({n}), np.argmax({w}, axis=1)][:, None] + {w}",
    "np.take_along_axis({u}, np.argsort({w}, axis={k}), axis={k})",
    "np.linalg.solve({u} @ {u}.T + 3.0 * np.eye({n}), {w})",
    "np.linalg.inv({u} @ {u}.T + 3.0 * np.eye({n})) @ {w}",
    "np.linalg.cholesky({u} @ {u}.T + 3.0 * np.eye({n})) @ {w}",
    "np.exp({u} - {u}.max(axis=1)[:, None]) / np.exp({u} - {u}.max(axis=1)[:, None]).sum(axis=1)[:, None]",
)
# Of {u} and {w}, which are alike.
NUMBER = (
    "np.max({e})",
    "np.max(np.exp(0.3 * {u}) * np.sin({w}))",
    "np.min({u} * {w} + 0.1 * {u})",
    "np.ptp({u})",
    "np.max({u}) - np.min({w})",
    "np.std({u})",
    "np.median({u})",
    "np.linalg.norm({u})",
    "np.mean({e})",
    "{w}.reshape(-1)[np.argmax({u})]",
    "{u}.ravel()[np.argmin({u})]",
    "np.count_nonzero({u} > 0.1) * 0.1",
    "np.prod(1.0 + 0.1 * {u})",
    "np.vdot({u}, {w})",
    "np.sum({u}[{u} > 0.2])",
    "np.sum({u}, where={w} > 0.1)",
    "0.1 * {u}.shape[0] + np.sum({e})",
    "max({c}, {c}) * min({c}, 0.7)",
    "({c} if {t} else {c})",
    "np.sum({u}.ravel()[1:] + {u}.ravel()[:-1]) * 0.5",
)
# Statements that change an array {v}; {f} and {g} are places along its first axis.
UPDATES = (
    ("np.add({u}, {w}, out={v})",),
    ("np.multiply({v}, {e}, out={v})",),
    ("np.tanh({u}, out={v})",),
    ("{v}[[{f}, {g}]] = {v}[[{g}, {f}]]",),
    ("old = {v}[{f}].copy()", "{v}[{f}] = {v}[{g}]", "{v}[{g}] = old"),
    ("{v}[0] = {v}[-2]", "{v}[-1] = {v}[1]"),
    ("{v}[1:] -= {v}[:-1].copy()",),
    ("{v}[...] = {e}",),
    ("{v}.fill({c})",),
    ("{v} /= 1.5 + np.max({v} * {v})",),
    ("{v} -= np.mean({e}, axis={k}, keepdims=True)",),
    ("flat = {v}.reshape(-1)", "flat[::2] += 0.3 * flat[0]"),
    ("flat = {v}.ravel()", "flat[1:] *= 0.5", "{v}[0] += flat[-1]"),
    ("for line in {v}:", "    line *= 0.5"),
    ("for row in {v}.reshape(-1, {l}):", "    row[:] = np.sin(row) + 0.1 * row[::-1]"),
    ("for one, two in zip({u}, {w}):", "    s = 0.5 * s + 0.1 * np.sum(one * two)"),
    ("parts = [0.5 * q for q in {u}]", "{v}[:] = np.stack(parts) + {w}"),
    ("top = np.max({e})", "{v}[:] = np.where({u} < top, {v}, 0.5 * {w})"),
    ("if np.any({u} > 0.6):", "    {v} *= 0.5", "else:", "    {v} += {w}"),
    ("if -0.3 < s < 0.6 and np.max({u}) > 0.2:", "    {v}[{f}] = {v}[{g}] * s"),
    ("lower, upper = np.min({u}), np.max({w})", "{v}[:] = {v} * 0.5 + 0.1 * (upper - lower)"),
    ("ordered = np.sort({u}, axis=0)", "{v} += 0.2 * ordered * {w}"),
    ("first, *others = {c}, {c}, {c}", "s = 0.3 * first + 0.2 * others[-1]", "{v} *= np.cos(s)"),
    ("both = {{'a': {u}, 'b': {w}}}", "{v}[:] = both['a'] * 0.5 + both['b']"),
    ("def step(a, b):", "    a += 0.1 * b", "step({v}, {w})"),
    ("def both(a):", "    return a * 0.5, np.sin(a)", "one, two = both({u})", "{v}[:] = one + two * {w}"),
    ("def scaled(a):", "    return a * s", "{v}[:] = scaled({u})"),
    ("change = lambda a, b: 0.5 * a + np.sin(b)", "{v}[:] = change({v}, change({u}, {w}))"),
)
# Where there are two axes at least. Windows in loops: different trips meet at an element.
MATRIX_UPDATES = (
    ("best = np.argmax({v}[:, 0])", "{v}[best] = 0.5 * {v}[0]"),
    ("for at in range({n} - 2):", "    for off in range(3):", "        {v}[at + off] -= 0.3 * {w}[at] * {u}[off]"),
    (
        "for at in range({n} - 2):",
        "    for off in range(3):",
        "        for to in range({m} - 1):",
        "            for by in range(2):",
        "                {v}[at + off, ..., to + by] = "
        "0.5 * {v}[at + off, ..., to + by] + 0.1 * {w}[at, ..., to] * {u}[off, ..., by]",
    ),
    (
        "for at in range({n} - 1):",
        "    for to in range({m} - 1):",
        "        for off in range(2):",
        "            for by in range(2):",
        "                {v}[at + off, ..., to + by] += 0.1 * {w}[at, ..., to] * {u}[off, ..., by]",
    ),
)


class Idioms:
    """Fills templates with the names of a scope."""

    def __init__(self, scope: Scope, make: Expressions) -> None:
        self.scope, self.rng, self.make = scope, scope.rng, make

    def expression(self, shape: Shape, depth: int) -> str | None:
        """An expression of a shape."""
        if not shape:
            like = self.rng.choice([s for n, s in self.scope.arrays.items() if n not in self.scope.complexes] or [()])
            return self._filled([NUMBER], like, depth) if like else None
        tables: list[Sequence[str]] = [ALIKE, ALIKE]
        if len(shape) == 1:
            tables += [VECTOR, SHORT_VECTOR] if shape[0] <= SHORT else [VECTOR]
        elif len(shape) == 2 and max(shape) <= SHORT:
            tables += [MATRIX, MATRIX]
        return self._filled(tables, shape, depth)

    def update(self) -> Lines | None:
        """Statements that change an array."""
        names = [n for n, s in self.scope.arrays.items() if n not in self.scope.complexes and s[0] > 1]
        if not names:
            return None
        name = self.rng.choice(names)
        shape = self.scope.arrays[name]
        operands = self._operands(shape, 1)
        template = self.rng.choice(_fitting((*UPDATES, *(MATRIX_UPDATES if len(shape) > 1 else ())), shape))
        return None if operands is None else [line.format(v=name, **operands) for line in template]

    def _filled(self, tables: Sequence[Sequence[str]], shape: Shape, depth: int) -> str | None:
        operands = self._operands(shape, depth)
        template = self.rng.choice(_fitting(self.rng.choice(tables), shape))
        return None if operands is None else template.format(**operands)

    def _operands(self, shape: Shape, depth: int) -> dict[str, object] | None:
        """What the braces of templates stand for."""
        u, w = (self.make.whole(shape) for _ in range(2))
        if u is None or w is None:
            return None
        axis = self.rng.randrange(len(shape))
        along = tuple(extent if a == axis else 1 for a, extent in enumerate(shape))
        return {
            "u": u, "w": w, "e": f"({u} * {self.make.real(shape, depth - 1)})", "s": shape, "k": axis,
            "n": shape[0], "m": shape[-1], "l": shape[-1], "a": shape[axis], "b": along,
            "f": self.scope.index(shape[0]), "g": self.scope.index(shape[0]),
            "c": self.make.number(), "t": self.make.test(),
        }  # fmt: skip


def _fitting(templates: Sequence[Template], shape: Shape) -> list[Template]:
    """Those for an array of a shape: loops over rows are for few of them."""
    return [one for one in templates if shape[0] <= SHORT or "for " not in (one if isinstance(one, str) else one[0])]
