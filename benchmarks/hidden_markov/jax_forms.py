"""Log-likelihood of a hidden Markov model in JAX, to time gradients of.

The expert form advances all sequences at once by one product with the matrix of probabilities, scaled by the largest.
"""

import jax
import jax.numpy as jnp
from jax import lax
from jax.scipy.special import logsumexp


def log_sum_exp(a, axis):
    """As the program has it."""
    largest = jnp.max(a, axis=axis)
    return largest + jnp.log(jnp.sum(jnp.exp(a - jnp.expand_dims(largest, axis)), axis=axis))


def port(observations, initial, transition, emission):
    """The program, statement by statement."""
    log_initial = initial - log_sum_exp(initial, 0)
    log_transition = transition - log_sum_exp(transition, 1)[:, jnp.newaxis]
    log_emission = emission - log_sum_exp(emission, 1)[:, jnp.newaxis]
    observations = jnp.asarray(observations)

    def forward(s, total):
        observed = observations[s]

        def step(t, alpha):
            return log_sum_exp(alpha[:, jnp.newaxis] + log_transition, 0) + log_emission[:, observed[t]]

        alpha = lax.fori_loop(1, observed.shape[0], step, log_initial + log_emission[:, observed[0]])
        return total + log_sum_exp(alpha, 0)

    return lax.fori_loop(0, observations.shape[0], forward, 0.0)


def expert(observations, initial, transition, emission):
    """A scan over time, of all sequences."""
    transition = jax.nn.softmax(transition, axis=1)
    emitted = jax.nn.log_softmax(emission, axis=1).T[observations.T]

    def step(alpha, emitted):
        largest = lax.stop_gradient(jnp.max(alpha, axis=1, keepdims=True))
        return jnp.log(jnp.exp(alpha - largest) @ transition) + largest + emitted, None

    alpha, _ = lax.scan(step, jax.nn.log_softmax(initial) + emitted[0], emitted[1:])
    return jnp.sum(logsumexp(alpha, axis=1))
