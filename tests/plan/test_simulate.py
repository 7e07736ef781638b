"""The judge, against numbers worked out by hand."""

from __future__ import annotations

import pytest

from sdfgad.plan.problem import NOBODY, Inner, Mode, Problem, Solution, Step, Tape, Value
from sdfgad.plan.simulate import InvalidPlan, consumers_first, is_active, simulate

PLAIN = (Step(1, 2), Step(1, 2), Step(1, 2))


def chain(**changes: object) -> Problem:
    """`b` is made from `a`; the reverse points 2 and 1 read `b`, the reverse point 0 reads `a`."""
    a = Value("a", 10, computed=0, used=1, needs=(0,), work=5, latest=2)
    b = Value("b", 100, computed=1, used=1, needs=(2, 1), work=7, inputs=(0,), latest=2)
    return Problem(PLAIN, (a, b), **changes)  # type: ignore[arg-type]


def test_everything_is_kept() -> None:
    result = simulate(chain(), Solution((0, 0, 0)))
    assert result.live == (11, 111, 111, 112, 112, 12)
    assert (result.peak, result.peak_point, result.work, result.recomputed_at) == (112, 3, 0, {})


def test_a_value_is_made_again_from_one_that_is_kept() -> None:
    result = simulate(chain(), Solution((0, 0, 0), frozenset({1})))
    assert result.live == (11, 111, 11, 112, 112, 12)
    assert (result.work, result.recomputed_at) == (7, {1: 2})


def test_an_input_is_made_again_where_its_consumer_is() -> None:
    result = simulate(chain(), Solution((0, 0, 0), frozenset({0, 1})))
    assert result.live == (11, 111, 1, 112, 112, 12)
    assert (result.work, result.recomputed_at) == (12, {0: 2, 1: 2})


def test_without_its_consumer_an_input_is_made_again_later() -> None:
    result = simulate(chain(), Solution((0, 0, 0), frozenset({0})))
    assert result.live == (11, 111, 101, 102, 102, 12)
    assert (result.work, result.recomputed_at) == (5, {0: 0})


def test_what_is_never_needed_is_dropped_and_costs_nothing() -> None:
    value = Value("a", 10, computed=0, used=1, needs=(), work=5, latest=-1)
    kept = simulate(Problem(PLAIN, (value,)), Solution((0, 0, 0)))
    again = simulate(Problem(PLAIN, (value,)), Solution((0, 0, 0), frozenset({0})))
    assert kept == again
    assert (kept.live, kept.work) == ((11, 11, 1, 2, 2, 2), 0)


def test_a_kept_input_is_held_to_where_its_consumer_is_made_again() -> None:
    a = Value("a", 10, computed=0, used=0, needs=(), work=5)
    b = Value("b", 100, computed=1, used=1, needs=(1,), work=7, inputs=(0,), latest=1)
    problem = Problem(PLAIN, (a, b))
    assert simulate(problem, Solution((0, 0, 0))).live == (11, 101, 101, 102, 102, 2)
    assert simulate(problem, Solution((0, 0, 0), frozenset({1}))).live == (11, 111, 11, 12, 112, 2)


def test_modes_and_tapes_are_held_from_the_forward_to_the_reverse_point() -> None:
    modes = (Mode("store", kept=100), Mode("segments", kept=30, transient=5, work=9))
    tapes = (
        Tape("always", 1, kept=(1000, 400), transient=(0, 50), work=(3, 3)),
        Tape("of x", 1, kept=(7000, 7000), transient=(0, 0), work=(4, 4), asked=((NOBODY, 0),)),
    )
    problem = Problem((Step(1, 2), Step(1, 2, modes), Step(1, 2)), inner=(Inner("x", 1, 20),), tapes=tapes)
    stored = simulate(problem, Solution((0, 0, 0)))
    assert stored.live == (1, 8101, 8101, 8102, 8102, 2)
    assert stored.work == 7
    again = simulate(problem, Solution((0, 1, 0), inner=frozenset({0})))
    assert again.live == (1, 431, 431, 432, 487, 2)
    assert again.work == 9 + 3 + 20


@pytest.mark.parametrize(
    ("ask", "active"),
    [
        ((NOBODY, NOBODY), [True, True, True, True]),
        ((NOBODY, 1), [True, True, False, False]),
        ((0, NOBODY), [False, True, False, True]),
        ((0, 1), [False, True, False, False]),
    ],
)
def test_who_asks_for_a_tape(ask: tuple[int, int], active: list[bool]) -> None:
    tape = Tape("tape", 0, (1,), (0,), (0,), (ask,))
    assert [is_active(tape, again) for again in ({9}, {0}, {1}, {0, 1})] == active


def test_data_that_is_not_present() -> None:
    late = Value("late", 1, 0, 0, needs=(2, 1), work=1, latest=1)
    with pytest.raises(InvalidPlan, match=r"late is needed at reverse point 2, but .* only from reverse point 1 on"):
        simulate(Problem(PLAIN, (late,)), Solution((0, 0, 0), frozenset({0})))
    never = Value("never", 1, 0, 0, needs=(2,), work=1)
    with pytest.raises(InvalidPlan, match=r"data is not present: never .* nowhere"):
        simulate(Problem(PLAIN, (never,)), Solution((0, 0, 0), frozenset({0})))


@pytest.mark.parametrize(
    ("solution", "text"),
    [
        (Solution((0, 0)), "3 steps, but modes for 2"),
        (Solution((0, 1, 0)), "step 1 has no mode 1"),
        (Solution((0, 0, 0), frozenset({7})), "no value 7"),
        (Solution((0, 0, 0), frozenset({0}), frozenset({7})), "no inner value 7"),
        (Solution((0, 0, 0)), "value a is fixed to be recomputed"),
        (Solution((0, 0, 0), frozenset({0}), frozenset({2})), "inner value z is fixed not to be recomputed"),
        (Solution((0, 0, 0), frozenset({0}), frozenset({0, 1})), "conflict: x and y"),
    ],
)
def test_what_cannot_be_carried_out(solution: Solution, text: str) -> None:
    problem = chain(
        inner=(Inner("x", 0, 1), Inner("y", 0, 1), Inner("z", 0, 1)),
        conflicts=((0, 1),),
        fixed_values=((0, True),),
        fixed_inner=((2, False),),
    )
    with pytest.raises(InvalidPlan, match=text):
        simulate(problem, solution)


def test_a_circle_of_inputs() -> None:
    a = Value("a", 1, 0, 0, (0,), 1, inputs=(1,), latest=2)
    b = Value("b", 1, 0, 0, (0,), 1, inputs=(0,), latest=2)
    with pytest.raises(InvalidPlan, match="circle: a, b"):
        simulate(Problem(PLAIN, (a, b)), Solution((0, 0, 0), frozenset({0, 1})))


def test_consumers_come_first_whatever_the_positions() -> None:
    values = [Value(name, 1, 0, 0, (0,), 1, inputs) for name, inputs in [("a", (2,)), ("b", ()), ("c", (1,))]]
    assert consumers_first(Problem(PLAIN, tuple(values)), range(3)) == [0, 2, 1]


def test_no_steps() -> None:
    assert simulate(Problem(()), Solution(())).peak == 0
