"""Sums over shards on a cluster of two processes: the same bits whoever computes them, and also if one is lost."""

import linecache
import os
import pickle
import re
import runpy
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import sdfgad
from sdfgad import errors, shards

pytest.importorskip("distributed")
import dask.array
import dask.bag
from distributed import Client, LocalCluster

from sdfgad import distributed

pytestmark = pytest.mark.slow
ROOT = Path(sdfgad.__file__).parent.parent
RNG = np.random.default_rng(1)
# 11 shards of 20 rows.
DATA = RNG.random((220, 4))
SHARDS = np.split(DATA, 11)
PARAMETERS = {"w": RNG.random(3), "b": [0.3, np.ones(1)], "units": 2}


def misfit(params, batch, steps=5):
    h = np.zeros(batch.shape[0])
    for _ in range(steps):
        h = np.tanh(batch[:, :-1] @ params["w"] + params["b"][0] * h + params["b"][1]) * params["units"]
    return np.sum((h - batch[:, -1]) ** 2)


def in_order(parts, add):
    """Pairs of neighbours, level by level."""
    while len(parts) > 1:
        parts = [add(*parts[k : k + 2]) if k + 1 < len(parts) else parts[k] for k in range(0, len(parts), 2)]
    return parts[0]


def serial(batches, **options):
    """Value and gradients in one process, as flat lists of numbers and arrays."""
    g = sdfgad.differentiate(misfit, wrt="params", shapes="exact", **options)
    return in_order([flat(g.value_and_grad(PARAMETERS, one)) for one in batches], lambda x, y: list(map(np.add, x, y)))


def flat(result):
    value, gradient = result
    assert gradient["units"] is None
    return [value, gradient["w"], *gradient["b"]]


def assert_same(found, expected):
    """To the bit."""
    for x, y in zip(flat(found), expected, strict=True):
        assert np.asarray(x).tobytes() == np.asarray(y).tobytes()


@pytest.fixture(scope="module")
def expected():
    return serial(SHARDS)


@pytest.fixture(scope="module")
def cluster(expected):
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as made:
        yield made


@pytest.fixture(scope="module")
def client(cluster):
    with Client(cluster, set_as_default=False) as made:
        yield made


@pytest.fixture(scope="module")
def gradient(client):
    return distributed.value_and_grad(misfit, client=client)


# --- the sums


def test_the_sum_has_the_bits_of_the_serial_one_each_time(gradient, client, expected):
    assert_same(gradient(PARAMETERS, SHARDS), expected)
    kept = client.run(lambda: list(shards._kept))
    assert_same(gradient(PARAMETERS, batch=tuple(SHARDS)), expected)
    assert client.run(lambda: list(shards._kept)) == kept  # Nothing was made anew.
    np.testing.assert_allclose(expected[0], misfit(PARAMETERS, DATA))


def test_one_worker_of_two_threads_has_the_same_bits(expected):
    with (
        LocalCluster(n_workers=1, threads_per_worker=2, dashboard_address="127.0.0.1:0") as one,
        Client(one, set_as_default=False) as client,
        client.as_current(),
    ):
        g = distributed.value_and_grad(misfit, "params", over="batch")
        for _ in range(3):
            assert_same(g(PARAMETERS, SHARDS), expected)


def test_arrays_of_dask(gradient, expected):
    """Blocks of other axes make no difference."""
    assert_same(gradient(PARAMETERS, dask.array.from_array(DATA, chunks=(20, 3))), expected)


def test_bags_of_dask(gradient, expected):
    bag = dask.bag.from_sequence(SHARDS, npartitions=4)
    sizes = [len(part) for part in bag.map_partitions(lambda part: [list(part)]).compute(scheduler="sync")]
    assert len(sizes) == 4
    parts, rest = [], SHARDS
    for size in sizes:
        parts.append(serial(rest[:size]))
        rest = rest[size:]
    found = gradient(PARAMETERS, dask.bag.concat([bag, bag.filter(lambda _: False)]))
    assert_same(found, in_order(parts, lambda x, y: list(map(np.add, x, y))))
    with pytest.raises(errors.ArgumentError, match="no shard"):
        gradient(PARAMETERS, bag.filter(lambda _: False))


def test_what_is_in_workers_already(gradient, client, expected):
    futures = client.scatter(SHARDS[:6])
    lazy = [dask.delayed(np.copy)(shard) for shard in SHARDS[6:]]
    assert_same(gradient(PARAMETERS, [*futures, *lazy]), expected)


def test_gradients_by_shards_are_listed(client):
    g = distributed.value_and_grad(misfit, argnums=("batch", 0), client=client)
    alone = sdfgad.differentiate(misfit, wrt=("params", "batch"), shapes="exact")
    bag = dask.bag.from_sequence(SHARDS[:5], npartitions=2)
    for split in (SHARDS[:5], bag):
        _, (by_batch, by_params) = g(PARAMETERS, split)
        assert len(by_batch) == 5
        for shard, found in zip(SHARDS, by_batch, strict=False):
            np.testing.assert_array_equal(found, alone(PARAMETERS, shard)[1])
        np.testing.assert_allclose(by_params["w"], sum(alone(PARAMETERS, one)[0]["w"] for one in SHARDS[:5]))


def test_the_graph_has_the_arguments_once(gradient):
    params = {**PARAMETERS, "large": np.zeros(250_000)}
    (total,) = gradient._asked((params, SHARDS), {})
    names = [re.sub(r"-[0-9a-f]{32}(-\d+)?$", "", key) for key in dict(total.dask)]
    counts = {name: names.count(name) for name in names}
    assert counts == {"arguments-of-misfit": 1, "gradient-of-misfit": 11, "sum-of-misfit": 10}
    assert len(pickle.dumps(dict(total.dask))) < 2.2e6


# --- what goes wrong


def test_a_lost_worker_makes_no_difference(gradient, cluster, client, expected):
    before, results = client.run(os.getpid), []
    thread = threading.Thread(target=lambda: results.append(gradient(PARAMETERS, [*SHARDS, *SHARDS], steps=40_000)))
    thread.start()
    until = time.monotonic() + 20
    while count(cluster, "memory") < 2 and time.monotonic() < until:
        time.sleep(0.005)
    done = count(cluster, "memory")
    os.kill(next(iter(before.values())), signal.SIGKILL)
    thread.join()
    assert 2 <= done < 22, "not a test"
    client.wait_for_workers(2)
    assert set(client.run(os.getpid).values()) != set(before.values())
    g = sdfgad.differentiate(misfit, wrt="params", shapes="exact")
    parts = [flat(g.value_and_grad(PARAMETERS, one, steps=40_000)) for one in SHARDS]
    assert_same(results[0], in_order([*parts, *parts], lambda x, y: list(map(np.add, x, y))))


def count(cluster, state):
    """The number of shards that are done, or under way."""
    tasks = list(cluster.scheduler.tasks.values())
    return sum(one.state == state for one in tasks if str(one.key).startswith("gradient-of-misfit"))


def test_an_error_in_a_worker_reaches_the_caller(gradient, expected):
    with pytest.raises(errors.ShapeMismatch, match="shape") as caught:
        gradient(PARAMETERS, [*SHARDS[:2], np.ones((20, 3))])
    assert caught.value.__notes__ == ["in shard 2"]
    assert "test_distributed.py" in str(caught.value)
    assert_same(gradient(PARAMETERS, SHARDS), expected)


def test_the_memory_limit_holds_in_each_worker(client):
    with pytest.raises(errors.InfeasibleBudget) as caught:
        distributed.value_and_grad(misfit, client=client, memory_limit=64)(PARAMETERS, SHARDS)
    limit = caught.value.minimum_bytes
    found = distributed.value_and_grad(misfit, client=client, memory_limit=limit)(PARAMETERS, SHARDS)
    assert_same(found, serial(SHARDS, memory_limit=limit))


def no_batch(x):
    return np.sum(x)


def test_what_is_refused(gradient, client):
    refused = pytest.raises(errors.ArgumentError)
    for call, what in (
        (lambda: distributed.value_and_grad(no_batch), "no argument 'batch'"),
        (lambda: distributed.value_and_grad(misfit, over=()), "no argument ''"),
        (lambda: distributed.value_and_grad(misfit, None), "`argnums` is None"),
        (lambda: distributed.value_and_grad(misfit, output="batch"), "the scalar that the program returns"),
        (lambda: gradient(PARAMETERS), "`batch`, which has the shards, is not passed"),
        (lambda: gradient(PARAMETERS, []), "`batch` is empty"),
        (lambda: gradient(PARAMETERS, DATA), "`batch` is a ndarray"),
        (
            lambda: gradient(dask.array.ones(3), SHARDS),
            "a Array of Dask's is passed for an argument that is replicated",
        ),
        (
            lambda: both(client)(SHARDS, SHARDS[1:], 2),
            "the numbers or lengths of shards differ: `batch` 11, `params` 10",
        ),
        (lambda: both(client)(dask.bag.from_sequence(SHARDS), SHARDS, 2), "a bag is split into its elements"),
    ):
        with refused as caught:
            call()
        assert what in str(caught.value)
        assert len(str(caught.value).splitlines()) == 3


def both(client):
    g = distributed.value_and_grad(misfit, "batch", over=("batch", "params"), client=client)
    return lambda batch, params, steps: g(params, batch, steps)


def test_without_a_client():
    with pytest.raises(errors.ArgumentError, match=r"no client of Dask's\n  Make one before"):
        distributed.value_and_grad(misfit)(PARAMETERS, SHARDS)


def test_without_dask(monkeypatch):
    monkeypatch.setitem(sys.modules, "dask", None)
    with pytest.raises(errors.MissingPackage, match=r'pip install "sdfgad\[dask\]"') as caught:
        runpy.run_path(distributed.__file__)
    assert isinstance(caught.value, ImportError)


# --- functions that workers cannot import


def test_functions_of_a_notebook(client):
    """Cells have no files; a function and the one that it calls are in two of them."""
    cells = {
        "/tmp/ipykernel_1/1.py": "import numpy as np\ndef square(x):\n    return x * x\n",
        "/tmp/ipykernel_1/2.py": "def total(w, batch):\n    return np.sum(square(batch * w) * SCALE)\n",
    }
    space = {"__name__": "__main__", "SCALE": 2.0}
    for file, text in cells.items():
        linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
        exec(compile(text, file, "exec"), space)
    g = distributed.value_and_grad(space["total"], client=client)
    value, found = g(np.ones(4), SHARDS)
    np.testing.assert_allclose(value, 2 * np.sum(DATA**2))
    np.testing.assert_allclose(found, 4 * np.sum(DATA**2, axis=0))
    space["SCALE"] = 3.0
    np.testing.assert_allclose(g(np.ones(4), SHARDS)[0], 3 * np.sum(DATA**2))
    with pytest.raises(errors.ShapeMismatch, match=r"/tmp/ipykernel_1/2.py:2: return np.sum\(square"):
        g(np.ones(3), SHARDS)


def test_the_page(tmp_path):
    """Its examples run as one script."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "scaling.md").read_text(), re.DOTALL)
    script = tmp_path / "script.py"
    script.write_text("\n\n".join(blocks))
    done = subprocess.run(
        [sys.executable, str(script)], env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
