"""NumPy functions said in simpler NumPy: the parser runs these texts in the place of the originals."""

import importlib
import pkgutil

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
