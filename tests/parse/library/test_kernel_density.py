"""Densities that ``gaussian_kde`` has made before the program, and those of many samples."""

import numpy as np
from scipy import stats

import sdfgad

RNG = np.random.default_rng(0)
PLANE = stats.gaussian_kde(RNG.normal(size=(2, 9)), weights=np.arange(1.0, 10.0))
LINE = stats.gaussian_kde(RNG.normal(size=9), "silverman")
X = RNG.normal(size=(2, 4))


def from_outside(x):
    return np.sum(PLANE(x) ** 2) + np.sum(PLANE.logpdf(x)) + np.sum(LINE(x[0])) + LINE.integrate_box_1d(x[0, 0], 3.0)


def test_densities_from_outside():
    np.testing.assert_allclose(sdfgad.differentiate(from_outside).value(X), from_outside(X), rtol=1e-12)
    sdfgad.check_grads(from_outside, X)


def far_away(samples):
    return np.sum(stats.gaussian_kde(samples).logpdf(samples[:2] + 90.0))


def test_logarithm_of_a_density_that_is_zero():
    """The density itself underflows there."""
    samples = RNG.normal(size=30)
    assert stats.gaussian_kde(samples)(samples[0] + 90.0) == 0.0
    np.testing.assert_allclose(sdfgad.differentiate(far_away).value(samples), far_away(samples), rtol=1e-12)
    sdfgad.check_grads(far_away, samples)
