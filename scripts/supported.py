"""Writes docs/supported.md from the tests: NumPy functions, programs and statements that sdfgad takes.

The cases are those of tests/table; what is refused today is in tests/table/refused.txt, which ``--measure`` writes anew
by parsing every case and deriving its gradient. With ``--check`` nothing is written, and the exit status says whether
the page is up to date.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import npbench_suite
from tests.table import CASES
from tests.table.cases import Case
from tests.table.oracle import REFUSED, alone, stage

PAGE = ROOT / "docs" / "supported.md"

# What the language offers -> the file of its tests, or a part of one.
STATEMENTS = {
    "`for` over ranges of any start, stop, step and sign": "tests/parse/test_loops.py",
    "`for` over arrays, tuples, `zip`, `enumerate`, `reversed`": "tests/parse/test_structured_control.py",
    "`while` that counts (`while k < n: ...; k += 1`): a loop over a range": "tests/parse/test_induction_variables.py",
    "`while`, `break`, `continue`, `else`, early `return`, `raise`": "tests/parse/test_structured_control.py",
    "names that only some paths bind": "tests/parse/test_structured_control.py",
    "arrays swapped in loops, or chosen by a branch and then updated in place": "tests/parse/test_merging.py",
    "dicts, lists, tuples, named tuples, dataclasses and objects as arguments and results": "tests/api/test_trees.py",
    "items of containers and attributes of objects that loops and branches bind anew": "tests/parse/test_items.py",
    "classes: methods, properties, inheritance, `super()`, `dataclasses.replace`": "tests/parse/test_objects.py",
    "classes that the function itself defines": "tests/parse/test_local_classes.py",
    "lists that loops, or functions called in them, fill": "tests/parse/test_filled_lists.py",
    "`collections.deque`": "tests/parse/test_deques.py",
    "bound methods, `functools.partial`, objects with `__call__`": "tests/api/test_callables.py",
    "elements of integer arrays as shifts, shapes and axes": "tests/parse/test_constants.py",
    "sparse matrices of `scipy.sparse`: products, assembly, parts, `spsolve`, `splu`": "tests/parse/test_sparse_operations.py",  # noqa: E501
    "sparse matrices of diagonals and blocks, single elements, functions of elements": "tests/parse/test_sparse_formats.py",  # noqa: E501
    "`cg`, `gmres`, `expm_multiply`, `norm` of sparse matrices": "tests/parse/library/test_sparse_solvers.py",
    "`np.ndenumerate`, `np.ndindex`": "tests/parse/library/test_places.py",
    "random numbers of NumPy and Python, drawn inside": "tests/api/test_random_numbers.py",
    "sparse matrices as arguments": "tests/parse/test_sparse_arguments.py",
    "cubic splines of `scipy.interpolate`": "tests/api/test_splines.py",
    "`BSpline`, `make_interp_spline`, `splrep`, `splev`, `UnivariateSpline`, `RectBivariateSpline`": "tests/parse/library/test_bsplines.py",  # noqa: E501
    "`solve_ivp` and `odeint` of `scipy.integrate`": "tests/api/test_initial_values.py",
    "`sdfgad.solve_ivp` with its continuous adjoint": "tests/api/test_continuous.py",
    "`quad` and `fixed_quad` of `scipy.integrate`": "tests/api/test_quadrature.py",
    "`brentq`, `bisect`, `newton` and `root_scalar` of `scipy.optimize`": "tests/api/test_roots.py",
    "`root`, `fsolve` and `fixed_point` of `scipy.optimize`": "tests/api/test_implicit.py",
    "`RegularGridInterpolator`, `map_coordinates`, `cdist`, `pdist`": "tests/api/test_grids_and_distances.py",
    "`np.sort`, `np.median`, `np.cumsum`, `np.quantile` of `x[mask]`": "tests/parse/library/test_selected.py",
    "Python's `min`, `max`, `sum` of `x[mask]`; distributions of constants": "tests/parse/test_selected_numbers.py",
    "loops over `np.arange` with run-time bounds": "tests/parse/test_iterables.py",
    "integers that decide how long a list is": "tests/parse/test_integers_that_decide.py",
    "lists that a loop fills and reads (`u.append(f(u[-1]))`)": "tests/parse/test_trajectories.py",
    "index arrays of sparse matrices that loops fill with known numbers": "tests/parse/test_partial_evaluation.py",
    "lists that loops of loops fill, such as triplets of sparse matrices": "tests/parse/test_nested_appends.py",
    "lists of which loops replace items (`xs[k] = f(xs[k + 1])`)": "tests/parse/test_stored_lists.py",
    "lists of tuples of arrays (`caches.append((x, h))`)": "tests/parse/test_columns.py",
    "lists of alike arrays, tuples or dicts (`[x0, *rows]`, `rows[::-1]`)": "tests/parse/test_item_arrays.py",
    "named tuples with operators and properties of their own": "tests/parse/test_tuple_methods.py",
    "loops over objects of several classes, tuples and dicts with texts in them": "tests/parse/test_type_switch.py",
    "loops whose first trips give lists and dicts their lengths and keys": "tests/parse/test_warm_up.py",
    "`is` between items of lists": "tests/parse/test_identity.py",
    "first and last items of lists whose length is data (`while errors[-1] > tol`)": "tests/parse/test_delay_lines.py",
    "stacks and queues whose length is data (`while stack: a, b = stack.pop()`)": "tests/parse/test_stacks.py",
    "functions that return sums with calls of themselves, as deep as data decides (`f(a, m) + f(m, b)`)": (
        "tests/parse/test_recursion.py"
    ),
    "lists of which loops and branches move the items and keep the number (`h.append(h.pop(0) * a)`)": (
        "tests/parse/test_carried_lists.py"
    ),
    "lists that are sorted by data or searched for it": "tests/parse/test_data_order.py",
    "comprehensions with a condition on data of numbers, arrays, tuples and dicts": "tests/parse/test_filtered.py",
    "branches on data, outside of loops that data ends, whose sides leave other shapes or kinds, or change lists": (
        "tests/parse/test_blame.py"
    ),
    "lengths that data decides (`np.zeros(int(np.ceil(a)))`, `x[mask]` passed on), whole lists of such": (
        "tests/parse/test_value_specialisation.py"
    ),
    "checks that raise, before statements that bind attributes or change shapes": "tests/parse/test_guard_clauses.py",
    "`raise` in branches on data that a `try` around catches": "tests/parse/test_caught.py",
    "`raise` on data in functions that a `try` calls": "tests/parse/test_throwing.py",
    "operations that raise where data decides, and assertions, in a `try`": "tests/parse/test_operations_that_raise.py",
    "objects of several classes of which data decides one": "tests/parse/test_polymorphic.py",
    "`try` whose handler an index or name may reach: compiled code raises there": "tests/parse/test_exceptions.py",
    "attributes that a loop or branch sets first": "tests/parse/test_late_attributes.py",
    "attributes that `__getattr__` computes, and classes that are mappings": "tests/parse/test_mappings.py",
    "objects that refer to each other, lists and dicts that contain themselves": "tests/parse/test_object_graphs.py",
    "items of lists of numbers at places that data decides, `bisect`": "tests/parse/test_chosen_items.py",
    "values that are None on some paths, and `is None` of them": "tests/parse/test_optional_values.py",
    "`with`: context managers of the user's classes, `np.errstate`, `warnings.catch_warnings`, `np.printoptions`": (
        "tests/parse/test_context_managers.py"
    ),
    "calls of `print`, `warnings` and `logging`, which are left out": "tests/parse/test_ignored_calls.py",
    "`str` and `%`, `decimal`, `re`, arrays of None, `super(A, self)`, decorators": (
        "tests/parse/test_texts_and_exact_numbers.py"
    ),
    "functions of `np.emath` of complex numbers": "tests/parse/test_emath.py",
    "names that a branch binds, and its other side reads in a later trip": "tests/parse/test_names_bound_in_loops.py",
    "lists that are never read": "tests/parse/test_lists_that_are_never_read.py",
    "comprehensions, lambdas, nested functions, closures, `partial`": "tests/parse/test_refusals.py",
    "boolean masks, several integer arrays, for reading and writing": "tests/parse/test_gathering.py",
    "complex numbers": "tests/rules/test_complex.py",
    "bounds that are run-time arguments, or data": "tests/parse/test_control_at_run_time.py",
    "`if` on indices, arguments and data; `and`, `or`, `not`; conditional expressions": "tests/parse/test_conditions.py",  # noqa: E501
    "`if` in loops, and loops in `if`": "tests/parse/test_control.py",
    "slices, negative steps, `None`, `...`, elements, integer arrays as indices": "tests/parse/test_indexing.py",
    "views, and writes through them": "tests/parse/test_views.py",
    "reshaped arrays as views and copies, by NumPy's order in memory": "tests/parse/test_layout.py",
    "names bound to the same array, swapped, bound in branches": "tests/parse/test_interpreter.py",
    "lists and dicts with several names": "tests/parse/test_shared_lists.py",
    "`zip`, `enumerate` and `reversed` kept in names": "tests/parse/test_iterators.py",
    "helper functions, closures, default and keyword arguments": "tests/parse/test_calls.py",
    "operators, in-place operators, integers that wrap around": "tests/parse/test_operators.py",
}

COMPILERS = """\
`CXX` is the command of the compiler, with options if need be; without it, it is `g++`, and where there is none,
clang from wheels, which `pip install ziglang intel-openmp` installs, or `pip install ".[compiler]"` in a checkout of
sdfgad. What has been run is in the table; whatever a compiler does, its optimised code is tested by plain code in the
first call of each library ([ADR 16](adr/0016-optimised-code-is-tested-by-plain-code.md)).

| compiler | what was run on 2026-11-22 and 23 (x86-64, AVX2) |
|---|---|
| g++ 12.2 | all tests |
| g++ 11.3 | values and gradients of all programs of the suite, by all outputs \
(`tests/npbench_suite/test_gradients.py`, `test_integer_programs.py`, `tests/runtime/test_miscompiled.py`, \
`test_compile.py`): 685 passed |
| clang 19.1 (with libomp-19-dev) | the same: 684 passed |
| clang 14 | only code without OpenMP, for ADR 15: its libomp-14-dev cannot be installed beside that of clang 19 |
| the wheels: zig c++ of ziglang 0.17.1 (clang 22), OpenMP of intel-openmp 2026.2 | values and \
gradients of all programs of the suite (659 passed); speed, see below |
| g++ 13, 14 | not run: in no registry that this project reaches |

The wheels take 655 MB; Zig compiles its own libraries in the very first call of a machine, which takes a minute or two.
Gradients of 24 programs of the suite at S on one thread, interleaved, g++ 12.2 / wheels, minima: 1.06 in the geometric
mean, 0.65 (cavity_flow), 0.83 (softmax) to 1.39 (adi), 1.84 (nbody).
"""


# --- the list of what is refused


def measured(cases: Iterable[Case]) -> dict[str, str]:
    """The stage of each case, by id: "" where it is taken. What was known to be wrong stays so."""
    found = {}
    for case in cases:
        try:
            found[case.id] = alone(case).refused_at or ("alone" if stage(case) == "alone" else "")
        except Exception:
            found[case.id] = "alone"
    return found


def refused_text(stages: Mapping[str, str], cases: Iterable[Case]) -> str:
    """The stages as lines, one for all cases of a dtype, a function or a label where they agree."""
    ways = [
        lambda c: f"* {c.dtype}",
        lambda c: c.function,
        lambda c: f"{c.function} {c.dtype}",
        lambda c: c.label,
        lambda c: c.id,
    ]
    lines, left = [], [case for case in cases if stages[case.id]]
    for way in ways:
        every: dict[str, set[str]] = {}
        for case in cases:
            every.setdefault(way(case), set()).add(stages[case.id])
        whole = {key for key, found in every.items() if len(found) == 1}
        done = [case for case in left if way(case) in whole]
        lines += sorted({f"{stages[case.id]}: {way(case)}" for case in done})
        left = [case for case in left if way(case) not in whole]
    head = (
        "# The cases of the table that sdfgad refuses, and where; `scripts/supported.py --measure` writes this file.\n"
    )
    return head + "".join(line + "\n" for line in lines)


# --- the page


def page_text() -> str:
    """docs/supported.md."""
    parts = [
        "# What is supported\n",
        f"Made by `scripts/supported.py` from the tests; each function is tested with several shapes and layouts, "
        f"{len(CASES):,} cases in all.\n",
        "`64` is float64, `32` float32, `c` complex128. *part*: some of the cases are refused. A function that has no "
        "derivative is *constant*: nothing flows through it.\n",
    ]
    groups = dict.fromkeys(case.group for case in CASES)
    parts += [_group(name, [case for case in CASES if case.group == name]) for name in groups]
    parts.append("## Statements\n\n| what | tests |\n|---|---|")
    parts += [f"| {what} | [{Path(where).name}](../{where}) |" for what, where in STATEMENTS.items()]
    parts += ["\n## Compilers\n", COMPILERS]
    parts.append("\n## Programs\n\nDifferentiated and compared with JAX, in `npbench_suite`:\n")
    parts.append(", ".join(f"`{name}`" for name in npbench_suite.names()) + "\n")
    return "\n".join(parts)


def _group(name: str, cases: list[Case]) -> str:
    lines = [f"## {name}\n", "| function | parsed | differentiated | cases |", "|---|---|---|---|"]
    for function in sorted(dict.fromkeys(case.function for case in cases), key=lambda f: (f.lower(), f)):
        mine = [case for case in cases if case.function == function]
        parsed = _dtypes(mine, {"", "alone", "differentiating"})
        constant = not any(case.differences for case in mine)
        gradient = "constant" if constant and parsed else _dtypes(mine, {"", "alone"})
        lines.append(f"| `{function}` | {parsed or 'no'} | {gradient or 'no'} | {len(mine)} |".replace("|`|", "|"))
    return "\n".join(lines) + "\n"


def _dtypes(cases: list[Case], taken: set[str]) -> str:
    """The dtypes for which the cases are at one of these stages."""
    words = []
    for (dtype, short), wanted in itertools.product(
        {"float64": "64", "float32": "32", "complex128": "c"}.items(), [taken]
    ):
        stages = [stage(case) for case in cases if case.dtype == dtype]
        good = sum(found in wanted for found in stages)
        if good:
            words.append(short if good == len(stages) else f"{short} *part*")
    return ", ".join(words)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if the page is not up to date")
    parser.add_argument("--measure", action="store_true", help="find out anew what is refused")
    options = parser.parse_args()
    if options.measure:
        text = refused_text(measured(CASES), CASES)
        REFUSED.write_text(text)
        from tests.table.oracle import refusals

        refusals.cache_clear()
    text = page_text()
    if options.check:
        return int(not PAGE.exists() or PAGE.read_text() != text)
    PAGE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
