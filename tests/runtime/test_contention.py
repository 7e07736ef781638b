"""Calls take fewer threads while threads wait for processors, and all of them again when there is calm."""

import contextlib
import itertools
import json
import os
import subprocess
import sys
import time
from statistics import median

import numpy as np
import pytest

from sdfgad.runtime import contention
from sdfgad.runtime.contention import (
    LONGEST_CALM,
    SAMPLE_SECONDS,
    SHORTEST_CALM,
    USER_SETTINGS,
    Contention,
    Team,
    Times,
    thread_times,
)
from tests.test_threads import ROOT


class Machine:
    """Threads of which each runs or waits all the time, on a clock of its own."""

    def __init__(self, processors, monkeypatch):
        monkeypatch.setattr(os, "cpu_count", lambda: processors)
        self.now, self.looks, self.found = 0.0, 0, {"1": Times(0, 0), "2": Times(0, 0)}
        self.contention = Contention(self.times, lambda: self.now)

    def times(self):
        self.looks += 1
        return dict(self.found)

    def passes(self, seconds, waiting):
        """How often the threads are halved after this time, with calls all the time; they wait for so much of it."""
        halvings = []
        for _ in range(round(seconds / SAMPLE_SECONDS)):
            self.now += SAMPLE_SECONDS
            spent = Times(int(1e9 * SAMPLE_SECONDS * (1 - waiting)), int(1e9 * SAMPLE_SECONDS * waiting))
            self.found = {n: Times(t.ran + spent.ran, t.waited + spent.waited) for n, t in self.found.items()}
            halvings.append(self.contention.halvings())
        return halvings


def test_threads_are_halved_while_they_wait(monkeypatch):
    assert Machine(8, monkeypatch).passes(6 * SAMPLE_SECONDS, 0.4) == [1, 2, 3, 3, 3, 3]
    assert Machine(8, monkeypatch).passes(6 * SAMPLE_SECONDS, 0.2) == [0] * 6
    assert Machine(1, monkeypatch).passes(6 * SAMPLE_SECONDS, 0.4) == [0] * 6


def test_in_calm_they_are_all_there_again(monkeypatch):
    machine = Machine(4, monkeypatch)
    assert machine.passes(1.0, 0.4)[-1] == 2
    assert machine.passes(SHORTEST_CALM, 0.0)[-1] == 2
    assert machine.passes(SAMPLE_SECONDS, 0.0)[-1] == 1
    assert machine.passes(SHORTEST_CALM + SAMPLE_SECONDS, 0.0)[-1] == 0


def test_what_was_too_much_again_and_again_is_tried_less_often(monkeypatch):
    machine, halvings = Machine(2, monkeypatch), [0]
    for _ in range(round(60 / SAMPLE_SECONDS)):
        # One thread has a processor for itself, two have not.
        halvings += machine.passes(SAMPLE_SECONDS, 0.0 if halvings[-1] else 0.4)
    trials = [k * SAMPLE_SECONDS for k, (one, next_) in enumerate(itertools.pairwise(halvings)) if one > next_]
    assert halvings.count(0) <= 13
    assert max(np.diff(trials)) == pytest.approx(LONGEST_CALM, abs=2 * SAMPLE_SECONDS)


def test_looks_are_rare_and_may_tell_nothing(monkeypatch):
    machine = Machine(2, monkeypatch)
    machine.passes(SAMPLE_SECONDS, 0.4)
    before = machine.looks
    assert [machine.contention.halvings() for _ in range(100)] == [1] * 100
    assert machine.looks == before
    machine.found = {}
    machine.now += 1.0
    assert machine.contention.halvings() == 1
    silent = Contention(dict, lambda: machine.now)
    machine.now += 1.0
    assert silent.halvings() == 0


def test_threads_of_this_process_have_times():
    start = thread_times()
    deadline = time.process_time() + 0.02
    while time.process_time() < deadline:
        pass
    assert sum(t.ran for t in thread_times().values()) - sum(t.ran for t in start.values()) > 10_000_000


class Shared:
    """The functions of OpenMP of a library."""

    def __init__(self, count, processors):
        self.count = count
        self.omp_get_num_procs = lambda: processors
        self.omp_get_max_threads = lambda: self.count
        self.omp_set_num_threads = Setter(self)


class Setter:
    def __init__(self, shared):
        self.shared = shared

    def __call__(self, count):
        self.shared.count = count


@pytest.mark.parametrize(
    ("count", "processors", "variables", "during"),
    [(8, 8, {}, 2), (2, 2, {}, 1), (3, 8, {}, 3), (8, 8, {"OMP_NUM_THREADS": "8"}, 8), (8, 8, {"OMP_DYNAMIC": "0"}, 8)],
)
def test_what_someone_set_stays(monkeypatch, count, processors, variables, during):
    for name in USER_SETTINGS:
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(contention.CONTENTION, "halvings", lambda: 2)
    shared = Shared(count, processors)
    team = Team(shared)
    before = team.halve()
    assert shared.count == during
    team.restore(before)
    assert shared.count == count


SAME = """
import json, os
import numpy as np
import sdfgad
from sdfgad.runtime.contention import CONTENTION
from tests.runtime.test_contention import waves

halvings = 10
CONTENTION.halvings = lambda: halvings
g, x = sdfgad.grad(waves), np.random.default_rng(0).normal(size=(700, 700))

found, tasks = [], []
for halvings in (10, 0, 10):
    found.append(g(x).tobytes().hex()[:4000])
    tasks.append(len(os.listdir("/proc/self/task")))
child = os.fork()
if not child:
    os._exit(g(x).tobytes().hex()[:4000] != found[0])
assert os.waitpid(child, 0)[1] == 0
print(json.dumps([tasks, found[0] == found[1] == found[2]]))
"""


def waves(x):
    x = np.sin(x @ x) + np.cos(x)
    return np.sum(np.tanh(x) * x)


def without_wishes():
    return {k: v for k, v in os.environ.items() if k not in {*USER_SETTINGS, "OPENBLAS_NUM_THREADS"}} | {
        "PYTHONPATH": str(ROOT)
    }


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one core has no threads")
def test_results_are_the_same_and_threads_come_back():
    done = subprocess.run([sys.executable, "-c", SAME], capture_output=True, text=True, env=without_wishes(), cwd=ROOT)
    assert done.returncode == 0, done.stderr
    (one, all_, again), is_same = json.loads(done.stdout)
    assert one < all_ == again
    assert is_same


# --- on a machine that is really busy

WORK = """
import itertools, json, sys, time
import numpy as np
import sdfgad
from tests.runtime.test_contention import layers, stencil

rng = np.random.default_rng(0)
each = [
    (sdfgad.differentiate(layers), (rng.normal(size=(2048, 64)), rng.normal(size=(8, 64, 64)) / 8)),
    (sdfgad.differentiate(stencil), (40, rng.normal(size=(350, 350)))),
]
for _ in itertools.chain(["warm"], sys.stdin):
    seconds = []
    for g, args in each:
        start = time.perf_counter()
        for _ in range(4):
            g(*args)
        seconds.append(time.perf_counter() - start)
    print(json.dumps(seconds), flush=True)
"""


def layers(x, w):
    for k in range(8):
        x = np.tanh(x @ w[k]) + 0.1 * np.sin(x)
    return np.sum(x)


def stencil(n, a):
    for _ in range(n):
        a[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
    return np.sum(a * a)


def asked(worker):
    worker.stdin.write("again\n")
    worker.stdin.flush()
    return json.loads(worker.stdout.readline())


@pytest.mark.long
@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one core has no threads")
def test_threads_cost_little_on_a_busy_machine():
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "cwd": ROOT}
    alone = without_wishes() | {"OMP_NUM_THREADS": "1"}
    with contextlib.ExitStack() as stack:

        def started(*command, **options):
            process = stack.enter_context(subprocess.Popen([sys.executable, "-c", *command], **options))
            stack.callback(process.kill)
            return process

        workers = [started(WORK, env=env, **pipes) for env in (without_wishes(), alone)]
        for worker in workers:
            assert worker.stdout.readline()
        for _ in range(os.cpu_count()):
            started("while True: pass")
        rounds = [[asked(worker) for worker in workers] for _ in range(9)]
    for program in (0, 1):
        assert median(many[program] / one[program] for many, one in rounds) <= 1.5
