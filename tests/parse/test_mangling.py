"""Private names in classes, which Python mangles."""

import numpy as np

import sdfgad


class _Layer:
    __gain = 2.0

    def __init__(self, w):
        self.__w = w

    def __scaled(self, x, __by=3.0):
        def __inner(y):
            return y * self.__w

        return __inner(x) * __by * self.__gain

    @property
    def __twice(self):
        return 2.0 * self.__w

    class __Square:
        def __init__(self, w):
            self.__w = w

        def of(self, x):
            return self.__w * x**2

    def forward(self, x):
        return self.__scaled(x, _Layer__by=self.__twice) + _Layer.__Square(self.__w).of(x)

    def scaled_by(self, x):
        return self.__scaled(x, **{"_Layer__by": 0.5})


def private(w, x):
    class Local:
        def __init__(self, w):
            self.__w = w

        def __step(self, x):
            return np.sin(self.__w * x)

        def run(self, x):
            return self.__step(x) + self.__dict__["_Local__w"]

    layer = _Layer(w)
    return np.sum(layer.forward(x) + layer.scaled_by(x) + Local(w).run(x))


def test_private_names_are_those_of_the_class_around():
    x = np.linspace(0.1, 1.0, 5)
    w = 0.7
    value, gradient = sdfgad.value_and_grad(private)(w, x)
    np.testing.assert_allclose(value, private(w, x), rtol=1e-14)
    np.testing.assert_allclose(gradient, np.sum(8.0 * w * x + x**2 + x + x * np.cos(w * x) + 1.0), rtol=1e-13)
