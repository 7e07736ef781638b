"""Log-likelihood of a hidden Markov model for several sequences, by the forward algorithm on logarithms.

``initial``, ``transition`` and ``emission`` are logarithms of probabilities that need not be normalised.
"""

import numpy as np


def initialize(sequences, T, states, symbols, rng):
    return {
        "observations": rng.integers(0, symbols, (sequences, T)),
        "initial": rng.normal(size=states),
        "transition": rng.normal(size=(states, states)),
        "emission": rng.normal(size=(states, symbols)),
    }


def log_sum_exp(a, axis):
    largest = np.max(a, axis=axis)
    return largest + np.log(np.sum(np.exp(a - np.expand_dims(largest, axis)), axis=axis))


def forward(observed, log_initial, log_transition, log_emission):
    """The log-likelihood of one sequence."""
    alpha = log_initial + log_emission[:, observed[0]]
    for t in range(1, len(observed)):
        alpha = log_sum_exp(alpha[:, np.newaxis] + log_transition, 0) + log_emission[:, observed[t]]
    return log_sum_exp(alpha, 0)


def hidden_markov(observations, initial, transition, emission):
    log_initial = initial - log_sum_exp(initial, 0)
    log_transition = transition - log_sum_exp(transition, 1)[:, np.newaxis]
    log_emission = emission - log_sum_exp(emission, 1)[:, np.newaxis]
    total = 0.0
    for observed in observations:
        total += forward(observed, log_initial, log_transition, log_emission)
    return total
