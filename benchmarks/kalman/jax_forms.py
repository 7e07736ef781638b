"""The log-likelihood by the Kalman filter, in JAX, to time gradients of.

The expert form factors each innovation's covariance once, by Cholesky, and solves once with the factor.
"""

import jax.numpy as jnp
from jax import lax
from jax.scipy.linalg import solve_triangular


def port(y, transition, observation, process_noise, observation_noise, x):
    """The program, statement by statement."""
    times, channels = y.shape
    states = x.shape[0]
    Q = jnp.diag(process_noise)
    R = jnp.diag(observation_noise)
    identity = jnp.eye(states)

    def step(t, state):
        x, P, log_likelihood = state
        x = transition @ x
        P = transition @ P @ transition.T + Q
        innovation = y[t] - observation @ x
        S = observation @ P @ observation.T + R
        _, logdet = jnp.linalg.slogdet(S)
        weighted = jnp.linalg.solve(S, innovation)
        log_likelihood -= 0.5 * (innovation @ weighted + logdet + channels * jnp.log(2 * jnp.pi))
        gain = P @ observation.T @ jnp.linalg.inv(S)
        x = x + gain @ innovation
        P = (identity - gain @ observation) @ P
        return x, P, log_likelihood

    return lax.fori_loop(0, times, step, (x, jnp.eye(states), 0.0))[2]


def expert(y, transition, observation, process_noise, observation_noise, x):
    """A scan over the data; what is corrected comes from one triangular solution."""
    times, channels = y.shape
    Q, R = jnp.diag(process_noise), jnp.diag(observation_noise)

    def step(state, measured):
        x, P = state
        x = transition @ x
        P = transition @ P @ transition.T + Q
        cross = observation @ P
        factor = jnp.linalg.cholesky(cross @ observation.T + R, symmetrize_input=False)
        right = jnp.concatenate([cross, (measured - observation @ x)[:, None]], axis=1)
        solved = solve_triangular(factor, right, lower=True)
        gained, error = solved[:, :-1], solved[:, -1]
        term = 0.5 * (error @ error) + jnp.sum(jnp.log(jnp.diagonal(factor)))
        return (x + error @ gained, P - gained.T @ gained), term

    _, terms = lax.scan(step, (x, jnp.eye(x.shape[0])), y)
    return -jnp.sum(terms) - 0.5 * times * channels * jnp.log(2 * jnp.pi)
