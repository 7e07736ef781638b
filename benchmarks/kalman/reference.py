"""The log-likelihood of measured data in JAX: of the joint Gaussian of all measurements, without a filter."""

import jax.numpy as jnp


def reference(y, transition, observation, process_noise, observation_noise, x):
    times = y.shape[0]
    means, variances = [], []
    variance = jnp.eye(x.size)
    for _ in range(times):
        x = transition @ x
        variance = transition @ variance @ transition.T + jnp.diag(process_noise)
        means.append(observation @ x)
        variances.append(variance)

    # The covariance of the measurements at times s <= t is H (F^(t - s) V_s)^T ... H^T, with V_s the state's at s.
    blocks = [[None] * times for _ in range(times)]
    for s in range(times):
        moved = variances[s]
        for t in range(s, times):
            blocks[t][s] = observation @ moved @ observation.T
            blocks[s][t] = blocks[t][s].T
            moved = transition @ moved
        blocks[s][s] = blocks[s][s] + jnp.diag(observation_noise)
    covariance = jnp.block(blocks)
    error = (y - jnp.stack(means)).ravel()
    logdet = jnp.linalg.slogdet(covariance)[1]
    square = error @ jnp.linalg.solve(covariance, error)
    return {"return": -0.5 * (square + logdet + error.size * jnp.log(2 * jnp.pi))}
