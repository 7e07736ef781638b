"""Programs that GCC miscompiled while it vectorised loops on its own (ADR 15), found by `scripts/fuzz.py`."""

from scripts.fuzzing.case import Argument, Case
from scripts.fuzzing.process import Process
from sdfgad.cache import cache_folder

X = Argument("float", (7, 5, 9))
CASES = [
    Case(
        20143,
        """import numpy as np
def program(x):
    x[1:-1, 1:-1, 1:-1] = 0.2 * x[1:-1, :-2, 1:-1] + 0.2 * x[1:-1, 1:-1, 1:-1]
""",
        {"x": X},
        "x",
    ),
    Case(
        33,
        """import numpy as np
def program(x, z):
    s = z[-2, -1]
    x[1:-1, 1:6] += (0.3 * x[2:, 1:6] + 0.3 * x[2:, 1:6] + 0.2 * x[1:-1, 1:6]) * s
    return np.sum(x * x) + s
""",
        {"x": Argument("float", (6, 7)), "z": Argument("float", (7, 7))},
    ),
    Case(
        20123,
        """import numpy as np
def program(x, n):
    w = 0
    while w < 3:
        w += 1
        x[1:6, 1:-1, 1:-1] += np.sin(0.3 * x[:-2, 1:-1, 1:-1] + 0.2 * x[1:6, 2:, 1:-1])
    for i in range(n):
        y = 0.3 * x[1:6, :-2, 1:8] + -0.1 * x[1:6, 1:6, :-2] + 0.2 * x[1:6, 1:6, 2:]
        x[1:6, 1:6, 1:8] += x[1:6, 1:6, 1:8] * y
    return np.sum(x * x)
""",
        {"x": Argument("float", (7, 7, 9)), "n": Argument("trips", high=3)},
    ),
]


def test_programs_that_gcc_miscompiled_are_right():
    with Process(cache_folder()) as process:
        verdicts = process.check(CASES)
    assert [(v.seed, v.kind) for v in verdicts if v.status != "right"] == []
