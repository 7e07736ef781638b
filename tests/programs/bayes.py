"""A hierarchical Bayesian regression with scipy.stats: the log-posterior of samples, and a weighted bound."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from scipy import special, stats


class Posterior(NamedTuple):
    mean: np.ndarray
    log_scale: np.ndarray
    correlation: float


@dataclass
class Priors:
    location: float = 0.0
    spread: float = 2.0
    noise: tuple = (2.0, 1.5)
    degrees: float = 4.0


@dataclass
class Data:
    groups: np.ndarray
    x: np.ndarray
    y: np.ndarray
    counts: np.ndarray
    names: list = field(default_factory=list)

    def __len__(self):
        return len(self.y)

    def in_group(self, k):
        return self.groups == k


class Model:
    def __init__(self, data, priors, groups):
        self.data, self.priors, self.groups = data, priors, groups

    def unpack(self, theta):
        k = self.groups
        return {
            "intercepts": theta[:k],
            "slope": theta[k],
            "noise": np.exp(theta[k + 1]),
            "rate": special.expit(theta[k + 2]),
        }

    def log_prior(self, p):
        priors = self.priors
        total = np.sum(stats.norm.logpdf(p["intercepts"], priors.location, priors.spread))
        total += stats.t.logpdf(p["slope"], priors.degrees, loc=0.0, scale=1.0)
        total += stats.gamma.logpdf(p["noise"], priors.noise[0], scale=1.0 / priors.noise[1])
        return total + stats.beta.logpdf(p["rate"], 2.0, 3.0)

    def log_likelihood(self, p):
        data = self.data
        expected = p["intercepts"][data.groups] + p["slope"] * data.x
        regression = stats.norm.logpdf(data.y, expected, p["noise"])
        parts = {}
        for k in range(self.groups):
            parts[k] = np.sum(np.where(data.in_group(k), regression, 0.0))
        counts = stats.poisson.logpmf(data.counts, 3.0 * p["rate"] + 0.1)
        return sum(parts.values()) + np.sum(counts)

    def log_joint(self, theta):
        p = self.unpack(theta)
        jacobian = np.log(p["noise"]) + np.log(p["rate"]) + np.log1p(-p["rate"])
        return self.log_prior(p) + self.log_likelihood(p) + jacobian


def sample(posterior, normals):
    scale = np.exp(posterior.log_scale)
    shared = np.tanh(posterior.correlation) * np.mean(normals)
    return posterior.mean + scale * (normals + shared)


def log_density(posterior, theta):
    return np.sum(stats.norm.logpdf(theta, posterior.mean, np.exp(posterior.log_scale)))


def program(posterior, data, priors, normals):
    model = Model(data, priors, len(posterior.mean) - 3)
    weights = []
    for draw in normals:
        theta = sample(posterior, draw)
        weights.append(model.log_joint(theta) - log_density(posterior, theta))
    bound = special.logsumexp(np.stack(weights)) - np.log(len(weights))
    return bound / len(data) - 1e-3 * np.sum(posterior.log_scale**2)


def arguments(rng):
    groups, size = 3, 15
    data = Data(
        rng.integers(0, groups, size), rng.standard_normal(size), rng.standard_normal(size), rng.integers(0, 5, size)
    )
    posterior = Posterior(0.3 * rng.standard_normal(groups + 3), -1.0 + 0.1 * rng.standard_normal(groups + 3), 0.2)
    return posterior, data, Priors(), rng.standard_normal((4, groups + 3))
