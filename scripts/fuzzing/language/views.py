"""Views, copies and updates in place: who sees which change."""

from scripts.fuzzing.language.notation import Subject
from scripts.fuzzing.language.shared import RULES

VIEWS = Subject(
    before="""\
def halved(a):
    a *= 0.5
    return a


def shifted(a, by):
    a = a + by
    a[0] = by
    return a


def ends(a):
    return a[:2], a[-2:]""",
    body="""\
A = np.outer(x, y)
v = u[1:5]
w = u[::2]
rows = [A[0], A[1].copy(), A[:, 2]]
<statement>
<statement>
<block>
<statement>
<block>
s += np.sum(A * np.outer(y, x)) + np.sum(v) + 0.5 * w[1] + sum(np.sum(r * x) for r in rows)""",
    rules={
        "short": ("v", "u[1:5]", "u[:4]", "A[0, :4]", "x[2:6]", "A[1:5, 2]", "y[::-1][:4]", "A[k % 3, 1:5]"),
        "vector": (
            "u",
            "A[0]",
            "A[:, 1]",
            "A[k % 4]",
            "x",
            "y",
            "rows[0]",
            "rows[2]",
            "A[:, k % 3]",
            "np.diag(A)",
            "A.T[2]",
        ),
        "target": ("u", "A[0]", "A[:, 1]", "A[k % 4]", "rows[0]", "rows[1]", "A[:, k % 3]", "A.T[2]", "A[::-1][1]"),
        "small": ("v", "u[1:5]", "u[:4]", "A[0, :4]", "A[1:5, 2]", "A[k % 3, 1:5]", "u[::-1][1:5]"),
        "changed": ("<vector> * <const>", "<vector> + <vector>", "<vector>[::-1]", "np.roll(<vector>, 1)", "<num>"),
        "statement": (
            "<target>[:] = <changed>",
            "<small>[:] = <short> * <const>",
            "<small>[...] = <short>",
            "<target>[:] += <changed>",
            "v = <small>",
            "v = <short>.copy()",
            "w = u[::2]",
            "w = A.reshape(-1)[::13]",
            "w = A.ravel()[3:6]\nw[1] = <num>",
            "v *= <const>",
            "v[<cell>] = <num>",
            "w[1] += <leaf>",
            "A = A.T",
            "A = A.copy()",
            "A[[0, 1]] = A[[1, 0]]",
            "A[1:3] = A[2:4]",
            "A[1:4, 1:4] += 0.1 * A[:3, 2:5]",
            "u, v = v.repeat(2)[:6] * 1.0, u[1:5]",
            "halved(<small>)",
            "u = shifted(u, <leaf>)",
            "a, b = ends(<target>)\na[0] = <leaf>\nb[1] += 0.5",
            "rows[<row>][<place>] = <num>",
            "rows[1] = <target>",
            "rows[0], rows[2] = rows[2], rows[0]",
            "for row in A:\n    row[1] *= <const>",
            "for k in range(3):\n    A[k, :] -= A[k, k] * A[k + 1]",
            "for k in <trips>:\n    v = A[k]\n    v[k] = <leaf>",
            "u[x > <const>] = <leaf>",
            "A[A > 0.4] *= <const>",
            "u[np.array([0, 2, 0])] += y[:3]",
            "np.add(u, <vector>, out=u)",
            "np.copyto(v, <short>)",
            "u[1:] = u[:-1]",
            "u[:-1] += u[1:]",
            "v = u if <test> else A[0]\nv = v[1:5]",
            "A.flat[7] = <num>",
            "A += A.T",
            "B = A[1:5, 1:5]\nB[0] = B[:, 1]",
            *RULES["nested"],
        ),
        "cell": ("0", "1", "-1", "k % 4"),
        "row": ("0", "1", "2"),
    },
)
