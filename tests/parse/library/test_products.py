"""Contractions, convolutions, norms, and elements chosen by integers."""

from tests.parse.library.oracle import arguments, assert_like_numpy

EXPRESSIONS = [
    "np.take(a, k, axis=1)",
    "np.take(x, [[0,1],[2,3]])",
    "a.take([0, -1])",
    "np.take(x, k+7, mode='wrap')",
    "np.take(x, k+2, mode='clip')",
    "np.take_along_axis(a, k[:,None], 1)",
    "np.take_along_axis(a, np.array([[0,1,2,0]]), 0)",
    "np.select([x>1, x>0.8],[x*x, 3*x], -x)",
    "np.choose(k, (y, y*y, s))",
    "np.bincount(k, minlength=4)",
    "np.bincount(np.array([0,0,2]), weights=y*y, minlength=3)",
    "np.einsum('ij,j->i', a, x)",
    "np.einsum('ij,jk', a, a.T)",
    "np.einsum('ii', a[:, :3])",
    "np.einsum('ii->i', a[:, :3])",
    "np.einsum('ij->ji', a)",
    "np.einsum('ij->', a)",
    "np.einsum('i,i', x, x)",
    "np.einsum('i,j->ij', x, y)",
    "np.einsum('...i,...i->...', c, c)",
    "np.einsum('...i,ij', c, a[:2])",
    "np.einsum('bij,bjk->bik', c, c.transpose(0,2,1))",
    "np.einsum('i,ij,j', y, a, x)",
    "np.einsum('ij,jk,kl->il', a, a.T, a, optimize=True)",
    "np.einsum('i...->...', c)",
    "np.einsum(a, [0,1], x, [1], [0])",
    "np.einsum('ij,ij->j', a, k[:,None])",
    "np.tensordot(a, a, axes=([0,1],[0,1]))",
    "np.tensordot(a, x, 1)",
    "np.tensordot(a, y, axes=(0,0))",
    "np.tensordot(c, c, axes=[(1,2),(1,2)])",
    "np.tensordot(x, y, 0)",
    "np.inner(a, x)",
    "np.inner(a, a)",
    "np.inner(s, x)",
    "np.vdot(a, a)",
    "np.vecdot(a, x)",
    "np.linalg.vecdot(c, c, axis=1)",
    "np.kron(x, y)",
    "np.kron(a, a[:2,:2])",
    "np.kron(x, a)",
    "np.trace(a)",
    "a.trace(1)",
    "np.trace(c, 0, 1, 2)",
    "np.linalg.trace(c)",
    "np.linalg.multi_dot([a, a.T, a, x])",
    "np.linalg.multi_dot((x, a.T, y))",
    "np.linalg.outer(x, y)",
]

CONVOLUTIONS = [
    "np.convolve(x, y, 'full')",
    "np.convolve(x, y, 'same')",
    "np.convolve(x, y, 'valid')",
    "np.convolve(y, x, 'full')",
    "np.convolve(y, x, 'same')",
    "np.convolve(y, x, 'valid')",
    "np.convolve(x, y[:2], 'full')",
    "np.convolve(x, y[:2], 'same')",
    "np.convolve(x, y[:2], 'valid')",
    "np.convolve(y[:2], x, 'full')",
    "np.convolve(y[:2], x, 'same')",
    "np.convolve(y[:2], x, 'valid')",
    "np.convolve(x, x, 'full')",
    "np.convolve(x, x, 'same')",
    "np.convolve(x, x, 'valid')",
    "np.correlate(x, y, 'full')",
    "np.correlate(x, y, 'same')",
    "np.correlate(x, y, 'valid')",
    "np.correlate(y, x, 'full')",
    "np.correlate(y, x, 'same')",
    "np.correlate(y, x, 'valid')",
    "np.correlate(x, y[:2], 'full')",
    "np.correlate(x, y[:2], 'same')",
    "np.correlate(x, y[:2], 'valid')",
    "np.correlate(y[:2], x, 'full')",
    "np.correlate(y[:2], x, 'same')",
    "np.correlate(y[:2], x, 'valid')",
    "np.correlate(x, x, 'full')",
    "np.correlate(x, x, 'same')",
    "np.correlate(x, x, 'valid')",
]

UPDATES = [
    "u = x.copy(); np.add.at(u, [0,1,0], y); out = u*u",
    "u = x.copy(); np.add.at(u, k, s); out = u*u",
    "u=a.copy(); np.subtract.at(u, (k, k), y*y); out = u",
    "u=a.copy(); np.add.at(u, (slice(None), k), 2.0*a[:, :3]); out = u*u",
    "u=np.zeros((3,4)); np.add.at(u, np.array([[0,1],[1,1]]), np.sin(x)); out = u*u",
    "u=np.ones(3); np.maximum.at(u, [0,0,2], y); out = u",
]

NORMS = [
    "np.linalg.norm(x)",
    "np.linalg.norm(a)",
    "np.linalg.norm(a, axis=0)",
    "np.linalg.norm(c)",
    "np.linalg.norm(a, 1)",
    "np.linalg.norm(a, np.inf)",
    "np.linalg.norm(a, -1)",
    "np.linalg.norm(x, 1)",
    "np.linalg.norm(x, np.inf)",
    "np.linalg.norm(x, -np.inf)",
    "np.linalg.norm(x, 0)",
    "np.linalg.norm(x, 3)",
    "np.linalg.norm(c, 'fro', axis=(0,2))",
    "np.linalg.norm(c, axis=-1, keepdims=True)",
    "np.linalg.norm(c, 1, axis=(2,0), keepdims=True)",
    "np.linalg.norm(k)",
    "np.linalg.norm(a, keepdims=True)",
    "np.linalg.vector_norm(a)",
    "np.linalg.vector_norm(c, axis=(0,1), ord=1)",
    "np.linalg.matrix_norm(c)",
    "np.cross(y, y*y)",
    "np.cross(a[:, :3], y)",
    "np.cross(c, c[::-1], axis=1)",
    "np.linalg.cross(y, y[::-1])",
]


def test_expressions(tmp_path):
    assert_like_numpy(EXPRESSIONS, arguments(), tmp_path)


def test_convolutions(tmp_path):
    assert_like_numpy(CONVOLUTIONS, arguments(), tmp_path)


def test_updates_at(tmp_path):
    assert_like_numpy(UPDATES, arguments(), tmp_path)


def test_norms(tmp_path):
    assert_like_numpy(NORMS, arguments(), tmp_path)
