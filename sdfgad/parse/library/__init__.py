"""Definitions of NumPy functions by simpler ones, which the parser inlines in place of the originals."""

import importlib
import pkgutil

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
