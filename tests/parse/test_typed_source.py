"""Functions that were typed: after ``python -c``, at the prompt, and in a notebook."""

import linecache
import os
import pty
import subprocess
import sys

import numpy as np
import pytest

import sdfgad
from sdfgad.parse.typed_source import blocks

PROGRAM = """import numpy as np, sdfgad
def f(x):
    y = x ** 2

    return np.sum(y)

g = lambda x: np.sum(x ** 3)
print("found", sdfgad.grad(f)(np.ones(2)).tolist(), sdfgad.grad(g)(np.ones(2)).tolist())
"""
FOUND = "found [2.0, 2.0] [3.0, 3.0]"


def test_after_c():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert FOUND in done.stdout


def test_at_the_prompt(tmp_path):
    """In a terminal, where Python keeps what was typed."""
    leader, follower = pty.openpty()
    environment = {**os.environ, "HOME": str(tmp_path), "TERM": "dumb"}
    process = subprocess.Popen(
        [sys.executable, "-q"], stdin=follower, stdout=follower, stderr=follower, env=environment, cwd=os.getcwd()
    )
    os.close(follower)
    # At the prompt an empty line ends a function.
    typed = PROGRAM.replace("\n\n    return", "\n    return") + "exit()\n"
    os.write(leader, typed.encode())
    shown = b""
    try:
        while part := os.read(leader, 4096):
            shown += part
    except OSError:
        pass  # So a terminal ends.
    finally:
        os.close(leader)
        process.wait(60)
    assert FOUND in shown.decode()


def test_in_a_notebook():
    """As IPython keeps the text of a cell."""
    name = "<ipython-input-1-0123456789ab>"
    text = "def cell(x):\n    return np.sum(x**3)\n"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    space = {"np": np}
    exec(compile(text, name, "exec"), space)
    np.testing.assert_allclose(sdfgad.grad(space["cell"])(np.array([1.0, 2.0])), [3.0, 12.0])


TYPED = [
    *("x = 1", "@once", "def f(x):", "    return x", "def f(x):", "    return 2"),
    *("h = lambda x: x", "def g(x): return x"),
]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("f", ["def f(x):\n    return 2\n", "def f(x):\n    return x\n", "@once\ndef f(x):\n    return x\n"]),
        ("g", ["def g(x): return x\n", "@once\ndef f(x):\n    return x\n"]),
        ("<lambda>", ["h = lambda x: x\n", "@once\ndef f(x):\n    return x\n"]),
    ],
)
def test_blocks(name, found):
    assert list(blocks(TYPED, name)) == found
