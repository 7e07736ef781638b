"""Extrema, places in sorted arrays, histograms."""

from tests.parse.library.oracle import arguments, assert_like_numpy

EXPRESSIONS = [
    "np.argmax(a)",
    "np.argmax(a, axis=1)",
    "a.argmin(0)",
    "np.argmin(x)",
    "x[np.argmax(x)]",
    "np.argmax(a, axis=-1, keepdims=True)",
    "np.argmax(a, keepdims=True)",
    "np.argmax(c>0, axis=2)",
    "np.searchsorted([.6,.9,1.2], x)",
    "np.searchsorted([.6,.9,1.2], a, side='right')",
    "np.searchsorted([.6,.9,1.2], s)",
    "np.digitize(x, [.6,.9,1.2])",
    "np.digitize(x, [1.2,.9,.6], right=True)",
    "np.compress([True, False, True], a, axis=0)",
    "np.array_equal(x,x)*s",
]

UPDATES = [
    "u=np.ones(3); np.maximum.at(u, [0,0,2], y); out = u",
]

HISTOGRAMS = [
    "np.histogram(a, 4, weights=a)[0]",
    "np.histogram(a, 4)[0]",
    "np.histogram(a, 4)[1]",
    "np.histogram(a, bins=[.5,.8,1.0,1.4], weights=a*a)[0]",
    "np.histogram(a, bins=[.5,.8,1.0,1.4])[0]",
    "np.histogram(a, 5, range=(0.6, 1.3))[0]",
    "np.histogram(a, 5, range=(0.6,1.3), weights=a, density=True)[0]",
    "np.histogram(x, n)[0]",
    "np.histogram(k, 3)[0]",
    "np.histogram(k, 3)[1]",
    "np.histogram(a, 4, density=True)[0]",
]


def test_expressions(tmp_path):
    assert_like_numpy(EXPRESSIONS, arguments(), tmp_path)


def test_updates_at(tmp_path):
    assert_like_numpy(UPDATES, arguments(), tmp_path)


def test_histograms(tmp_path):
    assert_like_numpy(HISTOGRAMS, arguments(n=6), tmp_path)
