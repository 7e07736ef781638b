"""Gravitating bodies in JAX, on arrays of all pairs."""

import jax.numpy as jnp


def reference(mass, pos, vel, N, Nt, dt, G, softening, KE, PE):
    m = mass[:, 0]

    def separations(pos):
        return pos[None, :, :] - pos[:, None, :]

    def accelerations(pos):
        d = separations(pos)
        squares = jnp.sum(d**2, axis=-1) + softening**2
        return G * jnp.einsum("ijk,ij,j->ik", d, squares**-1.5, m)

    def energies(pos, vel):
        # Without the diagonal, where the distance is not differentiable.
        squares = jnp.sum(separations(pos) ** 2, axis=-1) + jnp.eye(N)
        pairs = (1.0 - jnp.eye(N)) * jnp.outer(m, m) / jnp.sqrt(squares)
        return 0.5 * jnp.sum(m * jnp.sum(vel**2, axis=1)), -0.5 * G * jnp.sum(pairs)

    vel = vel - m @ vel / jnp.sum(m)
    history = [energies(pos, vel)]
    for _ in range(Nt):
        half = vel + 0.5 * dt * accelerations(pos)
        pos = pos + dt * half
        vel = half + 0.5 * dt * accelerations(pos)
        history.append(energies(pos, vel))

    kinetic, potential = (jnp.stack(values) for values in zip(*history, strict=True))
    return {"return[0]": kinetic, "return[1]": potential, "pos": pos, "vel": vel, "KE": kinetic, "PE": potential}
