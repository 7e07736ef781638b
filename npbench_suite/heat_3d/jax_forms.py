"""Heat equation in three dimensions in JAX, to time gradients of.

The expert form carries the inner points of A alone: a step is three window sums, each its own transpose, plus what
the constant faces of A and B contribute, which is found once.
"""

from jax import lax

INNER = (slice(1, -1),) * 3


def stencil(x):
    """One explicit step, at the inner points."""
    return (
        x[1:-1, 1:-1, 1:-1]
        + 0.125 * (x[:-2, 1:-1, 1:-1] - 2.0 * x[1:-1, 1:-1, 1:-1] + x[2:, 1:-1, 1:-1])
        + 0.125 * (x[1:-1, :-2, 1:-1] - 2.0 * x[1:-1, 1:-1, 1:-1] + x[1:-1, 2:, 1:-1])
        + 0.125 * (x[1:-1, 1:-1, :-2] - 2.0 * x[1:-1, 1:-1, 1:-1] + x[1:-1, 1:-1, 2:])
    )


def port(TSTEPS, A, B):
    """The program, statement by statement: one loop."""

    def step(t, state):
        A, B = state
        B = B.at[1:-1, 1:-1, 1:-1].set(stencil(A))
        A = A.at[1:-1, 1:-1, 1:-1].set(stencil(B))
        return A, B

    return lax.fori_loop(1, TSTEPS, step, (A, B))[0]


def window_step(x):
    """One explicit step of the inner points, with zeros around them."""
    windows = ((3, 1, 1), (1, 3, 1), (1, 1, 3))
    sums = [lax.reduce_window(x, 0.0, lax.add, window, (1, 1, 1), "SAME") for window in windows]
    return 0.125 * (sums[0] + sums[1] + sums[2] - x)


def expert(TSTEPS, A, B):
    """A scan over steps of the inner points."""
    faces_a, faces_b = stencil(A.at[INNER].set(0.0)), stencil(B.at[INNER].set(0.0))

    def step(x, _):
        return window_step(window_step(x) + faces_a) + faces_b, None

    return A.at[INNER].set(lax.scan(step, A[INNER], None, length=TSTEPS - 1)[0])
