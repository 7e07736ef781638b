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


def threads_and_idle_seconds(**environment):
    kept = {k: v for k, v in os.environ.items() if k not in {*PATIENCE, "OMP_WAIT_POLICY"}}
    threads = {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"}
    done = subprocess.run(
        [sys.executable, "-c", IDLE],
        capture_output=True,
        text=True,
        env={**kept, **threads, "PYTHONPATH": str(ROOT), **environment},
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one core has no threads")
def test_threads_without_work_sleep():
    threads, seconds = threads_and_idle_seconds()
    assert threads >= 3
    assert seconds < 2e-3


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one core has no threads")
def test_the_environment_decides():
    threads, seconds = threads_and_idle_seconds(OMP_WAIT_POLICY="active")
    assert threads >= 3
    assert seconds > 10e-3
