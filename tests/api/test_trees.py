"""Containers of arrays and numbers as arguments and results, and gradients of the same structure."""

import copy
import math
import types
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import ArgumentError, OutputError, UnsupportedProgram, UnusedArgument, WrtError
from tests.helpers import line_of

RNG = np.random.default_rng(5)
X = RNG.random((3, 4))


class State(NamedTuple):
    u: np.ndarray
    v: np.ndarray
    t: float


@dataclass
class Layer:
    w: np.ndarray
    b: np.ndarray
    name: str = "layer"
    history: list = field(default_factory=list)

    def __call__(self, x):
        return np.tanh(x @ self.w + self.b)

    @property
    def width(self):
        return self.w.shape[1]

    @staticmethod
    def penalty(w, weight):
        return weight * np.sum(w * w)

    @classmethod
    def scaled(cls, layer, factor):
        return cls(layer.w * factor, b=layer.b)


def layer():
    return Layer(RNG.random((4, 4)), RNG.random(4))


def of_dict(p, x):
    h = np.tanh(x @ p["w"] + p["b"])
    return np.sum(h**2) * p["scale"]


def of_list(layers, x):
    for w, b in layers:
        x = np.tanh(x @ w + b)
    return np.sum(x) * len(layers)


def of_items(p):
    total = 0.0
    for name, value in p.items():
        total = total + np.sum(value**2) * len(name)
    return total + sum(np.sum(v) for v in p.values())


def of_dataclass(layer, x):
    other = Layer.scaled(layer, 2.0)
    return np.sum(layer(x) * other(x)) * layer.width + Layer.penalty(layer.w, 0.1)


def of_named_tuple(state, dt):
    for _ in range(4):
        state = State(state.u + dt * state.v, state.v - dt * state.u, state.t + dt)
    u, v, _ = state._replace(u=state.u * 2.0)
    return np.sum(u * v) * state.t


class Linear:
    gain = 2.0

    def __init__(self, w):
        super().__init__()
        self.w = w

    def __repr__(self):
        return str(vars(self))

    def __call__(self, x):
        return x @ self.w * self.gain

    @property
    def size(self):
        return np.sum(self.w**2)

    @classmethod
    def like(cls, other):
        return cls(other.w * 0.5)


class Affine(Linear):
    def __init__(self, w, b):
        super().__init__(w)
        self.b = b

    def __call__(self, x):
        return super().__call__(x) + self.b

    @property
    def size(self):
        return super().size + np.sum(self.b**2)

    @classmethod
    def like(cls, other):
        return cls(other.w, other.b * 0.5)


def of_subclass(layer, x):
    other = Affine(layer.w * 2.0, layer.b)
    return np.sum(layer(x) * other(x)) + other.size * Affine.like(layer).size * Linear.like(layer).size


class Pair(NamedTuple):
    a: np.ndarray
    b: float

    def total(self, weight=1.0):
        return np.sum(self.a) * self.b * weight


def of_methods_of_tuples(pair, x):
    parts = pair._asdict()
    parts["a"] = parts["a"] * x
    return pair.total(2.0) * Pair(x, 3.0).total() + np.sum(parts["a"])


def of_namespace(ns):
    ns.x = ns.x * ns.a
    ns.n += 1
    return np.sum(ns.x**2) * ns.n


def of_nested(model, x):
    for one in model["layers"]:
        x = model["activation"](one(x))
    state = model["state"]
    return np.sum(x) * np.sum(state.u * state.v) if model["mode"] == "both" else np.sum(x)


def collected(*arrays, **weights):
    return sum(np.sum(x * x) for x in arrays) * weights["a"] + weights["b"]


def updated(p, lr):
    p["w"] -= lr * p["g"]
    p["g"][0] = np.sum(p["w"])
    return np.sum(p["w"] ** 3) + p["g"][0]


PROGRAMS = {
    "a dict": (of_dict, ({"w": RNG.random((4, 4)), "b": RNG.random(4), "scale": 2.0}, X)),
    "a list of tuples": (of_list, ([(RNG.random((4, 4)), RNG.random(4)) for _ in range(2)], X)),
    "items of a dict": (of_items, ({"a": X, "bb": RNG.random(2), "ccc": 0.5},)),
    "a dataclass": (of_dataclass, (layer(), X)),
    "a named tuple": (of_named_tuple, (State(RNG.random(3), RNG.random(3), 0.5), 0.1)),
    "a namespace": (of_namespace, (types.SimpleNamespace(x=RNG.random(3), a=2.0, n=3),)),
    "a subclass": (of_subclass, (Affine(RNG.random((4, 4)), RNG.random(4)), X)),
    "methods of tuples": (of_methods_of_tuples, (Pair(RNG.random(4), 0.5), X)),
    "nested": (
        of_nested,
        (
            {
                "layers": [layer(), layer()],
                "state": State(RNG.random(3), RNG.random(3), 0.5),
                "activation": np.sin,
                "mode": "both",
            },
            X,
        ),
    ),
    "collected": (collected, (X, X[0], X[1])),
    "updated": (updated, ({"w": RNG.random(3), "g": RNG.random(3)}, 0.1)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_and_gradients(name):
    program, args = PROGRAMS[name]
    keywords = {"a": 0.5, "b": 2.0} if program is collected else {}
    before = copy.deepcopy(args)
    value, found = sdfgad.differentiate(program).value_and_grad(*args, **keywords)
    assert str(args) == str(before)
    assert value == pytest.approx(program(*copy.deepcopy(args), **keywords), rel=1e-13)
    if not keywords:
        assert sdfgad.check_grads(program, *args).rate > 1.9
    assert {*found} <= {*program.__code__.co_varnames}


def test_the_structure_of_gradients():
    program, (model, x) = PROGRAMS["nested"]
    found = sdfgad.differentiate(program, wrt="model")(model, x)
    assert [*found] == [*model]
    assert type(found["layers"][0]) is Layer
    assert type(found["state"]) is State
    assert (found["activation"], found["mode"], found["layers"][0].name) == (None, None, None)
    assert found["layers"][1].w.shape == (4, 4)
    assert found["state"].t == 0.0, "unused"
    one, two = sdfgad.differentiate(program, wrt=("model.layers[0].w", "model['state']"))(model, x)
    np.testing.assert_array_equal(one, found["layers"][0].w)
    np.testing.assert_array_equal(two.u, found["state"].u)
    np.testing.assert_array_equal(sdfgad.grad(program)(model, x)["layers"][0].w, one)


def results(x):
    return {"first": x * x, "pair": (np.sum(x), State(x + 1.0, x * 3.0, 2.0)), "layer": Layer(x, x * 5.0)}


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("return['first']", 2.0 * X),
        ("return.first", 2.0 * X),
        ("return['pair'][0]", np.ones((3, 4))),
        ("return.pair[1][1]", 3.0 * np.ones((3, 4))),
        ("return['layer'].b", 5.0 * np.ones((3, 4))),
    ],
)
def test_parts_of_results(output, expected):
    np.testing.assert_array_equal(sdfgad.differentiate(results, wrt="x", output=output, reduce="sum")(X), expected)


def no_return(state, dt):
    state["u"] += dt * state["v"]


def test_arrays_in_containers_that_are_updated_are_outputs():
    state = {"u": X, "v": X + 1.0}
    for output in (None, "state.u", "state['u']"):
        found = sdfgad.differentiate(no_return, wrt=("state", "dt"), output=output, reduce="sum")(state, 0.5)
        np.testing.assert_array_equal(found[0]["v"], 0.5 * np.ones((3, 4)))
        assert found[1] == pytest.approx(np.sum(X + 1.0))


def stepped(params, gradient, rate):
    for k in range(3):
        params["w"] = params["w"] - rate * gradient * params["scale"]
    params["steps"] += 3


def test_items_that_are_bound_anew_are_outputs_where_nothing_is_returned():
    params = {"w": X, "scale": 2.0, "steps": 0}
    g = sdfgad.differentiate(stepped, output="params.w", wrt=("rate", "params.scale"), reduce="sum")
    after = copy.deepcopy(params)
    stepped(after, X + 1.0, 0.1)
    np.testing.assert_allclose(g.value(params, X + 1.0, 0.1), after["w"], rtol=1e-14)
    by_rate, by_scale = g(params, X + 1.0, 0.1)
    assert by_rate == pytest.approx(-3 * 2.0 * np.sum(X + 1.0))
    assert by_scale == pytest.approx(-3 * 0.1 * np.sum(X + 1.0))
    assert params["steps"] == 0
    with pytest.raises(OutputError, match=r"ambiguous\n.*\n.*params\['w'\].*params\['steps'\]"):
        sdfgad.differentiate(stepped)(params, X, 0.1)


def test_one_specialisation_for_each_structure():
    g = sdfgad.differentiate(of_items, wrt="p")
    for p in ({"a": X}, {"a": X, "b": X}, {"a": X}, {"b": X, "a": X}, {"a": X[0]}):
        np.testing.assert_allclose(g(p)[next(iter(p))], 2 * len("a") * p[next(iter(p))] + 1)
    assert len(g._specialisations.found) == 4


def tolerant(x, tolerance=1e-3, bounds=(0.0, 1.0)):
    if tolerance < 0.0:
        return np.sum(np.clip(x, *bounds))
    return np.sum(x * x)


def test_numbers_that_are_not_used_have_gradients_of_zero():
    assert sdfgad.differentiate(tolerant)(X)["tolerance"] == 0.0
    with pytest.raises(UnusedArgument, match="`tolerance`"):
        sdfgad.differentiate(tolerant, wrt="tolerance")(X)
    with pytest.raises(UnusedArgument, match=r"`p\['a'\]`"):
        sdfgad.differentiate(lambda p, x: np.sum(x), wrt="p")({"a": X}, X)


def test_limits_hold_for_trees():
    program, args = PROGRAMS["a dict"]
    g = sdfgad.differentiate(program, memory_limit="4 KiB")
    assert g.measure(*args).peak_bytes <= 4096
    np.testing.assert_allclose(g(*args)["p"]["w"], sdfgad.differentiate(program)(*args)["p"]["w"], rtol=1e-13)


# --- what is refused


def test_parts_that_are_not_there():
    p = PROGRAMS["a dict"][1][0]
    with pytest.raises(
        WrtError, match=r"have no part `p.q`\n.*\n.*`p\['w'\]`, `p\['b'\]`, `p\['scale'\]`, `x`"
    ) as caught:
        sdfgad.differentiate(of_dict, wrt="p.q")(p, X)
    assert str(caught.value.where) == line_of(of_dict, "def of_dict")
    with pytest.raises(WrtError, match=r"`of_dict` has no argument 'q\.w'"):
        sdfgad.differentiate(of_dict, wrt="q.w")
    with pytest.raises(WrtError, match=r"argument `p\['w'\]` is an array of int64"):
        sdfgad.differentiate(of_dict, wrt="p.w")({**p, "w": np.ones((4, 4), int)}, X)
    with pytest.raises(WrtError, match="argument `p` is a dict without floats"):
        sdfgad.differentiate(lambda p, x: np.sum(x), wrt="p")({"n": 3}, X)


def test_one_container_in_two_places():
    def changes(p, q):
        p["u"] = p["u"] * 2.0
        return np.sum(p["u"] * q["u"])

    p, q = {"u": X}, {"u": X}
    assert sdfgad.differentiate(changes).value(p, q) == pytest.approx(changes({"u": X}, q))
    g = sdfgad.differentiate(changes)
    g(p, q)
    with pytest.raises(ArgumentError, match="`q` and `p` are one object, and the program changes such") as caught:
        g(q, q)
    assert str(caught.value.where) == line_of(changes, "def changes")
    reads = sdfgad.differentiate(lambda a, b: np.sum(a[0]["u"] * b["v"]["u"]))
    assert reads.value([q], {"v": q}) == pytest.approx(np.sum(X * X))


def test_leaves_that_are_neither_arrays_nor_constants():
    p = PROGRAMS["a dict"][1][0]
    with pytest.raises(
        ArgumentError, match=r"must be constants: `p\['b'\]` \(bytearray\)\n.*\n.*dicts, lists"
    ) as caught:
        sdfgad.differentiate(of_dict)({**p, "b": bytearray(b"1")}, X)
    assert str(caught.value.where) == line_of(of_dict, "def of_dict")
    loop = [X]
    loop.append(loop)
    with pytest.raises(ArgumentError, match="`layers` is nested too deeply, or contains itself") as caught:
        sdfgad.differentiate(of_list)(loop, X)
    assert str(caught.value.where) == line_of(of_list, "def of_list")
    with pytest.raises(ArgumentError, match=r"argument `p\['b'\]` has the dtype object"):
        sdfgad.differentiate(of_dict)({**p, "b": np.array([None])}, X)


def missing(p):
    return np.sum(p["w"]) + p["q"]


def missing_attribute(layer):
    return np.sum(layer.w) * layer.q


@dataclass(frozen=True)
class Frozen:
    w: np.ndarray


def frozen(p):
    p.w = p.w * 2.0
    return np.sum(p.w)


@pytest.mark.parametrize(
    ("program", "argument", "line", "what"),
    [
        (missing, {"w": X}, "return", "Python raises KeyError here: 'q'"),
        (missing_attribute, layer(), "return", "Python raises AttributeError here"),
        (frozen, Frozen(X), "p.w =", "`Frozen` is frozen, so that `.w` cannot be assigned to"),
    ],
)
def test_what_is_wrong_in_the_program(program, argument, line, what):
    with pytest.raises(UnsupportedProgram, match=what) as caught:
        sdfgad.differentiate(program)(argument)
    assert str(caught.value.where) == line_of(program, line)


def test_outputs_that_are_not_there():
    with pytest.raises(OutputError, match=r"no output .*\n.*\n.*\"return\['first'\]\""):
        sdfgad.differentiate(results, output="return.second")(X)


@dataclass
class Settings:
    """It holds constants alone, and has no hash, as it may change."""

    name: str
    function: object
    module: object
    nothing: object = None


def by_settings(x, settings):
    scale = 2.0 if settings.name == "twice" and settings.nothing is None else 1.0
    return np.sum(settings.function(x)) * scale * settings.module.pi


def test_objects_of_constants_alone():
    x, settings = np.array([0.3, 0.8]), Settings("twice", np.sin, math)
    assert sdfgad.check_grads(by_settings, x, settings, wrt="x").error < 1e-9
    g = sdfgad.differentiate(by_settings, wrt="x")
    np.testing.assert_allclose(g(x, settings), 2.0 * math.pi * np.cos(x))
    settings.name = "once"
    np.testing.assert_allclose(g(x, settings), math.pi * np.cos(x))
