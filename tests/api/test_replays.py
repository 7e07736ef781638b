"""How much of a long loop is run again under a small limit, against what Revolve's formula allows."""

import numpy as np
import pytest

import sdfgad
from sdfgad.plan.revolve import advances

STEPS, SIZE = 1_000, 2_000


def burgers(T, u, a):
    for _ in range(T):
        u[1:-1] += a * u[1:-1] * (u[2:] - u[:-2])
    return np.sum(u * u)


def planned(**options):
    """The layout for a thousand steps, and the bytes that it takes besides those of arguments and results."""
    u = np.linspace(0.0, 1.0, SIZE)
    call, made = sdfgad.differentiate(burgers, wrt="u", **options)._bind_and_specialise((STEPS, u, 0.01), {})
    layout, sizes = made.layout(call), made.sizes(call)
    return layout, layout.peak_bytes(sizes), made.pipeline.planner.store_all.peak_bytes(sizes)


@pytest.mark.parametrize("share", [10, 20, 50])
def test_a_long_loop_runs_hardly_more_steps_again_than_revolve(share):
    _, _, stored = planned(strategy="store_all")
    limit = stored // share
    layout, peak, _ = planned(memory_limit=limit)
    assert peak <= limit
    ((_, segments),) = layout.segments.items()
    run_again = segments.replays * segments.length + segments.trips
    # Revolve would keep as many states as fit besides u, its adjoint, the argument and the gradient.
    slots = limit // (8 * SIZE) - 5
    allowed = advances(STEPS, slots)  # With the first sweep, but without running each step once more to tape it.
    assert run_again <= 1.3 * allowed
