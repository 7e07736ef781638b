"""Threads of compiled programs: those without work do not keep others from theirs."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import sdfgad
from sdfgad.threads import PATIENCE

ROOT = Path(sdfgad.__file__).parent.parent
IDLE = """
import json, os, time
import numpy as np
import sdfgad
from tests.test_threads import total

g = sdfgad.differentiate(total)
a = np.full((1500, 1500), 1e-3)
before = dict(os.environ)
g(a)
assert dict(os.environ) == before
threads = len(os.listdir("/proc/self/task"))
spent = []
for _ in range(5):
    g(a)
    start = time.process_time()
    time.sleep(0.05)
    spent.append(time.process_time() - start)
print(json.dumps([threads, sorted(spent)[2]]))
"""


def total(a):
    return np.sum(np.sin(a @ a))


def rows(x):
    return np.sum(np.sin(np.cos(np.sin(x))), axis=1)


def run(text, **environment):
    """What a process with two threads prints."""
    kept = {k: v for k, v in os.environ.items() if k not in {*PATIENCE, "OMP_WAIT_POLICY"}}
    threads = {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"}
    done = subprocess.run(
        [sys.executable, "-c", text],
        capture_output=True,
        text=True,
        env={**kept, **threads, "PYTHONPATH": str(ROOT), **environment},
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one core has no threads")
def test_threads_without_work_sleep():
    threads, seconds = run(IDLE)
    assert threads >= 3
    assert seconds < 2e-3


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one core has no threads")
def test_the_environment_decides():
    threads, seconds = run(IDLE, OMP_WAIT_POLICY="active")
    assert threads >= 3
    assert seconds > 10e-3


SHARE = """
import json, os
import numpy as np
import sdfgad
from tests.test_threads import rows

def ticks():
    texts = [open(f"/proc/self/task/{task}/stat").read() for task in os.listdir("/proc/self/task")]
    return {text.split()[0]: sum(map(int, text.rpartition(")")[2].split()[11:13])) for text in texts}

# Fewer rows than there are parts.
g, x = sdfgad.differentiate(rows), np.full((6, 200_000), 0.5)
g.vjp(x, cotangent=np.ones(6))
before = ticks()
for _ in range(10):
    g.vjp(x, cotangent=np.ones(6))
print(json.dumps(sorted(v - before.get(k, 0) for k, v in ticks().items())[-2:]))
"""


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one core has no threads")
def test_each_thread_gets_its_share_of_few_trips():
    less, more = run(SHARE)
    assert less > 0.5 * more


PRODUCTS = """
import ctypes, json
import numpy as np
import scipy_openblas32
import sdfgad
from tests.test_threads import solved, total

library = f"{scipy_openblas32.get_lib_dir()}/lib{scipy_openblas32.get_library()}.so"
count = ctypes.CDLL(library).scipy_openblas_get_num_threads
counts = [count()]
for size in (40, 400):
    a = np.random.default_rng(0).normal(size=(size, size)) / size + np.eye(size)
    for function in (total, solved):
        sdfgad.differentiate(function)(a)
        counts.append(count())
print(json.dumps(counts))
"""


def solved(a):
    return np.sum(np.linalg.solve(a, a * a))


def test_products_small_and_large_leave_the_number_of_threads_as_it_was():
    assert run(PRODUCTS) == [2] * 5
