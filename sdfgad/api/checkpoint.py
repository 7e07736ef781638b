"""`checkpoint`: a helper function whose intermediate values are recomputed in the reverse sweep (rematerialisation)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sdfgad.parse.transformed import CallSite, Wrapped, transformation


@transformation
class checkpoint(Wrapped):  # The name is JAX's.
    """A function of which the plan stores no intermediate values, where the reverse sweep can compute them again.

    That holds under every strategy, ``store_all`` included; ``g.plan`` shows what is recomputed, and ``overrides`` of
    `differentiate` say otherwise for single values. In gradients that programs call it has no effect.

    Example:
        >>> @sdfgad.checkpoint
        ... def layer(w, x):
        ...     return np.tanh(w @ x)
    """

    def call_within(self, site: CallSite, method: str, args: list[Any], kwargs: Mapping[str, Any]) -> Any:
        """A call in a program that is being parsed."""
        site.b.pinning += 1
        try:
            return site.call(self.function, *args, **kwargs)
        finally:
            site.b.pinning -= 1
