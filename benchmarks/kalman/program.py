"""The log-likelihood of measured data under a linear Gaussian model, by the Kalman filter.

The variances of both noises are given; the first state is known but for a variance of one.
"""

import numpy as np


def initialize(states, channels, times, rng):
    orthogonal, _ = np.linalg.qr(rng.normal(size=(states, states)))
    transition = 0.95 * orthogonal
    observation = rng.normal(size=(channels, states)) / np.sqrt(states)
    process_noise = rng.uniform(0.1, 0.3, states)
    observation_noise = rng.uniform(0.2, 0.5, channels)
    x = rng.normal(size=states)
    y = np.zeros((times, channels))
    state = x.copy()
    for t in range(times):
        state = transition @ state + np.sqrt(process_noise) * rng.normal(size=states)
        y[t] = observation @ state + np.sqrt(observation_noise) * rng.normal(size=channels)
    return {
        "y": y,
        "transition": transition,
        "observation": observation,
        "process_noise": process_noise,
        "observation_noise": observation_noise,
        "x": x,
    }


def kalman(y, transition, observation, process_noise, observation_noise, x):
    times, channels = y.shape
    states = x.shape[0]
    Q = np.diag(process_noise)
    R = np.diag(observation_noise)
    identity = np.eye(states)

    P = np.eye(states)
    log_likelihood = 0.0
    for t in range(times):
        # Predict.
        x = transition @ x
        P = transition @ P @ transition.T + Q

        # Compare with what was measured.
        innovation = y[t] - observation @ x
        S = observation @ P @ observation.T + R
        _, logdet = np.linalg.slogdet(S)
        weighted = np.linalg.solve(S, innovation)
        log_likelihood -= 0.5 * (innovation @ weighted + logdet + channels * np.log(2 * np.pi))

        # Correct.
        gain = P @ observation.T @ np.linalg.inv(S)
        x = x + gain @ innovation
        P = (identity - gain @ observation) @ P

    return log_likelihood
