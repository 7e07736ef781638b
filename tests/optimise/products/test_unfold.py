"""Windows that overlap are copied to the rows of a matrix where calls of BLAS get much larger by that."""

from importlib import import_module

import numpy as np
import pytest

from sdfgad.ir.expr import Int, Lin, symbols_of
from sdfgad.ir.program import Loop, computes
from sdfgad.ir.text import program_text
from sdfgad.optimise.products.unfold import unfold
from sdfgad.schedule.products import product_of
from tests.helpers import with_target
from tests.helpers_passes import check_passes
from tests.helpers_text import program_of, tidy

# The package has the pass under the name of its module.
module = import_module("sdfgad.optimise.products.unfold")
SHAPES = {"X": (2, 9, 10, 2), "W": (2, 3, 2, 8), "T": (2, 8, 8, 8)}
BOX = "for n < 2, i < 8, j < 8, p < 2, q < 3, d < 2, c < 8:"
WINDOW = "X[n, i + p, j + q, d]"
FORWARD = f"{BOX} T[n, i, j, c] = sum of ({WINDOW} * W[p, q, d, c])"
OF_WEIGHTS = f"{BOX} W[p, q, d, c] += (T[n, i, j, c] * {WINDOW})"
OF_WINDOWS = f"{BOX} {WINDOW} += (T[n, i, j, c] * W[p, q, d, c])"


def case(text, dtype=np.float64, shapes=SHAPES):
    """A program that writes one of the arrays, which has random elements, too, before."""
    target = next(name for name in shapes if f" {name}[" in text.split(":", 1)[1].split("=")[0])
    axes = [f"a{k} < {extent}" for k, extent in enumerate(shapes[target])]
    index = ", ".join(axis.split()[0] for axis in axes)
    shapes = {**shapes, "start": shapes[target]}
    text = f"for {', '.join(axes)}: {target}[{index}] = start[{index}]\n{text}"
    inputs = [name for name in shapes if name != target]
    rng = np.random.default_rng(5)
    arrays = {name: np.asarray(rng.normal(size=shapes[name]), dtype) for name in inputs}
    if np.dtype(dtype).kind == "c":
        arrays = {name: array + 1j * rng.normal(size=array.shape) for name, array in arrays.items()}
    return program_of(text, shapes, inputs, [target], dtypes=dict.fromkeys(shapes, dtype)), arrays


def unfolded(text, **options):
    """The text of a program without its first line; it computes the same."""
    program, arrays = case(text, **options)
    changed = check_passes(program, arrays, passes=[unfold])
    return program_text(changed).split("\n", 1)[1]


def largest(program):
    products = (product_of(statement, program.buffers) for statement in computes(program.body))
    return max(product.work for product in products if product is not None)


def test_windows_are_copied_before_they_are_multiplied(monkeypatch):
    with_target(monkeypatch, local_bytes=8 * 8 * 12)
    assert unfolded(FORWARD) == tidy(
        """
        loop parallel n_1 < 2:
            loop parallel i_1 < 8:
                loop parallel j_1 < 8:
                    loop parallel p_1 < 2:
                        loop parallel q_1 < 3:
                            loop parallel d_1 < 2:
                                windows[j_1, p_1, q_1, d_1] = X[n_1, i_1 + p_1, j_1 + q_1, d_1]
                for j < 8, p < 2, q < 3, d < 2, c < 8: T[n_1, i_1, j, c] = sum of (windows[j, p, q, d] * W[p, q, d, c])
        """
    )


def test_what_is_added_to_windows_is_made_before(monkeypatch):
    with_target(monkeypatch, local_bytes=8 * 8 * 12)
    assert unfolded(OF_WINDOWS) == tidy(
        """
        loop parallel n_1 < 2:
            loop parallel i_1 < 8:
                for j < 8, p < 2, q < 3, d < 2, c < 8: windows[j, p, q, d] = sum of (T[n_1, i_1, j, c] * W[p, q, d, c])
                loop parallel j_1 < 8:
                    loop parallel p_1 < 2:
                        loop parallel q_1 < 3:
                            loop parallel d_1 < 2:
                                X[n_1, i_1 + p_1, j_1 + q_1, d_1] += windows[j_1, p_1, q_1, d_1]
        """
    )


@pytest.mark.parametrize(("rows", "dtype"), [(1, np.float64), (8, np.float32), (16, np.complex128)])
@pytest.mark.parametrize("text", [FORWARD, OF_WEIGHTS, OF_WEIGHTS.replace("+=", "= sum of"), OF_WINDOWS])
def test_as_many_windows_as_stay_in_the_cache(text, rows, dtype, monkeypatch):
    with_target(monkeypatch, local_bytes=np.dtype(dtype).itemsize * 8 * 12 * rows)
    program, arrays = case(text, dtype)
    changed = check_passes(program, arrays, passes=[unfold])
    assert changed.buffers["windows"].shape[-4] == Lin(8)
    assert largest(changed) >= module.GAIN * largest(program)


def test_a_conjugate_factor_stays_one():
    text = FORWARD.replace(WINDOW, f"conjugate({WINDOW})")
    assert "(conjugate(windows[" in unfolded(text, dtype=np.complex128)


def test_a_sum_that_begins_anew_is_cleared_once(monkeypatch):
    with_target(monkeypatch, local_bytes=8 * 8 * 12)
    first, *_ = unfolded(OF_WEIGHTS.replace("+=", "= sum of")).splitlines()
    assert first == "for p < 2, q < 3, d < 2, c < 8: W[p, q, d, c] = 0.0"


@pytest.mark.parametrize(
    "text",
    [
        # Windows that do not overlap are rows already.
        "for n < 2, i < 8, j < 8, d < 2, c < 8: T[n, i, j, c] = sum of (X[n, i, j, d] * W[0, 0, d, c])",
        # To begin a sum of windows anew would clear what others have added.
        OF_WINDOWS.replace("+=", "= sum of"),
        # No product.
        f"{BOX} T[n, i, j, c] = sum of ({WINDOW} + W[p, q, d, c])",
        f"{BOX} T[n, i, j, c] max= ({WINDOW} * W[p, q, d, c])",
        # Windows of both factors.
        "for i < 12, p < 2, q < 2, c < 4: T[0, i, 0, c] = sum of (X[0, i + p, q, 0] * W[p, q + c, 0, 0])",
    ],
)
def test_all_else_stays(text):
    program, _ = case(text)
    assert unfold(program) == program


def test_not_even_one_row_stays_in_the_cache(monkeypatch):
    with_target(monkeypatch, local_bytes=8 * 11)
    program, _ = case(FORWARD)
    assert unfold(program) == program


def test_infinity_stays_where_it_is():
    program, arrays = case(OF_WINDOWS)
    arrays["T"][0, 3, 4, 0] = np.inf
    arrays["start"][1, 2, 3, 0] = np.nan
    check_passes(program, arrays, passes=[unfold])


@pytest.mark.parametrize("text", [FORWARD, OF_WEIGHTS, OF_WEIGHTS.replace("+=", "= sum of"), OF_WINDOWS])
@pytest.mark.parametrize("one", ["n < 2", "i < 8", "j < 8", "p < 2", "q < 3", "c < 8"])
def test_parameters_with_one_value_are_in_no_loop(text, one):
    program, arrays = case(text.replace(one, one.split(" < ")[0] + " < 1"))
    changed = check_passes(program, arrays, passes=[unfold])
    assert all(
        symbols_of(s.value, *map(Int, s.target.index)) <= bound for s, bound in with_bound(changed.body, frozenset())
    )


def with_bound(block, bound):
    """The statements that compute something, each with the counters and parameters that there are."""
    for statement in block:
        if isinstance(statement, Loop):
            yield from with_bound(statement.body, bound | {statement.var})
        else:
            yield statement, bound | {name for name, _ in statement.params}


def test_nested_loops_are_gone_through_once(monkeypatch):
    """Each level was gone through twice once: 2^12 times a statement in 12 loops."""
    loops = [f"{'    ' * depth}loop l{depth} < 2:" for depth in range(12)]
    text = "\n".join([*loops, f"{'    ' * 12}for i < 4: x[i] = 2.0 * y[i]"])
    program = program_of(text, {"x": (4,), "y": (4,)}, ["y"], ["x"])
    seen = []
    monkeypatch.setattr(module.Windows, "of", staticmethod(lambda statement, _: seen.append(statement)))
    assert unfold(program).body == program.body
    assert seen == list(computes(program.body))
