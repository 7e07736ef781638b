"""Prints how many microseconds a call of a small gradient takes: nearly all of it is spent in Python.

Run as ``python scripts/call_overhead.py``.
"""

import sys
import timeit
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np

import sdfgad

CALLS, REPEATS = 500, 15


def energy(x):
    return np.sum(x * x)


def relaxed(x, y, n):
    for _ in range(n):
        x[1:] = x[:-1] * y[1:]
    return np.sum(x)


def cases() -> dict[str, Callable[[], object]]:
    """The calls, by their text."""
    x, y = np.linspace(0.0, 1.0, 10), np.linspace(1.0, 2.0, 10)
    g, h = sdfgad.differentiate(energy, wrt="x"), sdfgad.differentiate(relaxed)
    return {
        "g(x)": lambda: g(x),
        "g.value_and_grad(x)": lambda: g.value_and_grad(x),
        "g.vjp(x, cotangent=2.0)": lambda: g.vjp(x, cotangent=2.0),
        "g.value(x)": lambda: g.value(x),
        "h(x, y, 3)": lambda: h(x, y, 3),
        "h(x, n=3, y=y)": lambda: h(x, n=3, y=y),
    }


def main() -> None:
    for text, call in cases().items():
        call()
        times = sorted(timeit.repeat(call, number=CALLS, repeat=REPEATS))
        print(f"{text:26} {times[0] / CALLS * 1e6:6.1f} us (median {times[REPEATS // 2] / CALLS * 1e6:.1f})")


if __name__ == "__main__":
    main()
