"""Library functions of parts that differ from trip to trip, and of lists, numbers and results of one another."""

from tests.parse.library.oracle import arguments, assert_like_numpy

LOOPS = [
    """t = 0.0; out = 0.0
    for i in range(1, n):
        t += np.linalg.norm(x[:i])
    out = t""",
    """t = 0.0; out = 0.0
    for i in range(1, n):
        t += np.linalg.norm(x[i-1:])*np.var(x[:i+1])
    out = t""",
    """t = 0.0; out = 0.0
    for i in range(1, n):
        t += np.prod(x[:i])
    out = t""",
    """t = 0.0; out = 0.0
    for i in range(1, n):
        t += np.cumsum(x[:i])[-1]
    out = t""",
    """u = x.copy(); out = 0
    for i in range(n):
        u = np.roll(u, 1) * x
    out = u""",
    """u = x.copy(); out = 0
    for i in range(n):
        u = np.pad(u[1:], (0,1)) * x + np.convolve(u, y, 'same')
    out = u""",
    """u = x.copy(); out = 0
    for i in range(1, n):
        u[i] = np.interp(u[i-1], [0.0,0.5,1.0,2.0], x)
    out = u""",
    """u = x.copy(); out = 0
    for i in range(n-1):
        j = np.argmax(np.abs(u[i:])) + i
        u[i] += u[j]*u[j]
    out = u""",
    """u = np.zeros(4); out = 0
    for i in range(n-1):
        u += np.einsum('i,i->', a[i % 3], x) * np.diff(x, append=x[i])
    out = u""",
    """t = 0.0; out = 0
    for i in range(1, n-1):
        t += np.trapezoid(x[i-1:i+2]) + np.average(x[:i+1], weights=x[:i+1]) + np.ptp(x[:i+1])
    out = t""",
    """t = 0.0; out = 0
    for i in range(1, n):
        t += np.trace(np.outer(x[:i], x[:i])) + np.sum(np.tril(np.outer(x[:i], x[:i])))
    out = t""",
    """t = 0.0; out = 0
    for i in range(1, n):
        t += np.hstack((x[:i], x[i:]))[i-1] + np.vdot(x[:i], x[:i])
    out = t""",
    """t = 0.0; out = 0
    for i in range(n):
        t = t + np.linspace(0.0, x[i % 4], 5)[3] + np.all(x > 0.0)*s
    out = t""",
    """t = 0.0; out = 0
    for r in np.split(a, 3):
        t = t + np.max(r)*np.min(r)
    out = t""",
    """t = 0.0; out = 0
    if np.any(x > 1.2):
        t = np.sum(x)
    out = t + s""",
    "h, e = np.histogram(a, 4, weights=a); out = h[:2]*2",
    "xx, yy = np.meshgrid(x, y); out = xx*yy",
    "gx, gy = np.gradient(a, s, 2.0); out = gx*gy",
    """t = 0.0; out = 0
    for i, v in enumerate(np.array_split(x, 3)):
        t = t + i*np.sum(v)
    out = t""",
]

COMBINED = [
    "np.searchsorted(np.cumsum(x), y)",
    "np.einsum('ij...,jk...->ik...', a, a.T)",
    "np.einsum('ij,ij->i', a, a) @ y",
    "np.einsum('i->', x)",
    "np.einsum(',i', s, x)",
    "np.einsum('ij,jk,kl,l', a, a.T, a, x)",
    "np.einsum('iij->j', np.stack((a[:, :3], a[:, 1:4]), -1))",
    "np.stack((x, x)).prod()",
    "np.any(x)*s",
    "np.where(np.isclose(x, x), x, 0)",
    "np.linspace(0, 1, num=4, dtype=np.float32)*x",
    "np.insert(x, [1, 1], [s, 2.0])",
    "np.block([[a],[x]])",
    "np.block([[s, 1.0],[2.0, s]])",
    "np.column_stack([x, x, x*x]).sum(axis=0)",
    "np.concatenate(a)",
    "np.concatenate([row*2 for row in a])",
    "np.stack(np.meshgrid(x, y), axis=-1)",
    "np.transpose(np.indices((2,2)), (1,2,0))*s",
    "np.asarray([x[0], s])*2",
    "np.cumsum([s, s, 1])",
    "np.cumsum(4 * x, dtype=int) * x",
    "np.cumprod(2 * y, dtype=int) * y",
    "np.cumsum(k - 1, dtype=bool) * y",
    "np.var([s, 1.0, 2.0])",
    "np.max([s, x[0]])",
    "np.outer([1,2], x)",
    "np.dot([1.0,2,3], y)",
    "np.histogram(a, bins=np.linspace(0.5, 1.5, 4), weights=a)[0]",
    "np.histogram(a, bins=3, range=(0,n))[0]",
    "np.gradient(a, axis=0)",
    "np.cross([1.0,0,0], y)",
    "np.moveaxis(c, [0,1,2],[2,1,0])",
    "np.mean(a, axis=(0,1), keepdims=True)",
    "a.mean(axis=None, dtype=np.float64)",
    "np.ravel([x, x])",
    "np.array([[1,2],[3,4]], dtype=np.float32)*s",
    "np.ones_like(k)*s",
    "np.full((2,), x[0])",
    "np.tensordot(np.array([1,2,3]), a, axes=1)",
    "a.sum(0).cumsum().prod()",
    "np.pad(a, [(0,0),(1,1)], mode='edge')",
    "np.pad(a, {-1: (1,2)})",
    "np.add.reduce(a, axis=1)",
    "np.maximum.reduce(a, axis=0)",
    "np.multiply.reduce(x)",
    "np.outer(x,y).T.flatten()[::2]",
    "np.min(np.abs(x - 1.1))",
    "float(np.sum(x))*x",
    "x[:np.size(y)]",
    "np.exp(x, dtype=np.float64)",
    "np.flip(a, axis=(0,1))",
    "np.vstack([x]*3)",
    "np.concatenate(3 * [y, y])",
    "np.expand_dims(x, (0,2))",
    "np.squeeze(a[None])",
    "np.take(a, 1, axis=0)",
    "np.take(a, -1)",
    "a.take(k, axis=0)",
    "np.diag(np.diag(a[:, :3]))",
    "np.triu(a, 1).T",
    "np.rot90(a, 1, axes=(1,0))",
    "np.prod(a.shape)*x",
    "np.ptp(c, axis=(0,1))",
    "np.average(c, axis=(0,2), weights=c[:,0,:]**2)",
    "np.argmax(k)*x",
    "np.min(x, initial=0.2)",
    "np.linalg.norm(x - 1, ord=2)**2",
    "np.linalg.norm(a, axis=(0,1))",
    "np.linalg.norm(a, ord=2, axis=1)",
    "np.logspace(s, 1, 3, base=2)",
    "np.full_like(x, 1, dtype=int)*s",
    "np.interp(x, [.5, 1.5], [1, 2])",
]


def test_in_loops(tmp_path):
    assert_like_numpy(LOOPS, arguments(n=4), tmp_path)


def test_combined(tmp_path):
    assert_like_numpy(COMBINED, arguments(n=3), tmp_path)
