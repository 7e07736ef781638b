"""Ctrl-C while a gradient is parsed, planned, built or run reaches the user and leaves everything usable."""

import pytest

from tests.helpers_cache import cache_with_headers, finished, started

SCRIPT = '''
import os, signal, subprocess, sys, tempfile, threading, time
from pathlib import Path
import numpy as np
import sdfgad
from sdfgad import pipeline, processes
from sdfgad.specialise import specialise
from sdfgad.runtime.call import Executable

MAIN = threading.main_thread().ident
armed = None


def interrupt_in(stage, seconds):
    global armed
    if stage == armed:
        armed = None
        threading.Timer(seconds, signal.pthread_kill, (MAIN, signal.SIGINT)).start()


def hooked(stage, function):
    def first_armed(*args, **kwargs):
        interrupt_in(stage, 0.0)
        return function(*args, **kwargs)

    return first_armed


class Popen(subprocess.Popen):
    """CBC takes long here, as it does for big programs."""

    def __init__(self, command, **options):
        if Path(command[0]).name == "cbc":
            command = ["sh", "-c", 'sleep 3; exec "$0" "$@"', *command]
        super().__init__(command, **options)
        interrupt_in(Path(command[-1] if command[0] == "sh" else command[0]).name.replace("solution", "cbc"), 0.2)


processes.subprocess.Popen = Popen
specialise.parse = hooked("parse", specialise.parse)
pipeline.differentiate_program = hooked("reverse", pipeline.differentiate_program)
Executable.__call__ = hooked("run", Executable.__call__)


def powers(x, n):
    for _ in range(n):
        x = np.sin(x) * x
    return np.sum(x)


def expected(x, n):
    """By the chain rule."""
    bar = np.ones_like(x)
    for _ in range(n):
        bar, x = bar * (np.cos(x) * x + np.sin(x)), np.sin(x) * x
    return bar


def children():
    return [child for task in Path("/proc/self/task").iterdir() for child in (task / "children").read_text().split()]


def leftovers():
    cache = Path(os.environ["SDFGAD_CACHE_DIR"])
    partial = [path for path in (cache / "partial").glob("*/*")]
    return partial + list(Path(tempfile.gettempdir()).iterdir())


size = 2000
for stage in sys.argv[1:]:
    size += 1
    x = np.linspace(0.1, 1.0, size)
    g = sdfgad.differentiate(powers, wrt="x", memory_limit=f"{size * 8 * 60} B")
    armed = stage
    try:
        g(x, 100)
        while True:
            time.sleep(0.01)  # The interrupt may be late, but comes.
    except KeyboardInterrupt:
        print(stage, "interrupted" if armed is None else "too early", children(), leftovers())
    np.testing.assert_allclose(g(x, 100), expected(x, 100), rtol=1e-12)
    assert [*children(), *leftovers()] == [], [*children(), *leftovers()]
'''


@pytest.mark.long
@pytest.mark.parametrize(
    "stages", [["parse", "reverse", "run"], ["g++", "cbc"]], ids=["within this process", "in another program"]
)
def test_an_interrupt_leaves_everything_usable(tmp_path, stages):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    (tmp_path / "tmp").mkdir()
    process = started(script, cache_with_headers(tmp_path / "cache"), *stages, TMPDIR=str(tmp_path / "tmp"))
    assert finished(process).splitlines() == [f"{stage} interrupted [] []" for stage in stages]
