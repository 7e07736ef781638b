"""Heat equation by alternating directions in JAX, to time gradients of.

The expert form eliminates the matrices, which are the same at all times, once; its steps are scans over rows.
"""

import jax.numpy as jnp
from jax import lax


def faces(k):
    """The conductivities between cells along the first axis, and at its ends."""
    result = jnp.empty((k.shape[0] + 1, k.shape[1]))
    result = result.at[1:-1].set(2.0 * k[1:] * k[:-1] / (k[1:] + k[:-1]))
    result = result.at[0].set(2.0 * k[0])
    return result.at[-1].set(2.0 * k[-1])


def flow(T, face):
    """What flows into cells along the first axis."""
    result = -(face[1:] + face[:-1]) * T
    result = result.at[1:].add(face[1:-1] * T[:-1])
    return result.at[:-1].add(face[1:-1] * T[1:])


def thomas(lower, diagonal, upper, right):
    """The solutions of tridiagonal systems along the first axis."""
    n = diagonal.shape[0]
    c = jnp.zeros_like(diagonal).at[0].set(upper[0] / diagonal[0])
    d = jnp.zeros_like(diagonal).at[0].set(right[0] / diagonal[0])

    def forward(i, state):
        c, d = state
        pivot = diagonal[i] - lower[i] * c[i - 1]
        return c.at[i].set(upper[i] / pivot), d.at[i].set((right[i] - lower[i] * d[i - 1]) / pivot)

    c, d = lax.fori_loop(1, n, forward, (c, d))
    x = jnp.zeros_like(diagonal).at[n - 1].set(d[n - 1])

    def backward(step, x):
        i = n - 2 - step
        return x.at[i].set(d[i] - c[i] * x[i + 1])

    return lax.fori_loop(0, n - 1, backward, x)


def implicit(T, face, r):
    """An implicit step along the first axis."""
    return thomas(-r * face[:-1], 1.0 + r * (face[1:] + face[:-1]), -r * face[1:], T)


def port(T, conductivity, source, nt, dt, dx):
    """The program, statement by statement."""
    r = 0.5 * dt / dx**2
    face_x = faces(conductivity)
    face_y = faces(conductivity.T)

    def step(_, T):
        right = T + r * flow(T.T, face_y).T + 0.5 * dt * source
        half = implicit(right, face_x, r)
        right = half + r * flow(half, face_x) + 0.5 * dt * source
        return implicit(right.T, face_y, r).T

    return lax.fori_loop(0, nt, step, T)


def eliminated(face):
    """What solving needs of the matrices: their lower parts, the inverse pivots and the eliminated upper parts."""

    def forward(above, row):
        lower, upper = row
        inverse = 1.0 / (1.0 + lower + upper - lower * above)
        return upper * inverse, (inverse, upper * inverse)

    lower, upper = face[:-1], face[1:]
    inverse, factor = lax.scan(forward, jnp.zeros_like(lower[0]), (lower, upper))[1]
    return lower, inverse, factor


def solve(matrix, right):
    """Substitution forward and backward."""

    def forward(above, row):
        lower, inverse, right = row
        value = (right + lower * above) * inverse
        return value, value

    def backward(below, row):
        factor, value = row
        value = value + factor * below
        return value, value

    lower, inverse, factor = matrix
    zero = jnp.zeros_like(right[0])
    values = lax.scan(forward, zero, (lower, inverse, right))[1]
    return lax.scan(backward, zero, (factor, values), reverse=True)[1]


def explicit(T, face):
    """An explicit step along the first axis."""
    flux = jnp.concatenate([face[:1] * T[:1], face[1:-1] * (T[1:] - T[:-1]), -face[-1:] * T[-1:]])
    return T + jnp.concatenate([flux[1:2] - flux[:1], flux[2:] - flux[1:-1]])


def expert(T, conductivity, source, nt, dt, dx):
    """A scan over steps that use the same eliminated matrices."""
    r = 0.5 * dt / dx**2
    heat = 0.5 * dt * source

    def scaled(k):
        return r * jnp.concatenate([2.0 * k[:1], 2.0 * k[1:] * k[:-1] / (k[1:] + k[:-1]), 2.0 * k[-1:]])

    face_x, face_y = scaled(conductivity), scaled(conductivity.T)
    matrix_x, matrix_y = eliminated(face_x), eliminated(face_y)

    def step(turned, _):
        half = solve(matrix_x, explicit(turned, face_y).T + heat)
        return solve(matrix_y, (explicit(half, face_x) + heat).T), None

    return lax.scan(step, T.T, None, length=nt)[0].T
