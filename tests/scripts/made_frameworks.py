"""Frameworks that tests of the gradient benchmark hand to it: some are wrong, warn, raise or die; one never ends."""

import os
import time
import warnings
from dataclasses import replace

from scripts.gradients.frameworks import Ready, Task, prepare_jax
from sdfgad.errors import MiscompiledWarning


def off_by_a_hundredth(task: Task) -> Ready:
    ready = prepare_jax(task, "reference")
    first = task.entry.arrays[0]
    return replace(ready, named=lambda found: (right := ready.named(found)) | {first: 1.01 * right[first]})


def on_plain_code(task: Task) -> Ready:
    warnings.warn("another warning", UserWarning, stacklevel=1)
    warnings.warn("optimised code is wrong", MiscompiledWarning, stacklevel=1)
    return prepare_jax(task, "reference")


def failing(task: Task) -> Ready:
    raise RuntimeError("it fell over\nand more")


def dying(task: Task) -> Ready:
    os._exit(3)


def sleeping(task: Task) -> Ready:
    time.sleep(600)
    raise AssertionError("never reached")
