"""Lambda lifting: variables from around a routine become further arguments of its function.

They are those of modules, of the routine that it is in, of common blocks, and those that keep their value. What a
routine uses of them, also by calls, is known when its body has been translated.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from sdfgad.fortran.scope import Scope, Variable


@dataclass(eq=False)
class Shared:
    """What a routine uses from around it.

    Attributes:
        scope: of the routine.
        views: the variables, and what they are in the routine's text.
        bounds: names in lower bounds of arrays, which must stay what they are.
    """

    scope: Scope
    views: dict[Variable, Variable] = field(default_factory=dict)
    bounds: set[str] = field(default_factory=set)

    def is_own(self, variable: Variable) -> bool:
        return variable.scope is self.scope and not variable.is_kept

    def used(self, variable: Variable) -> Variable:
        """A number or array as it is in the routine: its own, or one from around it."""
        if self.is_own(variable):
            variable.is_used = True
            return variable
        if variable not in self.views:
            self.views[variable] = self._view(variable)
        return self.views[variable]

    def _view(self, variable: Variable) -> Variable:
        """A further argument, under a name that nothing else has in this routine."""
        found = self.scope.variable(variable.name.partition("%")[0])
        is_visible = found is not None and variable in found[1].leaves
        owner = "" if variable.scope is None else variable.scope.name
        # A derived type of the owner's name would have components of such names.
        is_free = bool(owner) and self.scope.variable(owner) is None
        hidden = f"{owner}__{variable.text}" if is_free else f"__{variable.text}_of_{owner}"
        label = "" if is_visible else hidden
        return replace(variable, label=label, is_used=True, is_changed=False, is_rebound=False)

    def bounded_by(self, text: str) -> None:
        self.bounds |= identifiers(text)


def identifiers(text: str) -> set[str]:
    """The names in generated text."""
    return set(re.findall(r"[A-Za-z_]\w*", text))
