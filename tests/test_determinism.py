"""Generated code, plans and gradients do not depend on hash seeds, the order of calls, processes or threads."""

import json
import shutil
import subprocess
import sys

import pytest

import npbench_suite
from sdfgad.cache import cache_folder
from sdfgad.plan.machine import machine
from tests.helpers_cache import ROOT, environment

OWN = ["triangular", "branching", "gathering", "smooth"]
# Programs with library calls, tapes that the solver decides about, gathers, in-place loops and many statements.
SUITE = ["nbody", "spmv", "ludcmp", "cavity_flow", "lenet", "adi"]


def begun(what, names, cache, **variables):
    command = [sys.executable, "-m", "tests.determinism", what, *names]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, cwd=ROOT, env=environment(cache, **variables), text=True, **pipes)


def made(process):
    said, complaint = process.communicate(timeout=1200)
    assert process.returncode == 0, complaint
    return json.loads(said)


def cache_with_constants(folder):
    """Nothing is recalled, but plans are made for the same machine."""
    machine()
    folder.mkdir(mode=0o700)
    shutil.copytree(cache_folder() / "machine", folder / "machine")
    return folder


def test_code_and_plans_of_two_seeds_in_processes_side_by_side(tmp_path):
    """In opposite orders."""
    names = [*OWN, "spmv"]
    orders = {"1": names, "2": names[::-1]}
    processes = [
        begun("code", order, cache_with_constants(tmp_path / seed), PYTHONHASHSEED=seed)
        for seed, order in orders.items()
    ]
    one, other = map(made, processes)
    assert one == other
    assert len(one) == len(names)


@pytest.mark.long
@pytest.mark.parametrize("names", [[*OWN, *SUITE]], ids=["ten programs"])
def test_code_and_plans_of_ten_seeds(tmp_path, names):
    found = []
    for seed in range(10):
        order = names[seed:] + names[:seed]
        cache = cache_with_constants(tmp_path / str(seed))
        found.append(made(begun("code", order, cache, PYTHONHASHSEED=str(seed))))
    assert all(one == found[0] for one in found)


@pytest.mark.long
def test_code_and_plans_of_the_whole_suite(tmp_path):
    names = [name for name in npbench_suite.names() if npbench_suite.load(name).arrays]
    orders = {"20": names, "21": names[::-1]}
    one, other = (
        made(begun("code", order, cache_with_constants(tmp_path / seed), PYTHONHASHSEED=seed))
        for seed, order in orders.items()
    )
    assert {name for name in names if one[name] != other[name]} == set()


@pytest.mark.parametrize(
    "names",
    [["gathering", "sums", "products"], pytest.param([*OWN, *SUITE], marks=pytest.mark.long)],
    ids=["three", "ten"],
)
def test_values_and_gradients_of_one_two_and_four_threads(names):
    """Bit for bit, in loops of the program and in parts of products."""
    found = [
        made(begun("gradients", names, cache_folder(), OMP_NUM_THREADS=number, OPENBLAS_NUM_THREADS=number))
        for number in "124"
    ]
    assert found[0] == found[1] == found[2]
