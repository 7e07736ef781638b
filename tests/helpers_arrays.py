"""Random programs over matrices: stencils, scans, sums, products, gathers, masks, branches and swaps."""

import random

import numpy as np

ROWS, COLUMNS = 18, 5

SIMPLE = """
A = np.tanh(B) * C
A = 0.5 * B - C * Q
A = A * 0.5 + R[:, None]
A[1:-1] = 0.3 * (B[2:] - B[:-2]) + C[1:-1]
A[1:-1, 1:-1] += 0.1 * (B[2:, 1:-1] + B[:-2, 1:-1] - 2.0 * C[1:-1, 1:-1] + B[1:-1, 2:])
A[:, 1:] += B[:, :-1] * Q[1:] * 0.2
A[::2] = B[1::2] * 0.5
A[1:] = 0.5 * A[:-1] + B[1:]
A[:] = A[::-1] * 0.7
A[:, 2] = R * S
A[3] += Q * 0.3
A[:, ::2] *= 0.5
A = np.where(B > 0.3, C, 0.5 * A)
A[B > 0.6] = S
A[idx] = B * 0.5
A = B[idx] * 0.5 + C
A, B = B, A
A = np.minimum(B, C)
A = np.zeros((18, 5))
A[2:, 1] = R[:-2] * R[2:]
R = 0.3 * np.sum(A, axis=1)
R = np.max(A, axis=1) * 0.5
R = 0.2 * (A @ Q)
R[1:-1] = 0.5 * (R[2:] - R[:-2]) * A[1:-1, 0]
R = R[idx] + 0.5 * A[:, 1]
Q = 0.1 * np.sum(A, axis=0)
Q = 0.1 * (R @ A)
Q = np.minimum(Q, A[2])
Q[1:] += 0.5 * Q[:-1] * S
Q = A[4] * 0.5 - B[5]
S = 0.1 * np.sum(A * B)
S = np.tanh(np.sum(R) + S)
S = np.max(Q)
S = A[2, 1] * Q[3] + 0.3
t = A * 0.5; A = t * B; B = t + 0.1
t = np.zeros((18, 2)); t[:, 1] = R; t[:, 1] += A[:, 0] * 0.5; R = t[:, 1] * 0.5
t = np.zeros((18, 5)); t[:, 1:] = A[:, :-1] * 0.5; t[:, 0] += R; B = t * Q
t = np.empty(18); t[:] = 0.5 * A[:, 0]; t[1:] += R[:-1]; A[:, 3] = t
t = R * 0.5; R = Q.sum() * t; A[:, 1] -= t
"""

LOOPS = """
for j in range(1, 5)| A[:, j] = A[:, j - 1] * 0.5 + B[:, j]| R = R * 0.5 + A[:, j]
for j in range(4)| A[:, j + 1] -= 0.3 * R * A[:, j]| B[:, j] = A[:, j + 1] * 0.5
for j in range(3, -1, -1)| A[:, j] = 0.5 * A[:, j + 1] * B[:, j]| R += 0.1 * A[:, j]
for j in range(3, 0, -1)| t = A[:, j] * 0.5| A[:, j - 1] += t * R| B[:, j] = t
for i in range(1, 18)| A[i] = 0.5 * A[i - 1] + B[i]
for i in range(17)| R[i + 1] = np.tanh(R[i]) * A[i, 0] + 0.1| Q += 0.1 * A[i]
for i in range(18)| S = S * 0.5 + R[i]| R[i] = S
for i in range(18)| S = 0.0| for j in range(5)|     S += A[i, j] * Q[j]| R[i] = 0.3 * S
for i in range(18)| for j in range(i % 5)|     A[i, j] = 0.5 * A[i, j + 1] + B[i, j]
for i in range(5)| for j in range(i, 5)|     R[i] += 0.1 * A[j, i] * B[i, j]
for i in range(5)| for j in range(i)|     A[i, j] = (B[i, j] - 0.1 * np.dot(A[i, :j], A[j, :j]))
for i in range(18)| if R[i] > 0.3|     A[i] *= Q| else|     B[i, 1] = S
for i in range(18)| A[idx[i], 2] += B[i, 1] * 0.3
for i in range(17)| A[idx[i], 1] = 0.5 * B[idx[i + 1], 3]
for k in range(n)| A[1:-1] += 0.1 * (A[2:] - A[:-2])| R = R * 0.9 + A[:, 1] * 0.1
for k in range(n)| t = A * 0.5 + B| A[1:] = 0.5 * t[:-1]| B[:, 1:] = 0.3 * t[:, :-1]
for k in range(n)| Q = 0.5 * Q + 0.1 * A[k]| A[k + 1] = Q * B[k]| if S > 0.2|     S *= 0.5
w = 0; while w < 3 and S < 2.0| w += 1| S = S * 1.3 + 0.1 * R[w]| A[w] = 0.5 * A[w] * S
"""


class ArrayMaker:
    """Makes a program of 18 x 5 matrices a, b, c, vectors r and q, and a scalar s from a seed."""

    def __init__(self, seed):
        self.rng = random.Random(seed)

    def text(self):
        lines = ["a = x * 1.0", "b = x * y", "c = y + 0.1", "r = x[:, 1] * 1.0", "q = y[2] * 1.0", "s = 0.4"]
        for _ in range(self.rng.randint(3, 6)):
            lines += self.loop() if self.rng.random() < 0.45 else self.simple()
        lines += [f"return {self.rng.choice(['np.sum(a * b) + s', 'a', 'np.sum(r) * s + np.sum(q)', 'r + b[:, 2]'])}"]
        return "\n".join(["import numpy as np", "def program(x, y, idx, n):", *(f"    {line}" for line in lines), ""])

    def filled(self, line):
        a, b, c = self.rng.sample("abc", 3)
        for old, new in zip("ABCRQS", (a, b, c, "r", "q", "s"), strict=True):
            line = line.replace(old, new)
        return line

    def simple(self):
        return self.filled(self.rng.choice(SIMPLE.strip().splitlines())).split("; ")

    def loop(self):
        *start, text = self.filled(self.rng.choice(LOOPS.strip().splitlines())).split("; ", 1)
        head, *body = text.split("| ")
        lines = [head, *(f"    {line}" for line in body)]
        if self.rng.random() < 0.3:
            lines += [f"    {line}" for line in self.simple()]
        return start + [
            f"{line}:" if line.lstrip().startswith(("for", "if", "else", "while")) else line for line in lines
        ]


def arguments(seed):
    rng = np.random.default_rng(seed)
    x, y = rng.uniform(-0.6, 0.9, (2, ROWS, COLUMNS))
    return x, y, rng.permutation(ROWS), int(rng.integers(0, 4))
