"""A plan says what is kept, where, and why: as records, as text, as JSON and as a picture."""

import json
from dataclasses import asdict, replace

import numpy as np
import pytest

import sdfgad
from sdfgad.plan import Decision, Moment, Plan
from sdfgad.plan.moments import peak_of, without_folder
from sdfgad.plan.units import size_text, time_text
from tests.helpers import line_of

MIB = 1 << 20


def linear(u, n):
    for _ in range(n):
        u[1:-1] += 0.25 * (u[2:] - u[:-2])


def quadratic(u, n):
    for _ in range(n):
        u[1:-1] = u[1:-1] * u[2:]


@pytest.fixture(scope="module")
def checkpointed():
    g = sdfgad.differentiate(quadratic)
    limit = g.plan(np.ones(300), 64).store_all_bytes // 2
    return sdfgad.differentiate(quadratic, memory_limit=limit).plan(np.ones(300), 64)


def made_up(**changes):
    decisions = (
        Decision(
            "tmp", "/home/me/heat.py:12: tmp = a[x / 2: 3] / b", 3 * MIB, "recompute", 2e-3, "made [bold]again[/]"
        ),
        Decision("loop", "/home/me/heat.py:11: for t in range(T):", 512, "every 4th state", 0.0, "16 trips"),
    )
    moments = tuple(Moment(f"forward sweep of /home/me/heat.py:{k}: y = a / b", k * MIB) for k in (1, 5, 2))
    plan = Plan(
        decisions=decisions,
        strategy="ilp",
        peak_bytes=5 * MIB,
        peak_point=moments[1].label,
        budget_bytes=6 * MIB,
        status="time limit",
        gap=0.25,
        solver="HiGHS",
        solve_seconds=1.5,
        moments=moments,
        store_all=tuple(replace(moment, bytes=2 * moment.bytes) for moment in moments),
    )
    return replace(plan, **changes)


def test_a_linear_program_keeps_nothing():
    plan = sdfgad.differentiate(linear).plan(np.ones(6), 3)
    assert not plan.decisions
    assert "there is nothing to decide" in str(plan)


def test_a_residual_is_named_by_the_line_that_overwrites_it():
    (decision,) = sdfgad.differentiate(quadratic, strategy="store_all").plan(np.ones(6), 3).decisions
    assert decision.name == "u"
    assert decision.source == line_of(quadratic, "u[1:-1] =")
    assert decision.choice == "store"
    assert decision.bytes >= 3 * 4 * 8
    assert decision.reason


def test_a_loop_is_named_by_its_line(checkpointed):
    loop = next(decision for decision in checkpointed.decisions if decision.name == "loop")
    assert loop.source == line_of(quadratic, "for _ in")
    assert "64 trips" in loop.reason
    assert checkpointed.peak_bytes <= checkpointed.budget_bytes < checkpointed.store_all_bytes


def test_text(checkpointed):
    text = str(checkpointed)
    for decision in checkpointed.decisions:
        assert decision.name in text
        assert without_folder(decision.source) in text
        assert size_text(decision.bytes) in text
    assert f"peak {size_text(checkpointed.peak_bytes)} (limit {size_text(checkpointed.budget_bytes)}" in text
    assert without_folder(checkpointed.peak_point) in text
    assert f"ilp: {checkpointed.status}" in text
    assert f"solver {checkpointed.solver}" in text


def test_text_of_made_up_plan():
    text = str(made_up())
    for part in ("tmp", "3.0 MiB", "recompute", "2 ms", "made [bold]again[/]", "every 4th state", "512 B"):
        assert part in text
    assert " heat.py:12: tmp = a[x / 2: 3] / b " in text
    assert "peak 5.0 MiB (limit 6.0 MiB; all stored: 10.0 MiB)" in text
    assert "at forward sweep of heat.py:5: y = a / b" in text
    assert "ilp: time limit, at most 25.0% from the best; solver HiGHS, 1.5 s" in text
    assert "/home/me" not in text
    assert "no limit" in str(made_up(budget_bytes=None))


@pytest.mark.parametrize(
    ("source", "short"),
    [
        ("/a/b c/d.py:3: x = y / z", "d.py:3: x = y / z"),
        ("d.py:3: x = y / z", "d.py:3: x = y / z"),
        ("reverse sweep of /a/d.py:3: x = y / z[1: 2]", "reverse sweep of d.py:3: x = y / z[1: 2]"),
        ("an argument", "an argument"),
        ("reverse sweep of an argument", "reverse sweep of an argument"),
    ],
)
def test_without_folder(source, short):
    assert without_folder(source) == short


def test_json():
    plan = made_up()
    values = json.loads(plan.to_json())
    assert values == json.loads(json.dumps(asdict(plan)))
    assert values["decisions"][0]["choice"] == "recompute"
    assert values["gap"] == 0.25


@pytest.mark.parametrize("count", [1, 3, 60])
def test_picture(tmp_path, count):
    moments = tuple(Moment(f"forward sweep of heat.py:{k}: y = x", k * MIB) for k in range(1, count + 1))
    plan = made_up(moments=moments, store_all=moments)
    figure = plan.plot(tmp_path / "plan.png")
    assert (tmp_path / "plan.png").read_bytes().startswith(b"\x89PNG")
    (axes,) = figure.axes
    assert any(f"peak {count} MiB" in text.get_text() for text in axes.texts)
    assert axes.get_ylim()[1] > count


def test_picture_of_a_real_plan(checkpointed, tmp_path):
    checkpointed.plot(tmp_path / "plan.png")
    assert (tmp_path / "plan.png").stat().st_size > 1000


@pytest.mark.parametrize(("size", "text"), [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (3 << 40, "3.0 TiB")])
def test_size_text(size, text):
    assert size_text(size) == text


@pytest.mark.parametrize(("seconds", "text"), [(0.0, "0"), (2e-6, "2 µs"), (0.0123, "12.3 ms"), (3.0, "3 s")])
def test_time_text(seconds, text):
    assert time_text(seconds) == text


def test_peak_of():
    moments = (Moment("a", 1), Moment("b", 3), Moment("c", 3))
    assert peak_of(moments) == moments[1]
