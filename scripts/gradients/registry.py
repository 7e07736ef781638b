"""The frameworks by name, in the order of the columns: those with gradients, then those without."""

import importlib.util
from functools import partial
from pathlib import Path

from scripts.gradients import dace_frameworks, frameworks, gpu
from scripts.gradients.frameworks import Framework, prepare_jax, prepare_sdfgad

FRAMEWORKS = {
    framework.name: framework
    for framework in (
        Framework("sdfgad", "sdfgad", prepare_sdfgad, frameworks.load_sdfgad),
        Framework("sdfgad-store-all", "sdfgad", partial(prepare_sdfgad, strategy="store_all"), frameworks.load_sdfgad),
        Framework("sdfgad-budget", "sdfgad", frameworks.prepare_budget, frameworks.load_sdfgad),
        Framework("jax-port", "jax", partial(prepare_jax, form="port"), frameworks.load_jax),
        Framework("jax-expert", "jax", partial(prepare_jax, form="expert"), frameworks.load_jax),
        Framework("jax-library", "jax", partial(prepare_jax, form="library"), frameworks.load_jax),
        dace_frameworks.AUTODIFF,
        Framework("numpy", "numpy", frameworks.prepare_numpy, mode="forward"),
        Framework(
            "sdfgad-forward", "sdfgad", frameworks.prepare_sdfgad_forward, frameworks.load_sdfgad, mode="forward"
        ),
        dace_frameworks.FORWARD,
    )
}
# By device.
ON = {"cpu": FRAMEWORKS, "gpu": {framework.name: framework for framework in gpu.FRAMEWORKS}}


def framework_called(name: str, device: str = "cpu") -> Framework:
    """A framework by its name, or by ``FILE.py:function``, a function from a `Task` to a `Ready` for gradients."""
    known = ON[device]
    if name in known:
        return known[name]
    file, _, function = name.rpartition(":")
    spec = importlib.util.spec_from_file_location("framework", file) if file.endswith(".py") else None
    if spec is None or spec.loader is None or not Path(file).exists():
        raise ValueError(f"unknown framework {name!r}; known are: {', '.join(known)}, or FILE.py:function")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return Framework(function, name, getattr(module, function), file=str(Path(file).resolve()))
