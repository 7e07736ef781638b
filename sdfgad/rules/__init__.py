"""Derivative rules: they see cotangents and primal values, and return cotangents."""

from sdfgad.rules import integrals as integrals  # registers its rules
from sdfgad.rules import messages as messages
from sdfgad.rules import special as special
