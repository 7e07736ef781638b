"""JAX, the reference for gradients, computes in double precision; optimised code is what tests look at."""

import gc
import importlib.metadata
import inspect
import itertools
import os
import sys

import dace
import jax
import numpy as np
import pytest

from sdfgad.parse import interpreter

# tests/runtime/test_differential.py switches it on.
os.environ.setdefault("SDFGAD_CHECK", "off")
# Every program that a pass makes is well-formed.
os.environ.setdefault("SDFGAD_VERIFY", "1")
jax.config.update("jax_enable_x64", True)
# A reference runs once or twice: it takes longer to compile than to run. XLA reads its flags when it first compiles. It
# ends the process where it does not know one, so only releases that were tried get them.
jax.config.update("jax_disable_most_optimizations", True)
if importlib.metadata.version("jaxlib").startswith("0.10."):
    quick = "--xla_cpu_use_fusion_emitters=false --xla_cpu_parallel_codegen_split_count=1"
    os.environ["XLA_FLAGS"] = f"{quick} {os.environ.get('XLA_FLAGS', '')}"


def _place_of_caller(explicit):
    """What DaCe notes for each node that a graph gets: without a look at all frames and modules, which takes 30 ms."""
    if dace.Config.get("compiler", "lineinfo") == "none":
        return None
    frame = sys._getframe(2)
    file = inspect.getsourcefile(frame) or inspect.getfile(frame)
    return explicit or dace.dtypes.DebugInfo(frame.f_lineno, 0, frame.f_lineno, 0, file)


dace.sdfg.state._get_debug_info = _place_of_caller

# Thousands of tests leave millions of objects in caches: to look through all of them takes Python's collector seconds.
gc.set_threshold(20_000, 10, 20)
TESTS_BETWEEN_FREEZES = 100
_tests = itertools.count(1)


def pytest_collection_modifyitems(items):
    """What takes a minute or half of one begins first: begun last, one worker would wait for the other."""
    longest = ("tests/test_newcomer.py", "tests/scripts/")
    items.sort(key=lambda item: not item.nodeid.startswith(longest))


def pytest_collection_finish():
    gc.freeze()


def _noted(error, *args):
    interpreter.UnsupportedProgram.__init__(error, *args)
    _failures_of_the_parser.append(error)


_failures_of_the_parser = []
interpreter.ParserFails.__init__ = _noted


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Where the parser itself fails in an attempt, the next one may hide it: a test does not."""
    _failures_of_the_parser.clear()
    result = yield
    if _failures_of_the_parser and not item.get_closest_marker("parser_fails"):
        raise _failures_of_the_parser[0]
    return result


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown():
    """Now and then all that is left of tests is put out of the collector's sight, but for what is garbage."""
    if next(_tests) % TESTS_BETWEEN_FREEZES == 0:
        gc.collect()
        gc.freeze()


@pytest.fixture
def rng():
    return np.random.default_rng(20240607)
