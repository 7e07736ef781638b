"""Programs that GCC miscompiled, found by `scripts/fuzz.py`.

It vectorised loops on its own (ADR 15), took addresses for null pointers (ADR 20), or ran trips twice (ADR 22).
"""

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
    Case(
        70135,
        """import numpy as np
def program(x):
    v = x.T
    return np.cumsum(v[:, 3::-1] + v[::-1, 0:4], axis=1)
""",
        {"x": Argument("float", (6, 4))},
    ),
    Case(
        58268,
        """import numpy as np
def program(x, n):
    for j in range(n):
        x[2:, 1:-3] -= 0.5 * (np.sin((x[:-2, :4, :8]) / (1.5 + ((x[-2:0:-1, 1:8:2])) ** 2)))
        x[j - 5, 2, j - 8] = np.tanh(x[j, j, j])
        a, b = x[-3:, :-1:2], x[-2:0:-1, 1:-3]
        x[-3:, 1::2] = np.tanh(np.log(1.5 + a * b * a * b))
    x[:2:-1, 1, 2:8] /= 1.5 + ((x[:-2:2, -6:, -3]) + (x[3, -4:6, -2:0:-1])) ** 2
    return np.sum(x * x)
""",
        {"x": Argument("float", (5, 8, 8)), "n": Argument("trips", high=3)},
    ),
    Case(
        144336,
        """def program(x):
    x = 0.5 * x
    x[1:6, 1:-1, 1:2] += x[1:6, 1:-1, 1:2] * (x[1:6, :-2, 1:2] + x[1:6, 1:-1, 2:])
    return x
""",
        {"x": Argument("float", (3, 8, 3))},
    ),
    Case(
        58422,
        """import numpy as np
def program(x, idx):
    b = x * 0.5
    b[idx] *= np.tanh(x.T)
    b[1:16, 7::-1] += 0.3 * b[:-2, -2::-2]
    return np.sum(b * b)
""",
        {"x": Argument("float", (17, 17)), "idx": Argument("permutation", (17,), high=17)},
    ),
]


def test_programs_that_gcc_miscompiled_are_right():
    with Process(cache_folder()) as process:
        verdicts = process.check(CASES)
    assert [(v.seed, v.kind) for v in verdicts if v.status != "right"] == []
