"""Bridges to packages that are not installed."""

import importlib
import sys

import pytest

import sdfgad
from sdfgad.errors import MissingPackage


@pytest.mark.parametrize(
    ("module", "package"), [("scipy", "SciPy"), ("jax", "JAX"), ("torch", "PyTorch"), ("onnx", "ONNX")]
)
def test_what_to_install(module, package, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    # What was imported before needs the package no more.
    for name in [one for one in sys.modules if one.startswith((f"sdfgad.{module}", "sdfgad.xla"))]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(MissingPackage, match=rf'sdfgad\.{module} needs {package}\n.*pip install "sdfgad\[{module}\]"'):
        importlib.import_module(f"sdfgad.{module}")


def test_bridges_are_attributes_and_others_are_not():
    pytest.importorskip("scipy")
    assert sdfgad.scipy.minimize is importlib.import_module("sdfgad.scipy").minimize
    with pytest.raises(AttributeError, match="module 'sdfgad' has no attribute 'numpyro'"):
        _ = sdfgad.numpyro
