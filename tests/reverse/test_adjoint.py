"""The adjoint of each statement, and the values that must be kept for it."""

import numpy as np
import pytest

import npbench_suite
from sdfgad.analysis.flow import AFTER, BEFORE
from sdfgad.analysis.model import numbered
from sdfgad.ir.expr import Op, postorder
from sdfgad.ir.program import reads_of
from sdfgad.ir.text import statement_text
from sdfgad.reverse.adjoint import differentiate_program
from tests.helpers import line_of
from tests.helpers_ir import adjoint_of, parsed

X, Y = np.linspace(0.5, 1.5, 5), np.linspace(1.0, 2.0, 5)


def adjoint_texts(adjoint):
    """Text of each active statement -> the texts of its adjoint."""
    statements = numbered(adjoint.primal.body)
    return {
        statement_text(statements[k]): [statement_text(s) for s in p.statements]
        for k, p in adjoint.statement_adjoints.items()
    }


# --- adjoints of statements


def expressions(x, y):
    a = x * y
    a += x
    a[1] = 3.0
    return np.sum(a)


def test_adjoints_of_plain_statements():
    found = adjoint_texts(adjoint_of(parsed(expressions, X, Y)))
    # A rule may give cotangents in any order; clearing comes last.
    found = {text: [*sorted(adjoints[:-1], reverse=True), adjoints[-1]] for text, adjoints in found.items()}
    assert found == {
        "for p < 5: a[p] = (x[p] * y[p])": [
            "for p < 5: y_bar[p] += (a_bar[p] * x[p])",
            "for p < 5: x_bar[p] += (a_bar[p] * y[p])",
            "for p < 5: a_bar[p] = 0.0",
        ],
        "for p_1 < 5: a[p_1] = (a[p_1] + x[p_1])": ["for p_1 < 5: x_bar[p_1] += a_bar[p_1]"],
        "a[1] = 3.0": ["a_bar[1] = 0.0"],
        "result = 0.0": ["result_bar = 0.0"],
        "for p_2 < 5: result += a[p_2]": ["for p_2 < 5: a_bar[p_2] += result_bar"],
    }


def test_only_what_wrt_asks_for():
    adjoint = adjoint_of(parsed(expressions, X, Y), ["y"])
    assert set(adjoint.bars) == {"y", "a", "result"}
    assert not any("x_bar" in text for texts in adjoint_texts(adjoint).values() for text in texts)
    assert set(adjoint.buffers) == set(adjoint.bars.values())
    for name, bar in adjoint.bars.items():
        assert adjoint.buffers[bar].shape == adjoint.primal.buffers[name].shape
        assert adjoint.buffers[bar].dtype == adjoint.primal.buffers[name].dtype


def scaled_in_place(x, y):
    for _ in range(2):
        x *= y
    return np.sum(x)


def test_an_update_in_place_scales_its_own_cotangent_last():
    found = adjoint_texts(adjoint_of(parsed(scaled_in_place, X, Y)))
    (texts,) = [adjoints for text, adjoints in found.items() if "x[p]" in text and "* y[p]" in text]
    assert texts == ["for p < 5: y_bar[p] += (x_bar[p] * x[p])", "for p < 5: x_bar[p] = (x_bar[p] * y[p])"]


def scaled_through_a_view(z, y):
    v = z.reshape(-1)
    for _ in range(2):
        v[:] *= y[:1]
    return np.sum(z)


def test_the_counter_of_a_box_of_one_point_stays_bound():
    # The target of ``for p < 1: z[0] = z[0] * y[p]`` mentions no counter, and its adjoint's value does.
    found = adjoint_texts(adjoint_of(parsed(scaled_through_a_view, np.ones(1), Y)))
    (texts,) = [adjoints for text, adjoints in found.items() if "z[0] = " in text]
    assert texts == ["for p_1 < 1: y_bar[p_1] += (z_bar[0] * z[0])", "for p_1 < 1: z_bar[0] = (z_bar[0] * y[p_1])"]


def neighbours(x, y):
    for i in range(4):
        x[i + 1] = np.sin(x[i]) + x[i + 1] * x[i + 1]
    return x[4]


def test_reads_of_other_elements_accumulate():
    found = adjoint_texts(adjoint_of(parsed(neighbours, X, Y), ["x"]))
    (texts,) = [texts for text, texts in found.items() if "sin" in text]
    assert sum(" += " in text for text in texts) >= 1
    assert any(text.startswith("x_bar[i + 1] = ") for text in texts)


# --- extrema


def largest(x, y):
    return np.max(x) + np.min(y * y)


def test_extrema_count_who_attains_them():
    adjoint = adjoint_of(parsed(largest, X, Y))
    counts = [buffer for name, buffer in adjoint.buffers.items() if "count" in name]
    assert [buffer.shape for buffer in counts] == [(), ()]
    found = adjoint_texts(adjoint)
    for operator in ("max=", "min="):
        (texts,) = [texts for text, texts in found.items() if operator in text]
        start, top, clear, total, *_ = texts
        assert start.endswith("= -inf" if operator == "max=" else "= inf")
        assert operator in top
        assert clear.endswith("= 0.0")
        assert "+= select(" in total
    names = {name for name in adjoint.buffers if "count" in name}
    reducing = [p for p in adjoint.statement_adjoints.values() if names & {s.target.buffer for s in p.statements}]
    assert len(reducing) == 2
    # Nothing of what the forward sweep found is compared with: what is made again may be rounded otherwise.
    assert all(one.phase == BEFORE for one in reducing)


def rowwise(count):
    return np.sum(np.max(count, axis=1))


def test_extrema_along_an_axis_count_for_each_target():
    adjoint = adjoint_of(parsed(rowwise, np.ones((3, 4))))
    tops = [buffer for name, buffer in adjoint.buffers.items() if name.endswith(("_top", "_count"))]
    assert [[extent.const for extent in buffer.shape] for buffer in tops] == [[3], [3]]


# --- residuals


def linear(x, y):
    for _ in range(7):
        x[1:-1] = x[1:-1] + 0.5 * (x[2:] - 2.0 * x[1:-1] + x[:-2])
        y[:] = y - x
        x *= 0.5
    return x + y


def nonlinear(x, y):
    for _ in range(7):
        x[:] = np.sin(x) * y
    return x


def two_statements(x, y):
    for _ in range(7):
        x[:] = np.sin(x)
        y[:] = y * x
    return y


def overwritten_once(x, y):
    a = x * y
    b = a * a
    a[:] = 0.0
    a[2] = 1.0
    return b + a


def divides(x, y):
    for _ in range(3):
        x /= y
    return x


def divides_once(x, y):
    x *= 2.0
    x /= y
    return x


def divides_by_itself(x, y):
    for i in range(3):
        x[i] /= x[i + 1]
        x[i + 1] = 0.5
    return x


def results_do(x, y):
    x[:] = np.exp(x)
    x[:] = np.sqrt(x)
    x[:] = np.tanh(x)
    x[:] = 1.0 / x
    return x


def solves(x, y):
    """Forward substitution: the derivative of the quotient uses the result."""
    for i in range(5):
        for j in range(i):
            x[i] -= y[j] * x[j]
        x[i] = x[i] / y[i]
    return x


COUNTS = [
    (linear, ("x", "y"), []),
    (nonlinear, ("x",), ["x[:] = np.sin(x) * y"]),
    (nonlinear, ("x", "y"), ["x[:] = np.sin(x) * y"]),
    (two_statements, ("y",), ["x[:] = np.sin(x)"]),
    (two_statements, ("x", "y"), ["x[:] = np.sin(x)", "y[:] = y * x"]),
    (overwritten_once, ("x", "y"), ["a[:] = 0.0"]),
    (divides, ("x", "y"), ["x /= y"]),
    (divides, ("x",), []),
    (divides_once, ("x", "y"), []),
    (divides_by_itself, ("x",), []),
    (results_do, ("x",), ["x[:] = np.tanh(x)", "x[:] = 1.0 / x"]),
    (solves, ("x", "y"), []),
]


@pytest.mark.parametrize(("program", "wrt", "lines"), COUNTS, ids=[f"{c[0].__name__}-{len(c[1])}" for c in COUNTS])
def test_what_is_kept(program, wrt, lines):
    adjoint = adjoint_of(parsed(program, X, Y), wrt)
    found = [str(residual.where) for residual in adjoint.residuals.values()]
    assert sorted(found) == sorted(line_of(program, text) for text in lines)


@pytest.mark.parametrize("name", ["cholesky", "lu", "ludcmp", "trisolv", "seidel_2d", "jacobi_2d", "heat_3d", "gemm"])
def test_programs_that_keep_nothing(name):
    entry = npbench_suite.load(name)
    primal = parsed(entry.program, *entry.arguments_for("test"))
    assert adjoint_of(primal, entry.arrays, entry.output).residuals == {}


def systems(x, y):
    total = np.zeros_like(y)
    for k in range(3):
        a = x * (k + 1.0)
        total += np.linalg.solve(a, y)
    return total


@pytest.mark.parametrize(("columns", "buffers"), [(5, 1), (3, 2)])
def test_solutions_are_kept_only_where_that_is_less_work(columns, buffers):
    adjoint = adjoint_of(parsed(systems, np.eye(3), np.ones((3, columns))))
    # The matrix, and the solution where there are no more right-hand sides than unknowns.
    assert len(adjoint.residuals) == buffers
    used = {name for one in adjoint.statement_adjoints.values() for s in one.statements for name in s.mentioned}
    assert set(adjoint.buffers) - set(adjoint.bars.values()) <= used


def test_a_residual_says_what_and_where():
    adjoint = adjoint_of(parsed(nonlinear, X, Y), ["x"])
    (((number, buffer), residual),) = adjoint.residuals.items()
    statement = numbered(adjoint.primal.body)[number]
    assert residual.statement == number
    assert residual.buffer == buffer == statement.target.buffer
    assert residual.access == statement.target
    assert residual.params == statement.params
    assert [loop.trips.const for _, loop in residual.loops] == [7]


def test_results_are_used_only_where_that_saves():
    plain = adjoint_of(parsed(lambda x: np.sqrt(x), X))
    in_place = adjoint_of(parsed(divides_once, X, Y))
    assert {one.phase for one in plain.statement_adjoints.values()} == {BEFORE}
    assert AFTER in {one.phase for one in in_place.statement_adjoints.values()}


def test_conditions_and_indices_that_change_are_kept():
    def program(x, y):
        for i in range(4):
            if x[0] > 0.7:
                x[0] = x[0] * y[i]
        return x

    adjoint = adjoint_of(parsed(program, X, Y), ["y"])
    kinds = [adjoint.primal.buffers[residual.buffer].dtype.kind for residual in adjoint.residuals.values()]
    assert sorted(kinds) == ["b", "f"]


def test_everything_that_an_adjoint_reads_is_declared():
    for program, wrt, _ in COUNTS:
        adjoint = adjoint_of(parsed(program, X, Y), wrt)
        declared = {*adjoint.primal.buffers, *adjoint.buffers}
        for one in adjoint.statement_adjoints.values():
            for statement in one.statements:
                assert statement.target.buffer in set(adjoint.buffers)
                assert {read.buffer for read in reads_of(statement)} <= declared


def weights_in_rows(x, y):
    weights = np.exp(x * y)
    return weights / np.sum(weights)


def test_slow_functions_are_not_computed_again_where_their_results_are_there():
    primal = parsed(weights_in_rows, X, Y)
    (found,) = [p for text, p in adjoint_texts(adjoint_of(primal)).items() if "exp" in text]
    assert not any("exp" in text for text in found)
    wrt = [primal.inputs[name] for name in ("x", "y")]
    again = differentiate_program(primal.program, primal.context, wrt, primal.program.outputs["return"], reusing=False)
    (found,) = [p for text, p in adjoint_texts(again).items() if "exp" in text]
    assert any("exp" in text for text in found)


def test_results_that_nothing_else_keeps_are_computed_again():
    def program(x, y):
        return np.sum(np.exp(x * y) + y)

    def overwritten(x, y):
        weights = np.exp(x * y)
        weights[:] = weights * y
        return np.sum(weights)

    assert {"exp"} <= {node.name for node in ops_of_adjoint(program)}
    assert adjoint_of(parsed(overwritten, X, Y), ["x"]).residuals == {}


def ops_of_adjoint(program):
    adjoint = adjoint_of(parsed(program, X, Y))
    values = [part.value for one in adjoint.statement_adjoints.values() for part in one.statements]
    return [node for node in postorder(*values) if isinstance(node, Op)]
