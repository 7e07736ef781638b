"""Programs that use mpi4py: what four ranks check, what is refused, and that no message is lost."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import sdfgad
from sdfgad.ir.library import LIBRARY
from sdfgad.ir.program import Call, walk
from sdfgad.optimise.passes import optimise
from tests.helpers import line_of

try:
    from mpi4py import MPI
except (ImportError, RuntimeError) as missing:
    pytest.skip(f'no MPI: {missing}; pip install "sdfgad[mpi]"', allow_module_level=True)

COMM, X = MPI.COMM_WORLD, np.array([0.3, 0.7])
VECTOR, STATUS = MPI.DOUBLE.Create_contiguous(2), MPI.Status()


def mpiexec():
    beside = Path(sys.executable).parent / "mpiexec"
    return str(beside) if beside.exists() else shutil.which("mpiexec")


@pytest.mark.skipif(mpiexec() is None, reason="there is no mpiexec")
def test_on_four_ranks():
    command = [mpiexec(), "-n", "4", sys.executable, "-m", "mpi4py", "-m", "tests.messages.on_ranks"]
    environment = os.environ | {"SDFGAD_VERIFY": "0", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=500, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "all ranks agree" in done.stdout


def unread(comm, x):
    """To itself, and nothing reads what comes."""
    got, total = np.zeros(2), np.zeros(2)
    for _ in range(3):
        request = comm.Irecv(got, 0)
        sent = comm.Isend(x * x, 0)
        MPI.Request.Waitall([request, sent])
        comm.Allreduce(x, total)
        comm.Allreduce(x, total)
    counts = np.arange(2)
    comm.Bcast(counts)
    comm.Bcast(got)
    comm.Barrier()
    comm.Barrier()
    return np.sum(x)


def is_message(statement):
    return isinstance(statement, Call) and LIBRARY[statement.name].is_ordered


class Ring:
    """What holds a communicator, and knows its neighbours."""

    def __init__(self, comm):
        self.comm = comm

    def turned(self, x):
        before, after = self.comm.Shift(0, 1)
        self.comm.Sendrecv_replace(x, after, source=before)
        return x * (1 + self.comm.Get_coords(self.comm.Get_rank())[0])


def around(ring, messages):
    y = messages * messages
    return np.sum(ring.turned(y) * COMM.bcast(messages))


def test_topologies_and_communicators_in_objects():
    ring = Ring(COMM.Create_cart([1], periods=[True]))
    g = sdfgad.differentiate(around, wrt="messages", ranks="same")
    np.testing.assert_allclose(g(ring, X), 3.0 * X * X, rtol=1e-15)
    # Another communicator is another program; the same one is not.
    g = sdfgad.differentiate(unshared, wrt="x")
    assert len({id(g._bind_and_specialise((comm, X), {})[1]) for comm in (COMM, COMM, COMM.Dup())}) == 2


def test_no_message_is_lost():
    g = sdfgad.differentiate(unread, wrt="x", ranks="sum")
    np.testing.assert_array_equal(g(COMM, X), [1.0, 1.0])
    gradient = g._bind_and_specialise((COMM, X), {})[1].pipeline.planner.store_all.gradients_only
    counts = [sum(map(is_message, walk(program.body))) for program in (gradient, optimise(gradient))]
    # Of 10 statements one sends integers, which have no cotangents.
    assert counts == [19, 19]
    assert "calls Python, where nothing is planned or counted" in str(g.plan(COMM, X))


# --- refusals


def of_product(comm, x):
    return np.sum(comm.allreduce(x, op=MPI.PROD))


def of_objects(comm, x):
    return np.sum(comm.sendrecv(x, 0, source=0))


def of_persistent(comm, x):
    comm.Send_init(x, 0).Start()
    return np.sum(x)


def of_derived_types(comm, x):
    comm.Bcast([x, VECTOR])
    return np.sum(x)


def of_another_type(comm, x):
    comm.Bcast([x, MPI.FLOAT])
    return np.sum(x)


def of_another_size(comm, x):
    y = np.empty(3)
    comm.Allreduce(x, y)
    return np.sum(y)


def of_one_sided(comm, x):
    window = MPI.Win.Create(x, comm=comm)
    window.Fence()
    return np.sum(x)


def of_columns(comm, x):
    y = np.outer(x, x)
    comm.Bcast(y[:, 0])
    return np.sum(y)


def of_transposed(comm, x):
    y = np.outer(x, x)
    comm.Bcast(y.T)
    return np.sum(y)


def of_any_source(comm, x):
    comm.Recv(x)
    return np.sum(x)


def of_no_rank(comm, x):
    comm.Send(x, dest=7)
    return np.sum(x)


def of_negative_tag(comm, x):
    comm.Send(x, 0, -7)
    return np.sum(x)


def of_status(comm, x):
    comm.Recv(x, source=0, status=STATUS)
    return np.sum(x)


def of_two_communicators(comm, x):
    both = comm.Dup()
    return both.allreduce(x[0])


def of_forgotten(comm, x):
    comm.Isend(x, 0)
    return np.sum(x)


def of_waiting_twice(comm, x):
    request = comm.Isend(x, MPI.PROC_NULL)
    request.Wait()
    request.Wait()
    return np.sum(x)


def of_waiting_elsewhere(comm, x):
    request = comm.Isend(x, MPI.PROC_NULL)
    for _ in range(2):
        request.Wait()
    return np.sum(x)


def of_other_order(comm, x):
    first, second = comm.Isend(x, 0), comm.Isend(x * x, 0)
    second.Wait()
    first.Wait()
    return np.sum(x)


def of_overtaking(comm, x):
    request = comm.Irecv(x, 0)
    comm.Recv(x, source=0)
    request.Wait()
    return np.sum(x)


def of_lists(comm, x):
    return np.sum(comm.bcast([x, "text"]))


def of_whole_arrays(comm, x):
    return np.sum(comm.allreduce(x, op=MPI.MAX))


def of_shared(comm, x):
    return comm.allreduce(np.sum(x))


@pytest.mark.parametrize(
    ("program", "text", "message"),
    [
        (of_product, "MPI.PROD", "this reduction over ranks is not supported"),
        (of_objects, "sendrecv", "`sendrecv` of mpi4py is not supported in programs"),
        (of_persistent, "Send_init", "Persistent requests are not supported"),
        (of_derived_types, "VECTOR", "a derived type"),
        (of_another_type, "MPI.FLOAT", "or another one than its array"),
        (of_another_size, "Allreduce", "a message of 2 float64 goes into a buffer of 3 float64"),
        (of_one_sided, "Win.Create", "`MPI.Win.Create` is not supported"),
        (of_columns, "Bcast", "not contiguous in memory"),
        (of_transposed, "Bcast", "not contiguous in memory"),
        (of_any_source, "Recv", "a receive from any rank is not supported"),
        (of_no_rank, "Send", "there is no rank 7 among 1"),
        (of_negative_tag, "Send", "the tag -7 is no integer from 0 on"),
        (of_status, "Recv", "the status of a message is not supported"),
        (of_two_communicators, "Dup", "Make the communicator outside of the program"),
        (of_forgotten, "Isend", "this message is never waited for"),
        (of_waiting_twice, "request.Wait", "has been waited for already"),
        (of_waiting_elsewhere, "request.Wait", "in another loop or branch"),
        (of_other_order, "second.Wait", "has not been waited for"),
        (of_overtaking, "comm.Recv", "has not been waited for"),
        (of_lists, "bcast", "no array or number on this rank"),
        (of_whole_arrays, "MPI.MAX", "compares whole arrays"),
        (of_shared, "def of_shared", 'Pass differentiate(..., ranks="same")'),
    ],
)
def test_refused(program, text, message):
    ranks = None if program is of_shared else "sum"
    with pytest.raises(sdfgad.UnsupportedProgram) as caught:
        sdfgad.differentiate(program, wrt="x", ranks=ranks)(COMM, X)
    assert message in str(caught.value)
    lines = line_of(program, text).split(":")
    assert f"{caught.value.where.file}:{caught.value.where.line}".split(":")[:1] == lines[:1]
    if program is not of_waiting_twice:
        assert str(caught.value.where.line) == lines[1]


def alone(comm, x):
    return comm.rank + np.sum(x)


def test_what_programs_that_communicate_cannot_do():
    with pytest.raises(sdfgad.UnsupportedProgram, match='ranks="same" has no meaning'):
        sdfgad.differentiate(alone, wrt="x", ranks="same")(COMM, X)
    with pytest.raises(sdfgad.ArgumentError, match="ranks='mean' is not known"):
        sdfgad.differentiate(alone, wrt="x", ranks="mean")
    for call in (
        lambda: sdfgad.vmap(lambda x: unshared(COMM, x))(np.stack((X, X))),
        lambda: sdfgad.hessian(lambda x: unshared(COMM, x))(X),
        lambda: sdfgad.differentiate(unshared, wrt="x", device="gpu")(COMM, X),
        lambda: sdfgad.explain(unshared, COMM, X, bisect=True),
    ):
        with pytest.raises(sdfgad.SdfgadError, match="communicates by mpi4py is not supported") as caught:
            call()
        assert str(caught.value.where) == line_of(unshared, "Sendrecv")


def unshared(comm, x):
    got = np.zeros(2)
    comm.Sendrecv(x * x, 0, recvbuf=got, source=0)
    return np.sum(got)
