"""Time J t and products with the Hessian of all programs, beside their forward runs, gradients, and JAX's.

The Hessian is that of the sum of the main output; JAX's is the derivative of its gradient in a direction (forward over
reverse), of the program's expert form, under `jit`. All are timed in turns.
"""

import argparse
import inspect
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import npbench_suite
from sdfgad.api.products import along, gradient_of, weighted_curved
from sdfgad.errors import UnsupportedProgram

jax.config.update("jax_enable_x64", True)
# Rounds in which all take turns, and the least seconds of one timing.
ROUNDS, LEAST = 5, 0.01
COLUMNS = "forward", "gradient", "J t", "H t", "JAX: J t", "JAX: H t"


def random_like(array: Any, rng: np.random.Generator) -> Any:
    array = np.asarray(array)
    values = rng.standard_normal(array.shape)
    return (values + 1j * rng.standard_normal(array.shape) if array.dtype.kind == "c" else values).astype(array.dtype)


def ours(entry: npbench_suite.Entry, arguments: tuple, positions: tuple, tangent: tuple) -> dict[str, Callable]:
    g = gradient_of(entry.program, positions, entry.output)
    value = np.asarray(g.value(*arguments))
    ones, tangents = np.ones_like(value), dict(zip(positions, tangent, strict=True))
    all_tangents = tuple(tangents.get(k) for k in range(len(arguments)))
    return {
        "forward": lambda: g.value(*arguments),
        "gradient": lambda: g.vjp(*arguments, cotangent=ones),
        "J t": lambda: along(g, tuple(arguments), tangents),
        "H t": lambda: weighted_curved(g, tuple(arguments), ones, all_tangents),
    }


def of_jax(entry: npbench_suite.Entry, arguments: tuple, positions: tuple, tangent: tuple) -> dict[str, Callable]:
    """JAX's products, of the expert form; none where there is no such form, or its output is complex."""
    form = entry.jax_forms.get("expert")
    if form is None:
        return {}

    def by_arrays(*arrays: Any) -> Any:
        values = list(arguments)
        for k, array in zip(positions, arrays, strict=True):
            values[k] = array
        return form(*values)

    arrays = tuple(jax.numpy.asarray(arguments[k]) for k in positions)
    tangents = tuple(map(jax.numpy.asarray, tangent))
    if jax.eval_shape(by_arrays, *arrays).dtype.kind == "c" or any(one.dtype.kind == "c" for one in arrays):
        return {}
    gradient = jax.grad(lambda *a: by_arrays(*a).sum(), tuple(range(len(arrays))))
    push = jax.jit(lambda a, t: jax.jvp(by_arrays, a, t)[1])
    curve = jax.jit(lambda a, t: jax.jvp(gradient, a, t)[1])
    return {
        "JAX: J t": lambda: jax.block_until_ready(push(arrays, tangents)),
        "JAX: H t": lambda: jax.block_until_ready(curve(arrays, tangents)),
    }


def in_turns(runs: dict[str, Callable]) -> dict[str, float]:
    """The median seconds of each."""
    found: dict[str, list[float]] = {name: [] for name in runs}
    repeats = {}
    for name, run in runs.items():
        run()
        repeats[name] = max(1, int(LEAST / seconds_of(run, 1)))
    for _ in range(ROUNDS):
        for name, run in runs.items():
            found[name].append(seconds_of(run, repeats[name]))
    return {name: statistics.median(times) for name, times in found.items()}


def seconds_of(run: Callable, repeats: int) -> float:
    start = time.perf_counter()
    for _ in range(repeats):
        run()
    return (time.perf_counter() - start) / repeats


def measured(name: str, preset: str) -> dict[str, float]:
    entry, rng = npbench_suite.load(name), np.random.default_rng(0)
    arguments = entry.arguments_for(preset)
    parameters = list(inspect.signature(entry.program).parameters)
    positions = tuple(parameters.index(one) for one in entry.arrays)
    tangent = tuple(random_like(arguments[k], rng) for k in positions)
    runs = ours(entry, arguments, positions, tangent)
    try:
        runs["H t"]()
    except UnsupportedProgram as error:
        # A loop ends by data.
        print(f"{name}: H t: {error.what}", file=sys.stderr)
        del runs["H t"]
    return in_turns({**runs, **of_jax(entry, arguments, positions, tangent)})


def ratios(times: dict[str, float]) -> list[float | None]:
    """J t over the forward run, H t over the gradient, and JAX's times over ours."""
    pairs = ("J t", "forward"), ("H t", "gradient"), ("JAX: J t", "J t"), ("JAX: H t", "H t")
    return [times[one] / times[other] if one in times and other in times else None for one, other in pairs]


def row(name: str, times: dict[str, float]) -> str:
    cells = [f"{1e3 * times[one]:.3g} ms" if one in times else "–" for one in COLUMNS]
    return f"| {name} | {' | '.join([*cells, *(f'{one:.2f}' if one else '–' for one in ratios(times))])} |"


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("-b", "--benchmarks", nargs="+", metavar="NAME", help="programs (default: NPBench's)")
    parser.add_argument("-p", "--preset", default="S", help="sizes (default: S)")
    chosen = parser.parse_args(argv)
    names = chosen.benchmarks or [name for name in npbench_suite.names() if npbench_suite.load(name).arrays]
    print(f"| program | {' | '.join(COLUMNS)} | J t/forward | H t/gradient | JAX/ours: J t | H t |")
    print(f"|---|{'---:|' * (len(COLUMNS) + 4)}")
    found = []
    for name in names:
        times = measured(name, chosen.preset)
        found.append(ratios(times))
        print(row(name, times), flush=True)
    means = [statistics.geometric_mean([one for one in column if one]) for column in zip(*found, strict=True)]
    print(f"| geometric mean | {'| ' * len(COLUMNS)}{' | '.join(f'{mean:.2f}' for mean in means)} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
