"""Derivative rules: they see cotangents and primal values, and return cotangents."""
