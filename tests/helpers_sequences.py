"""Loops of independent trips around sequential loops, with arguments: batches, ensembles and samples."""

from copy import deepcopy

import numpy as np

import sdfgad

RNG = np.random.default_rng(3)


def log_sum_exp(a):
    top = np.max(a, axis=0)
    return top + np.log(np.sum(np.exp(a - top), axis=0))


def markov(symbols, initial, transitions, emission):
    """Hidden Markov models: elements that data chooses, with checks, and sums of all models."""
    total = 0.0
    for s in range(symbols.shape[0]):
        alpha = initial + emission[:, symbols[s, 0]]
        for t in range(1, symbols.shape[1]):
            alpha = log_sum_exp(alpha[:, None] + transitions) + emission[:, symbols[s, t]]
        total += log_sum_exp(alpha)
    return total


def ensemble(x0, rates, coupling):
    """Members with parameters of their own, and a branch of each in each step."""
    result = np.zeros(x0.shape)
    for m in range(x0.shape[0]):
        x = x0[m].copy()
        for _ in range(4):
            slope = rates[m] * (coupling @ x)
            x = x + 0.1 * rates[m] * (coupling @ (x + 0.05 * slope)) - 0.01 * x * x
            if np.sum(x * x) > 5.0:
                x = x * 0.7
        result[m] = x
    return np.sum(result * result)


def tridiagonal(lower, diagonal, upper, right):
    """Systems of equations by elimination, each with two arrays of its own."""
    x = np.zeros(right.shape)
    n = right.shape[1]
    for b in range(right.shape[0]):
        c, d = np.zeros(n), np.zeros(n)
        c[0] = upper[b, 0] / diagonal[b, 0]
        d[0] = right[b, 0] / diagonal[b, 0]
        for i in range(1, n):
            pivot = diagonal[b, i] - lower[b, i] * c[i - 1]
            c[i] = upper[b, i] / pivot
            d[i] = (right[b, i] - lower[b, i] * d[i - 1]) / pivot
        x[b, n - 1] = d[n - 1]
        for i in range(n - 2, -1, -1):
            x[b, i] = d[i] - c[i] * x[b, i + 1]
    return np.sum(np.sin(x))


def bootstrap(y, picks, weights):
    """Samples, each of which goes through a recursive filter whose state is assigned in two parts."""
    scores = np.zeros(picks.shape[0])
    for r in range(picks.shape[0]):
        sample = y[picks[r]]
        state = np.zeros(weights.shape[0])
        error = 0.0
        for t in range(sample.shape[0]):
            error += (sample[t] - np.sum(weights * state)) ** 2
            state[1:] = state[:-1].copy()
            state[0] = sample[t]
        scores[r] = error / sample.shape[0]
    return np.mean(scores) + np.var(scores)


def in_time(field, noise):
    """In each step particles by themselves, which add to one row of what all steps leave."""
    left = np.zeros((3, field.shape[0]))
    for step in range(3):
        for p in range(noise.shape[0]):
            v = np.zeros(2)
            for t in range(noise.shape[1]):
                v = 0.9 * v + noise[p, t] * field[step + t]
                left[step] += np.sum(v) * field[:, 0]
        field = field + 0.01 * left[step][:, None]
    return np.sum(left * left)


CASES = {
    markov: (
        (RNG.integers(-5, 5, (7, 5)), RNG.normal(size=6), RNG.normal(size=(6, 6)), RNG.normal(size=(6, 5))),
        ("initial", "transitions", "emission"),
    ),
    ensemble: (
        (RNG.normal(size=(7, 5)), RNG.uniform(0.5, 1.5, 7), RNG.normal(size=(5, 5)) / 3),
        ("x0", "rates", "coupling"),
    ),
    tridiagonal: (
        tuple(RNG.normal(size=(7, 6)) + (4 if k == 1 else 0) for k in range(4)),
        ("lower", "diagonal", "upper", "right"),
    ),
    bootstrap: ((RNG.normal(size=8), RNG.integers(0, 8, (7, 8)), RNG.normal(size=4) / 4), ("y", "weights")),
    in_time: ((RNG.normal(size=(9, 2)), RNG.normal(size=(7, 4))), ("field", "noise")),
}


def made(function, device):
    return sdfgad.differentiate(function, wrt=CASES[function][1], device=device)


def args_of(function):
    return deepcopy(CASES[function][0])
