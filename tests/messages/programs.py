"""Programs that several ranks run, each on its part of the arrays, and the same for one process."""

import numpy as np
from mpi4py import MPI

# --- heat, by Sendrecv: the first and last rows are a neighbour's, or boundary values


def heat(comm, steps, u, a):
    rank, size = comm.rank, comm.size
    left = rank - 1 if rank > 0 else MPI.PROC_NULL
    right = rank + 1 if rank < size - 1 else MPI.PROC_NULL
    for _ in range(steps):
        comm.Sendrecv(u[1:2], left, 0, u[-1:], right, 0)
        comm.Sendrecv(u[-2:-1], right, 1, u[:1], left, 1)
        u[1:-1] += a[1:-1] * u[1:-1] * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return comm.allreduce(np.sum(u[1:-1] ** 2))


def heat_alone(steps, u, a):
    for _ in range(steps):
        u[1:-1] += a[1:-1] * u[1:-1] * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(u[1:-1] ** 2)


# --- shallow water on a periodic grid, by rows, with a step that the fastest wave limits


def slope(f, dx):
    return (f[2:, 1:-1] - f[:-2, 1:-1]) / (2.0 * dx)


def mean(f):
    return 0.25 * (f[2:, 1:-1] + f[:-2, 1:-1] + f[1:-1, 2:] + f[1:-1, :-2])


def stepped(h, p, q, dt, dx):
    """A Lax-Friedrichs step of height and momenta, which have a row or column of neighbours on each side."""
    px, qy = slope(p, dx), slope(q.T, dx).T
    hx, hy = slope(0.5 * h * h + p * p / h, dx), slope((0.5 * h * h + q * q / h).T, dx).T
    cross_x, cross_y = slope(p * q / h, dx), slope((p * q / h).T, dx).T
    return mean(h) - dt * (px + qy), mean(p) - dt * (hx + cross_y), mean(q) - dt * (hy + cross_x)


def wrapped(f):
    """With the columns of a periodic grid."""
    return np.concatenate((f[:, -1:], f, f[:, :1]), axis=1)


def with_rows(comm, f):
    """With a neighbour's row above and below, by requests."""
    up, down = (comm.Get_rank() - 1) % comm.Get_size(), (comm.Get_rank() + 1) % comm.Get_size()
    above, below = np.empty_like(f[0]), np.empty_like(f[0])
    requests = [comm.Irecv(above, source=up, tag=1), comm.Irecv(below, source=down, tag=2)]
    requests += [comm.Isend(f[-1], dest=down, tag=1), comm.Isend(f[0], dest=up, tag=2)]
    MPI.Request.Waitall(requests)
    return wrapped(np.concatenate((above[np.newaxis], f, below[np.newaxis])))


def water(comm, steps, h, p, q, dx):
    for _ in range(steps):
        fastest = np.empty(1)
        comm.Allreduce(np.max(np.abs(p / h) + np.sqrt(h), keepdims=True)[0], fastest, op=MPI.MAX)
        dt = 0.4 * dx / fastest[0]
        rows = [with_rows(comm, f) for f in (h, p, q)]
        h, p, q = stepped(rows[0], rows[1], rows[2], dt, dx)
    energy = np.empty(1)
    comm.Allreduce([np.sum(h * h + (p * p + q * q) / h).reshape(1), MPI.DOUBLE], [energy, MPI.DOUBLE])
    return energy[0]


def water_alone(steps, h, p, q, dx):
    for _ in range(steps):
        dt = 0.4 * dx / np.max(np.abs(p / h) + np.sqrt(h))
        rows = [wrapped(np.concatenate((f[-1:], f, f[:1]))) for f in (h, p, q)]
        h, p, q = stepped(rows[0], rows[1], rows[2], dt, dx)
    return np.sum(h * h + (p * p + q * q) / h)


# --- every operation


def everything(comm, x, y, s):
    rank, size = comm.Get_rank(), comm.Get_size()
    right, left = (rank + 1) % size, (rank - 1) % size
    total, top = np.empty_like(x), np.empty_like(x)
    comm.Allreduce(x * x, total)
    comm.Allreduce(np.sin(x), top, op=MPI.MAX)
    low = comm.allreduce(s * x[0], op=MPI.MIN)
    in_place = x * y
    comm.Allreduce(MPI.IN_PLACE, in_place, MPI.SUM)
    from_last = y * 2.0
    comm.Bcast(from_last, root=size - 1)
    first = comm.bcast(s * y[0])
    reduced = 3.0 * y
    comm.Reduce(x * y, reduced, op=MPI.SUM, root=0)
    at_last = comm.reduce(s * s, root=size - 1)
    everyone = np.empty((size, 4))
    comm.Allgather(np.exp(y), everyone)
    parts = comm.allgather(s * y[1:3])
    got = y.copy()
    comm.Sendrecv(x * s, dest=right, recvbuf=got, source=left)
    turned = x * y
    comm.Sendrecv_replace(turned, left, 4, right, 4)
    back = np.zeros(2)
    if rank % 2 == 0:
        comm.Send(x[:2] * s, dest=rank + 1, tag=3)
        comm.Send(np.ones(2), dest=rank + 1, tag=6)
        comm.Recv(back, source=rank + 1)
    else:
        mine, other = np.empty(2), y[:2] * 1.0
        comm.Recv(other, source=rank - 1, tag=3)
        comm.Recv(mine, source=rank - 1)
        comm.Send(mine * other * other * s, dest=rank - 1, tag=5)
    edges = np.zeros(4)
    for _ in range(3):
        requests = [comm.Irecv(edges[2:], left, 7), comm.Irecv(edges[:2], source=right, tag=8)]
        requests.append(comm.Isend(y[2:] * s, dest=right, tag=7))
        requests += [comm.Isend(x[1:3] * y[0], dest=left, tag=8)]
        MPI.Request.Waitall(requests[::-1])
        y = y + 0.1 * edges * y
    sent, received = comm.Isend(y, right, 9), np.empty(4)
    arriving = comm.Irecv(received, source=left)
    arriving.Wait()
    sent.wait()
    comm.Barrier()
    value = np.sum(total * y * in_place) + np.sum(top * x) + low * s + np.sum(from_last * x) * first
    value += np.sum(reduced * reduced) + np.sum(everyone**2) * (rank + 1) + np.sum(parts[0] * parts[-1])
    value += np.sum(got * received * turned) + np.sum(back**2) * s
    return value + at_last * at_last if rank == size - 1 else value


def of_complex_numbers(comm, z):
    """Waves of other ranks, in single precision."""
    other, total = np.empty_like(z), np.empty_like(z)
    comm.Sendrecv(z * z, (comm.rank + 1) % comm.size, recvbuf=other, source=(comm.rank - 1) % comm.size)
    comm.Allreduce(other * z, total)
    return np.sum(np.abs(total) ** 2).astype(np.float64)


# --- what decides how often a program runs


def solved(comm, a, b):
    """A nonlinear system that couples ranks, by iterations whose number depends on data."""
    x, other = np.zeros_like(b), np.zeros_like(b)
    while True:
        comm.Sendrecv(x, (comm.rank + 1) % comm.size, recvbuf=other, source=(comm.rank - 1) % comm.size)
        residual = b - a * x * x - 0.1 * other
        if comm.allreduce(np.sum(residual * residual)) < 1e-26:
            break
        x = x + 0.3 * residual
    return comm.allreduce(np.sum(x**3))


# --- what is differentiated


def shared(comm, x):
    return comm.allreduce(np.sum(x * x))


def at_root(comm, x):
    total = comm.allreduce(np.sum(x * x))
    return total if comm.rank == 0 else 0.0 * x[0]


def largest(comm, x):
    top = np.empty_like(x)
    comm.Allreduce(x, top, MPI.MAX)
    return np.sum(top)


def unread(comm, x, y):
    """Rank 0 sends what does not depend on x, and no rank reads what rank 1 sends."""
    got = np.zeros(2)
    if comm.rank == 0:
        comm.Send(np.arange(2.0), 1)
        comm.Recv(got, source=1)
        return np.sum(x)
    if comm.rank == 1:
        comm.Recv(got, 0)
        comm.Send(x * x, 0)
    return np.sum(got * x * y)


def short(comm, x):
    if comm.rank == 0:
        comm.Send(x[:1], 1)
        return x[0]
    got = np.zeros(2)
    comm.Recv(got, source=0)
    return np.sum(got)
