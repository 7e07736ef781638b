"""What runs on the host in the program of a device, as its plan says it."""

import numpy as np
import pytest

import sdfgad


def mixed(x, A):
    w, _ = np.linalg.eig(A)
    u = x * 1.0
    for _ in range(5):
        u = np.sin(u) * x
    c = np.cumsum(u)
    for i in range(5):
        c = c * u[i] + np.sum(np.sort(c[:5]))
    return np.sum(c * c) + np.abs(np.sum(w))


@pytest.mark.parametrize("device", ["gpu", "cpu"])
def test_the_plan_says_it(monkeypatch, device):
    monkeypatch.setenv("SDFGAD_EMULATE", "1")
    rng = np.random.default_rng(0)
    gradient = sdfgad.differentiate(mixed, wrt="x", device=device)
    plan = gradient.plan(rng.normal(size=50_000), rng.normal(size=(8, 8)))
    texts = [line.split(": ", 1)[1] for line in plan.on_host]
    expected = ["w, _ = np.linalg.eig(A)", "c = np.cumsum(u)", "c = c * u[i] + np.sum(np.sort(c[:5]))"]
    assert texts == (expected if device == "gpu" else [])
    assert str(plan).count("on the host, between copies: test_host_parts.py:") == len(texts)
