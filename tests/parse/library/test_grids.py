"""Grids, triangles and subscripted makers of arrays."""

from tests.parse.library.oracle import arguments, assert_like_numpy

EXPRESSIONS = [
    "np.linspace(0, 1, 7)*s",
    "np.linspace(s, 2*s, 5)",
    "np.linspace(0, s, 4, endpoint=False)",
    "np.linspace(0, 1, n)*s",
    "np.linspace(x, 2*x, 3)",
    "np.linspace(x, 2*x, 3, axis=-1)",
    "np.linspace(0, 10, 5, dtype=int)*s",
    "np.linspace(0, s, 4, retstep=True)[1]",
    "np.linspace(np.float32(0), 1, 3)",
    "np.linspace(s, 1, 1)",
    "np.meshgrid(x, y)[0]*s",
    "np.meshgrid(x, y)[1]",
    "np.meshgrid(x, y, indexing='ij')[1]",
    "np.meshgrid(x, y, sparse=True)[1]",
    "np.meshgrid(x,y,copy=False)[0]*2",
    "np.indices((2,3))*s",
    "np.indices((2,3), sparse=True)[1]",
    "np.mgrid[0:3, 1:7:2]*s",
    "np.mgrid[0:1:3j, -1:1:5j]*s",
    "np.mgrid[0:1:n*1j, -n/2:n/2:(n-2)*1j]*s",
    "np.mgrid[:4]*s",
    "np.ogrid[0:3, 0:n][0]*s",
    "np.mgrid[0:n, 0:2]*s",
    "np.mgrid[0:1:0.25]*s",
    "np.tri(3)*s",
    "np.tri(3,4,1)*a",
    "np.tril(a)",
    "np.tril(a, -1)",
    "np.triu(c, 1)",
    "np.triu(a)",
    "np.r_[x, s, 0, y]",
    "np.r_[1:4, 5]*s",
    "np.c_[x, x*x]",
    "np.c_[y, a]",
    "a[np.s_[1:, 0]]",
]

SEQUENCES = [
    "np.vstack(list(np.array([1.0,2.0])*s))",
    "u=np.zeros((3,4)); u[slice(None), slice(0,2)] = s; out = u",
]


def test_expressions(tmp_path):
    assert_like_numpy(EXPRESSIONS, arguments(n=6), tmp_path)


def test_sequences(tmp_path):
    assert_like_numpy(SEQUENCES, arguments(), tmp_path)
