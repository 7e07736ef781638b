"""Whatever is made again and whichever states are kept, gradients are those of the program that keeps everything."""

import numpy as np
import pytest

import sdfgad
from tests.helpers_ir import assert_slope
from tests.helpers_memory import assert_equal, case_of, check_memory, options_of

PROGRAMS = []
X, Y = np.linspace(0.3, 1.1, 5), np.linspace(0.5, 1.3, 5)
A, B = (np.random.default_rng(k).uniform(0.1, 0.5, (3, 3)) + np.eye(3) for k in (1, 2))
P = np.random.default_rng(3).uniform(0.2, 0.9, (4, 3))
IDX = np.array([2, 0, 4, 1, 1])


def program(*args, output=None, slope=True):
    def add(function):
        PROGRAMS.append(pytest.param(function, args, output, slope, id=function.__name__))
        return function

    return add


# --- loops


@program(X, Y, 3)
def bounds_changed_after_an_open_loop(x, y, n):
    k, m = 1, 0
    for _ in range(6):
        for _ in range(k, n):
            if m > 0 and x[0] > 1.0:
                break
            x = x * y
        k = k * 2 % 5
    return np.sum(x)


@program(X, IDX, 4)
def bounds_kept_on_a_tape(x, idx, n):
    k = 5
    for _ in range(n):
        k //= 2
        for q in range(k, n):
            k = idx[k % 3]
            if x[0] > 1.4:
                break
            x = x * (x[q % 4] + 0.3)
    return np.sum(x)


# --- updates in place, temporaries


@program(X, Y, 5)
def stencil_in_place(x, y, n):
    u = x * 1.0
    for _ in range(n):
        d = u[2:] - u[:-2]
        e = np.sin(d)
        u[1:-1] += 0.1 * u[1:-1] * e * d
    return np.sum(u * y)


@program(X, Y, 4)
def temporary_with_a_border(x, y, n):
    u, d = x * 1.0, np.zeros(5)
    for _ in range(n):
        d[1:-1] = np.sin(u[2:]) * u[:-2]
        u += d * d * y
    return np.sum(u * d)


@program(X, Y, 4)
def border_changes_each_trip(x, y, n):
    u, d = x * 1.0, np.zeros(5)
    for t in range(n):
        d[1:-1] = np.sin(u[2:]) * u[:-2]
        d[0] = d[1] * 0.5 + t
        u += d * d * y
        d[4] = u[0] * u[1]
    return np.sum(u * d)


@program(X, Y, 4)
def zeros_in_the_loop(x, y, n):
    u = x * 1.0
    for _ in range(n):
        d = np.zeros(5)
        d[1:4] = u[1:4] * u[:3]
        u = u + np.sin(d) * d * y
    return np.sum(u)


@program(X, Y, 4)
def empty_in_the_loop(x, y, n):
    u = x * 1.0
    for _ in range(n):
        d = np.empty(5)
        d[::2] = np.sin(u[::2])
        d[1::2] = np.cos(u[1::2]) * u[:-1:2]
        u = d * d * y
    return np.sum(u)


@program(X, Y, 4)
def filled_element_by_element(x, y, n):
    u = x * 1.0
    for _ in range(n):
        d = np.zeros(5)
        for i in range(1, 5):
            d[i] = np.sin(u[i] * u[i - 1]) + d[i - 1] * d[i - 1]
        u[:] = d * u * y
    return np.sum(u)


@program(X, Y, 4)
def temporary_reused(x, y, n):
    u, d = x * 1.0, np.zeros(5)
    for _ in range(n):
        d[:] = np.sin(u)
        u *= d * y
        d[:] = np.cos(u)
        u += d * d
    return np.sum(u)


@program(X, Y, 4)
def temporary_updated_after_its_first_reader(x, y, n):
    u = x * 1.0
    for _ in range(n):
        d = np.sin(u)
        e = d * d
        d *= y
        u = u * d * e
    return np.sum(u)


@program(X, Y, 4)
def accumulated_temporary(x, y, n):
    u, total = x * 1.0, np.zeros(5)
    for _ in range(n):
        d = np.sin(u) * u
        total += d * d
        u = np.cos(d * y)
    return np.sum(total * u)


@program(X, Y, 4)
def temporary_of_the_trip_before(x, y, n):
    u, d = x * 1.0, y * 1.0
    for _ in range(n):
        u = u * np.sin(d)
        d = u * u
    return np.sum(u)


@program(X, Y, 4)
def temporary_used_after_the_loop(x, y, n):
    u, d = x * 1.0, np.ones(5)
    for _ in range(n):
        d = np.sin(u) * u
        u = d * d * 0.3 + y
    return np.sum(np.sin(u * d) * d)


@program(X, Y, 4)
def half_written_then_used_after_the_loop(x, y, n):
    u, d = x * 1.0, y * y
    for t in range(n):
        d[: t + 1] = np.sin(u[: t + 1]) * u[0]
        u += np.cos(d) * d
    return np.sum(np.sin(u * d) * d)


@program(X, Y, 4)
def chain_of_temporaries(x, y, n):
    u = x * 1.0
    for _ in range(n):
        a = np.sin(u)
        b = np.cos(a) * a
        c = b * a + np.sin(b)
        u = c * c * y + a
    return np.sum(u)


@program(X, Y, 4)
def source_overwritten_between(x, y, n):
    u, v = x * 1.0, y * 1.0
    for _ in range(n):
        a = np.sin(u)
        u[:] = a * a * v
        b = np.sin(u) * a
        v[:] = b * b
        u[:] = b * u
    return np.sum(u * v)


@program(X, Y, 4)
def made_of_something_overwritten_later(x, y, n):
    u, v = x * 1.0, y * 1.0
    for _ in range(n):
        d = np.sin(u)
        w = d * d
        u[:] = np.cos(u) * w
        v = np.sin(v) * w + d
    return np.sum(u * v)


# --- loops that only read


@program(X, Y, 4)
def linear_use_of_what_is_scaled_later(x, y, n):
    d, v = x * 2.0, x * y
    for _ in range(n):
        v = np.sin(v) + d
    d *= 3.0
    return np.sum(v * y) + np.sum(d)


@program(X, Y, 4)
def linear_use_of_what_the_outer_loop_shifts(x, y, n):
    u, v = x * 1.0, y * 1.0
    for _ in range(n):
        d = u * 2.0
        for _ in range(3):
            v = np.sin(v) + d
        u[1:] = np.cos(u[:-1])
    return np.sum(v * u)


@program(X, Y, 3)
def inner_loop_reads_what_is_made_again(x, y, n):
    u, v = x * 1.0, y * 1.0
    for _ in range(n):
        d = np.sin(u)
        w = d * d
        u[:] = np.cos(u) * w
        for _ in range(3):
            v = np.sin(v) + d
    return np.sum(v * u)


@program(X, Y, 3)
def old_values_overwritten_in_an_inner_loop_only(x, y, n):
    x = x * 1.0
    z, v = np.sin(x), y * 1.0
    for _ in range(n):
        for _ in range(3):
            x[:] = v
            v = np.sin(v) * x
    return np.sum(v * z)


@program(X, Y, 3)
def old_values_overwritten_in_an_innermost_loop(x, y, n):
    x = x * 1.0
    z, v = np.sin(x) * x, y * 1.0
    for _ in range(n):
        for _ in range(2):
            v = v * y
            for _ in range(3):
                x[:] = v
                v = np.sin(v) * x
    return np.sum(v * z)


@program(X, Y, 3)
def old_values_overwritten_in_part(x, y, n):
    x = x * 1.0
    z, v = np.sin(x) * x, y * 1.0
    for _ in range(n):
        for k in range(3):
            x[k] = v[k]
            v = np.sin(v) * x
    return np.sum(v * z * x)


@program(X, Y, 3)
def condition_overwritten_later(x, y, n):
    c, v = x * 1.0, y * 1.0
    for _ in range(n):
        if c[1] > 0.4:
            v = np.sin(v)
        else:
            v = v * v
    c[:] = -1.0
    return np.sum(v)


@program(X, Y, 3)
def coefficients_negated_between_two_loops(x, y, n):
    c, v = x * 1.0, y * 1.0
    for _ in range(n):
        v = np.sin(v) + c
    c *= -1.0
    for _ in range(n):
        v = np.cos(v) + c
    return np.sum(v)


@program(X, IDX, 3)
def indices_overwritten_later(x, idx, n):
    i, v = idx * 1, x * 1.0
    for _ in range(n):
        v = np.sin(v)[i]
    i[:] = 0
    return np.sum(v * v[i])


@program(X, Y, 3)
def sizes_overwritten_later(x, y, n):
    k = np.zeros(5, dtype=np.int64) + 2
    v = x * 1.0
    for _ in range(n):
        for j in range(k[0]):
            v[j] = np.sin(v[j]) * v[j]
    k[0] = 1
    for j in range(k[0]):
        v[j] = v[j] * y[j]
    return np.sum(v * y)


@program(X, Y, 3)
def scaled_before_and_after_each_inner_loop(x, y, n):
    d, v = x * 1.0, y * 1.0
    for _ in range(n):
        d *= 1.1
        for _ in range(2):
            v = np.sin(v) + d
        d += 0.3
        for _ in range(2):
            v = np.cos(v) + d
        d *= 0.7
    return np.sum(v)


# --- carried values


@program(X, Y, 5)
def swap(x, y, n):
    u, v = x * 1.0, y * 1.0
    for _ in range(n):
        v[1:-1] = np.sin(u[2:]) * u[:-2]
        u, v = v, u
    return np.sum(u * v)


@program(X, Y, 5)
def ping_pong(x, y, n):
    u, v = x * 1.0, y * 1.0
    for _ in range(n):
        v[1:-1] = np.sin(u[2:]) * u[:-2] + v[1:-1]
        u[1:-1] = np.cos(v[2:]) * v[:-2]
    return np.sum(u * v)


@program(X, Y, 5)
def shift_of_three(x, y, n):
    a, b, c = x * 1.0, y * 1.0, x * y
    for _ in range(n):
        d = np.sin(a) * b + c
        a, b, c = b, c, d
    return np.sum(a * b * c)


@program(X, Y, 5)
def scalars_carried(x, y, n):
    s, t = 0.5, 1.0
    for k in range(n):
        r = np.sin(s) * t
        s = r * x[k % 5] + s
        t = t * np.cos(r)
    return s * t * np.sum(y)


@program(X, Y, 5)
def reduction_into_a_carried_scalar(x, y, n):
    u, s = x * 1.0, 0.0
    for _ in range(n):
        d = u - s
        s += np.sum(d * d) / 5.0
        u = np.sin(d) * y
    return s + np.sum(u)


@program(X, Y, 5)
def normalised(x, y, n):
    u = x * 1.0
    for _ in range(n):
        u = u * y
        m = np.sqrt(np.sum(u * u))
        u /= m
    return u[0] * u[1]


@program(X, Y, 5)
def maximum_subtracted(x, y, n):
    u = x * 1.0
    for _ in range(n):
        m = np.max(u)
        e = np.exp(u - m)
        u = e / np.sum(e) + y * u
    return np.sum(u * u)


@program(X, Y, 4)
def history(x, y, n):
    u = np.zeros((6, 5))
    u[0] = x
    for t in range(n):
        u[t + 1] = np.sin(u[t]) * y
    return np.sum(u * u)


@program(X, Y, 4)
def history_of_two(x, y, n):
    u = np.zeros((7, 5))
    u[0], u[1] = x, y
    for t in range(n):
        d = u[t + 1] * u[t]
        u[t + 2] = np.sin(d) * d + u[t + 1]
    return np.sum(u[n] * u)


@program(X, Y, 4)
def history_read_backwards(x, y, n):
    h, u = np.zeros((5, 5)), x * 1.0
    for t in range(n):
        h[t] = u
        u = np.sin(u) * y
    for t in range(n - 1, -1, -1):
        u = u * np.cos(h[t])
    return np.sum(u)


@program(X, Y, 5)
def prefix_sum(x, y, n):
    s = np.zeros(5)
    s[0] = x[0]
    for k in range(1, n):
        s[k] = s[k - 1] * x[k] + np.sin(s[k - 1])
    return np.sum(s * y)


# --- conditions


@program(X, Y, 5)
def condition_on_data(x, y, n):
    u = x * 1.0
    for _ in range(n):
        d = np.sin(u)
        if d[0] > 0.3:
            u = u * d
        else:
            u = u + d * d * y
    return np.sum(u)


@program(X, Y, 5)
def condition_on_the_counter(x, y, n):
    u, d = x * 1.0, np.zeros(5)
    for t in range(n):
        if t % 2 == 0:
            d[:] = np.sin(u)
        u = u * d + y
    return np.sum(u * d)


@program(X, Y, 5)
def made_in_the_first_trip_only(x, y, n):
    u, d = x * 1.0, np.zeros(5)
    for t in range(n):
        if t == 0:
            d[:] = np.sin(u * y)
        u = u * d + y
    return np.sum(u)


@program(X, Y, 5)
def temporaries_in_a_branch(x, y, n):
    u = x * 1.0
    for _ in range(n):
        if u[1] > 0.47:
            d = np.sin(u)
            e = d * d
            u = u * e * d
        else:
            d = np.cos(u)
            u = d * d * y
    return np.sum(u)


@program(X, Y, 5)
def loop_in_a_branch(x, y, n):
    u, v = x * 1.0, y * 1.0
    if x[0] > 0.1:
        d = np.sin(u)
        for _ in range(n):
            v = np.sin(v) * u + d
        u = u * 2.0 * d
    else:
        v = v * u
    return np.sum(v * u)


@program(X, Y, 5)
def branch_in_an_inner_loop(x, y, n):
    u = x * 1.0
    for t in range(n):
        for k in range(5):
            if u[k] > 0.47 and t < 4:
                d = np.sin(u[k])
                u[k] = d * d + y[k]
            else:
                u[k] *= 1.0 + u[k - 1]
    return np.sum(u)


@program(np.array([0.5, -0.2, 0.7, -1.0, 0.3]), Y, 4)
def masked(x, y, n):
    u = x * 1.0
    for _ in range(n):
        u[u > 0] *= 0.5
        u = np.where(u > 0.1, np.sin(u) * y, u * u - 0.3)
    return np.sum(u * y)


@program(X, Y, 5)
def clipped(x, y, n):
    u = x * 1.0
    for _ in range(n):
        d = np.minimum(np.maximum(u * y, 0.2), 0.8)
        u += d * u
    return np.sum(u)


# --- loops in loops


@program(X, Y, 4)
def nested(x, y, n):
    u = x * 1.0
    for _ in range(n):
        for k in range(1, 4):
            d = np.sin(u[k - 1] * u[k + 1])
            u[k] = d * d + y[k]
    return np.sum(u)


@program(X, Y, 5)
def triangular(x, y, n):
    u = x * 1.0
    for i in range(n):
        for j in range(i):
            u[i] -= np.sin(u[j]) * u[i] * y[j]
    return np.sum(u)


@program(X, Y, 5)
def triangular_from_above(x, y, n):
    u = x * 1.0
    for i in range(n):
        for j in range(i, n):
            d = u[i] * y[j]
            u[j] = np.sin(d) * d
    return np.sum(u * u)


@program(X, Y, 5)
def triangular_of_any_size(x, y, n):
    u = x * 1.0
    for t in range(n):
        for _ in range(t):
            u = np.sin(u) * y
        for _ in range(n - t):
            u = np.cos(u)
    return np.sum(u)


@program(X, Y, IDX, 4)
def made_of_what_a_loop_of_unknown_length_changes(x, y, idx, n):
    u, z = x * 1.0, y * 1.0
    for t in range(n):
        d = z * 2.0
        u = np.sin(u * d) * d
        for j in range(idx[t]):
            z[j] = z[j] + 1.0
    return np.sum(u * z)


@program(X, Y, IDX, 4)
def made_of_what_a_slice_of_unknown_length_changes(x, y, idx, n):
    u, z = x * 1.0, y * 1.0
    for t in range(n):
        d = z * 2.0
        u = np.sin(u * d) * d
        z[: idx[t]] = z[: idx[t]] + 1.0
    return np.sum(u * z)


@program(X, Y, IDX, 4)
def temporary_read_in_the_next_trip_of_an_outer_loop(x, y, idx, n):
    b, z = np.zeros(5), x * 1.0
    for t in range(n):
        if t > 0:
            z = z + np.sin(b) * b
        for k in range(3):
            for j in range(idx[0]):
                b[j] = z[j] * k
            for j in range(idx[0], 5):
                b[j] = np.sin(z[j]) * k
            z = z * np.cos(b)
    return np.sum(z * y)


@program(P, 3)
def three_deep(p, n):
    q = p * 1.0
    for _ in range(n):
        for i in range(1, 4):
            for j in range(1, 3):
                d = np.sin(q[i - 1, j])
                q[i, j] = d * q[i, j - 1] + q[i, j] * d
    return np.sum(q * p)


@program(P, 3)
def three_deep_with_rows(p, n):
    q = p * 1.0
    for t in range(n):
        r = q[0] * q[1]
        for i in range(1, 4):
            s = np.sin(r) * q[i]
            for _ in range(2):
                s = s * s + r
            q[i] = np.cos(s)
        q[0] = r * r
    return np.sum(q * p)


@program(A, 3)
def elimination(a, n):
    a = a * 1.0
    for k in range(n):
        for i in range(k + 1, n):
            f = a[i, k] / a[k, k]
            for j in range(k, n):
                a[i, j] -= f * a[k, j]
    return a[0, 0] * a[1, 1] * a[2, 2]


@program(X, Y, 4)
def two_loops_inside_one(x, y, n):
    u, v = x * 1.0, y * 1.0
    for _ in range(n):
        for k in range(1, 5):
            u[k] = np.sin(u[k - 1]) * v[k]
        for k in range(3, -1, -1):
            v[k] = np.cos(v[k + 1]) * u[k]
    return np.sum(u * v)


@program(X, Y, 4)
def negative_steps(x, y, n):
    u = x * 1.0
    for t in range(n, 0, -1):
        for k in range(4, 0, -2):
            d = np.sin(u[k] * t)
            u[k - 1] = d * d + y[k]
    return np.sum(u)


@program(X, Y, 4)
def two_loops_in_a_row(x, y, n):
    u, d = x * 1.0, np.zeros(5)
    for _ in range(n):
        d[:] = np.sin(u)
        u *= d * y
    for _ in range(n + 1):
        u += d * u
        d[:] = np.cos(u)
    return np.sum(u * d)


@program(X, Y, 0)
def no_trips(x, y, n):
    u = x * 1.0
    for _ in range(n):
        d = np.sin(u)
        u = d * d * y
    return np.sum(u * u)


@program(X, Y, 1)
def one_trip(x, y, n):
    u = x * 1.0
    for _ in range(n):
        d = np.sin(u)
        for _ in range(n):
            u *= d * d * y
    return np.sum(u * u)


@program(X, Y, 3)
def inner_trips_of_zero(x, y, n):
    u, d = x * 1.0, y * y
    for t in range(n):
        for k in range(t - 1):
            d[k] = np.sin(u[k])
        u = u * d * d
    return np.sum(u)


# --- loops that a test ends


@program(X, Y, 3)
def while_in_a_loop(x, y, n):
    u, s = x * 1.0, 1.0
    for _ in range(n):
        k = 0
        while k < 3 and s < 20.0:
            s = s * (1.0 + u[k] * u[k])
            u[k] = np.sin(u[k]) * y[k]
            k += 1
        u = u * u + 0.1
    return np.sum(u) * s


@program(X, Y, 3)
def loop_in_a_while(x, y, n):
    u, s = x * 1.0, 1.0
    while s < 30.0:
        d = np.sin(u)
        for _ in range(n):
            u = u * d + y
        s = s * 2.5
        u = u / np.sum(u)
    return np.sum(u * u)


@program(X, Y, 4)
def while_before_and_after(x, y, n):
    s, u = 1.0, x * 1.0
    while s < 3.0:
        s = s * 1.7 + u[0]
        u[0] = np.sin(u[0]) * s
    for _ in range(n):
        u = np.sin(u) * u + s
    while s > 1.0:
        s = s * 0.5
        u = u * u
    return np.sum(u * y) * s


@program(X, Y, 6)
def broken_off(x, y, n):
    u = x * 1.0
    for t in range(n):
        d = np.sin(u) * y
        if np.sum(d) < 0.8:
            break
        u = d * d + u * 0.3
    for _ in range(3):
        u = np.cos(u) * u
    return np.sum(u)


@program(X, Y, 4)
def inner_loop_broken_off(x, y, n):
    u = x * 1.0
    for _ in range(n):
        d = np.sin(u)
        for k in range(5):
            if d[k] > 0.7:
                break
            u[k] = u[k] * d[k] + y[k]
        u *= d
    return np.sum(u)


@program(X, Y, 5)
def continued(x, y, n):
    u = x * 1.0
    for t in range(n):
        d = u * u
        if t == 2:
            continue
        u = np.sin(d) * d + y
    return np.sum(u)


# --- indices


@program(X, IDX, 4)
def gathered(x, idx, n):
    u = x * 1.0
    for _ in range(n):
        g = u[idx]
        u = np.sin(g) * g + u
    return np.sum(u)


@program(X, IDX, 4)
def scattered(x, idx, n):
    u = x * 1.0
    for k in range(n):
        s = np.sin(u[k])
        u[idx[k]] = s * s + u[idx[k + 1]]
    return np.sum(u * u)


@program(X, IDX, 4)
def added_at(x, idx, n):
    u = x * 1.0
    for _ in range(n):
        d = np.zeros(5)
        np.add.at(d, idx, np.sin(u) * u)
        u = d * u + x
    return np.sum(u)


@program(X, IDX, 4)
def indices_permuted_in_the_loop(x, idx, n):
    u, p = x * 1.0, idx * 1
    for _ in range(n):
        u = np.sin(u[p]) * u
        p[:] = (p + 1) % 5
    return np.sum(u * u[p])


@program(X, IDX, 4)
def integers_counted_in_the_loop(x, idx, n):
    u, c = x * 1.0, np.zeros(5, dtype=np.int64)
    for k in range(n):
        c[idx[k]] += 1
        u = np.sin(u) * (1.0 + c)
    return np.sum(u * c)


@program(X, Y, 4)
def index_from_a_loop(x, y, n):
    k = 0
    for t in range(n):
        if x[t] > 0.4:
            k += 1
    u = x * 1.0
    for _ in range(n):
        u[k] = np.sin(u[k]) * u[k - 1]
        u[k - 1] = u[k] * u[k]
    return np.sum(u * y)


@program(X, Y, 5)
def argument_of_the_maximum(x, y, n):
    u = x * 1.0
    for _ in range(n):
        k = np.argmax(u)
        u[k] = np.sin(u[k]) * 0.6 * y[k]
    return np.sum(u * u)


# --- matrices and calls


@program(A, B, 3)
def products(a, b, n):
    c = a * 1.0
    for _ in range(n):
        t = np.sin(c @ b)
        c = t @ t
    return np.sum(c)


@program(A, B, 3)
def products_kept_apart(a, b, n):
    t = np.sin(b @ a)
    s = np.sin(a @ t)
    r = np.cos(s * s)
    for _ in range(n):
        r = r @ t
    return np.sum(r * s)


@program(A, X[:3], 3)
def solved(a, x, n):
    m, u = a * 1.0, x * 1.0
    for _ in range(n):
        u = np.linalg.solve(m, u)
        m[0, 0] += u[0] * u[1]
    return np.sum(u * u)


@program(A, X[:3], 3)
def inverted(a, x, n):
    u = x * 1.0
    for _ in range(n):
        m = a + np.outer(u, u)
        w = np.linalg.inv(m)
        u = w @ u + np.sin(u)
    return np.sum(u)


@program(A, X[:3], 2)
def factored(a, x, n):
    u = x * 1.0
    for _ in range(n):
        l = np.linalg.cholesky(a @ a.T + np.outer(u, u))
        u = l @ np.sin(u)
    return np.sum(u)


@program(P, 3)
def rows_and_columns(p, n):
    q = p * 1.0
    for _ in range(n):
        m = np.mean(q, axis=0)
        s = np.sqrt(np.mean((q - m) ** 2, axis=0)) + 0.1
        q = (q - m) / s * p
    return np.sum(q * q)


# --- outputs, helpers, kinds of numbers


@program(X, Y, 4, output="x")
def argument_updated_in_place(x, y, n):
    for _ in range(n):
        d = np.sin(x)
        x[:] = d * d * y
    x[0] = x[1] * x[2]


@program(X, Y, 4)
def output_updated_in_the_loop(x, y, n):
    out = np.zeros(5)
    for t in range(n):
        d = np.sin(x + out)
        out += d * d * y
        out[t] = out[t - 1] * d[0]
    return out


@program(X, Y, 4, output="return[1]")
def several_outputs(x, y, n):
    u, v = x * 1.0, y * 1.0
    for _ in range(n):
        u = np.sin(u) * v
        v = np.cos(v) * u
    return u, v * u, np.sum(v)


@program(X, Y, 4, output="return[0]")
def another_output_only_overwrites(x, y, n):
    u, v = x * 1.0, y * 1.0
    for _ in range(n):
        v[:] = u * u
        u = np.sin(u) * y
    v *= 2.0
    return u, v


def smooth(u, y):
    d = np.sin(u)
    e = d * d
    return e * y + d


@program(X, Y, 3)
def helper_called_twice(x, y, n):
    u = x * 1.0
    for _ in range(n):
        u = smooth(u, y)
        v = smooth(u * u, x)
        u = smooth(v, u)
    return np.sum(u)


def relax(u, y, n):
    for _ in range(n):
        d = np.zeros(5)
        d[1:] = np.sin(u[:-1])
        u[:] = u * d + y


@program(X, Y, 3)
def helper_with_a_loop(x, y, n):
    u = x * 1.0
    relax(u, y, n)
    w = u * u
    relax(w, u, n)
    return np.sum(w * u)


@program(X, Y, 3)
def inner_function(x, y, n):
    def f(u):
        t = u * y
        return t * np.sin(t)

    u = x * 1.0
    for _ in range(n):
        u = f(f(u) + u)
    return np.sum(u)


@program(X, 0.7, 4)
def scalar_argument(x, a, n):
    u = x * 1.0
    for t in range(n):
        r = a / (t + 1.0)
        u[1:-1] += r * (u[2:] - u[:-2]) * u[1:-1]
        a = a * np.sin(r)
    return np.sum(u) * a


@program(X.astype(np.float32), Y.astype(np.float32), 4, slope=False)
def single_precision(x, y, n):
    u = x * np.float32(1.0)
    for _ in range(n):
        d = np.sin(u)
        u = d * d * y + u
    return np.sum(u * u)


@program(X + 0.5j * Y, Y - 0.2j * X, 4)
def complex_numbers(x, y, n):
    u = x * 1.0
    for _ in range(n):
        d = np.exp(u * 0.3j)
        u = d * np.conj(u) * y * 0.5 + d
    return np.sum(u * np.conj(u)).real


@program(X, Y, 7)
def many_trips(x, y, n):
    u, v = x * 1.0, y * 1.0
    for t in range(n):
        d = np.sin(u) * v
        for _ in range(2):
            v = np.cos(v * d)
        if t > 3:
            u = d * d
        u[1:] += v[:-1]
    return np.sum(u * v)


@program(X, Y, 3)
def values_before_the_loop(x, y, n):
    c = np.sin(x) * x
    e = np.exp(c)
    u = y * 1.0
    for _ in range(n):
        u = u * c + e
    f = np.cos(u) * e
    return np.sum(f * f * c)


@program(X, Y, 3)
def made_of_an_updated_array(x, y, n):
    w = x * y
    c = np.sin(w)
    w *= 2.0
    e = np.cos(w) * c
    u = y * 1.0
    for _ in range(n):
        u = np.sin(u) * e + c
        w = w * u
    return np.sum(w * u * e)


@program(X, Y, 4)
def moments(x, y, n):
    u, m, v = x * 1.0, np.zeros(5), np.zeros(5)
    for t in range(1, n + 1):
        g = 2.0 * (u - y) * u
        m = 0.9 * m + 0.1 * g
        v = 0.99 * v + 0.01 * g * g
        u = u - 0.1 * (m / (1.0 - 0.9**t)) / (np.sqrt(v / (1.0 - 0.99**t)) + 0.1)
    return np.sum(u * u)


@program(X, Y, 3)
def stages(x, y, n):
    u = x * 1.0
    for _ in range(n):
        k1 = np.sin(u) * y
        k2 = np.sin(u + 0.5 * k1) * y
        k3 = np.sin(u + k2 * k1)
        u += 0.1 * (k1 + 2.0 * k2 + k3)
    return np.sum(u * u)


@program(X, Y, 4)
def sweeps_of_both_directions(x, y, n):
    u, p, q = x * 1.0, np.zeros(5), np.zeros(5)
    for _ in range(n):
        p[0], q[0] = 0.0, u[0]
        for k in range(1, 4):
            p[k] = -1.0 / (p[k - 1] - 2.0 - y[k])
            q[k] = (u[k] + q[k - 1]) * p[k]
        for k in range(3, 0, -1):
            u[k] = p[k] * u[k + 1] + q[k]
    return np.sum(u * u)


@program(X, Y, 3)
def argument_saved_before_it_is_overwritten(x, y, n):
    old = np.empty(5)
    for _ in range(n):
        old[:] = x
        for k in range(1, 4):
            x[k] = 0.5 * (old[k - 1] * old[k + 1]) + np.sin(y[k] * x[k])
    return np.sum(x * old)


@program(X, Y, 3)
def scaled_in_a_branch_after_the_loop(x, y, n):
    d, v = x * 1.0, y * 1.0
    for _ in range(n):
        v = np.sin(v) + d
    if v[0] > 0.0:
        d *= 3.0
    return np.sum(v * d)


@program(X, Y, 3)
def loop_reads_one_element_that_changes(x, y, n):
    d, v = x * 1.0, y * 1.0
    for _ in range(n):
        for _ in range(3):
            v = np.sin(v) + d[2]
        d[1:] *= 0.5
        d[0] = v[0]
    return np.sum(v * d)


@pytest.mark.parametrize(("function", "args", "output", "slope"), PROGRAMS)
def test_all_choices_agree(function, args, output, slope):
    assert check_memory(function, args, trials=4, output=output) or not choices(function, args, output)
    if slope:
        assert_slope(function, *args, output=output or "return")


def choices(function, args, output):
    options = options_of(case_of(function, args, output))
    return options.outer or options.inner or options.loops


# --- compiled, within the least memory


def more_trips(name):
    function, args, _, _ = next(case.values for case in PROGRAMS if case.values[0].__name__ == name)
    return pytest.param(function, (*args[:-1], 12), id=name)


COMPILED = [
    "stencil_in_place",
    "linear_use_of_what_the_outer_loop_shifts",
    "inner_loop_reads_what_is_made_again",
    "old_values_overwritten_in_an_inner_loop_only",
    "made_of_something_overwritten_later",
    "argument_of_the_maximum",
]


@pytest.mark.slow
@pytest.mark.parametrize(("function", "args"), [more_trips(name) for name in COMPILED])
def test_compiled_with_the_least_memory(function, args):
    def gradients(**options):
        return sdfgad.differentiate(function, reduce="sum", **options)(*args)

    expected = gradients(strategy="store_all")
    with pytest.raises(sdfgad.errors.InfeasibleBudget) as refused:
        gradients(memory_limit=1)
    for options in (
        {"memory_limit": refused.value.minimum_bytes},
        {"strategy": "recompute_all"},
        {"strategy": "revolve"},
    ):
        found = gradients(**options)
        for name in expected:
            assert_equal(found[name], expected[name], f"{name}, {options}")
    sdfgad.check_grads(function, *args)
