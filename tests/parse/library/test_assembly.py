"""Joins and repetitions, and the keyword forms of the functions that make and reshape arrays."""

from tests.parse.library.oracle import arguments, assert_like_numpy

EXPRESSIONS = [
    "np.sum(a, 0, where=a > 1.0, initial=2.0)",
    "np.max(a, initial=1.2, where=a<1.2)",
    "np.concatenate([a, a*2], axis=None)",
    "np.concatenate((a, c[:,:,0]), 0) if False else np.concatenate((a, [[1,2,3,4]]))",
    "np.concatenate((x.astype(np.float32), y.astype(np.float32)))",
    "np.stack((x, 2*x), -1)",
    "np.hstack((x,y,s))",
    "np.hstack((a,a))",
    "np.vstack((x,a))",
    "np.dstack((x,x*2))",
    "np.column_stack((x,a.T))",
    "np.block([[a, a],[a*2, a]])",
    "np.block([x, y])",
    "np.block([[np.eye(3), y[:,None]]])",
    "np.tile(x, 3)",
    "np.tile(a, (2,1,2))",
    "np.tile(c, 2)",
    "np.repeat(a, 2)",
    "a.repeat(3, axis=0)",
    "np.repeat(a, [1,0,2], axis=0)",
    "x.repeat([2])",
    "np.reshape(a, (4,3), 'F')",
    "a.reshape(2,6,order='F')",
    "a.ravel('F')",
    "a.T.flatten()",
    "np.reshape(a, shape=(6,2))",
    "a.T.ravel(order='F')",
    "np.outer(a, x)",
    "np.multiply.outer(a, x)",
    "np.transpose(c, axes=(1,0,2))",
    "np.swapaxes(c, -1, 0)",
    "np.zeros_like(x, shape=(2,))+s",
    "np.full_like(a, s, dtype=np.float32)",
    "np.array(x, ndmin=3)",
    "np.array([1,2,3,4,5,6,7,8,9,10])[:4]*x",
    "np.array([1,2,3])*y",
    "np.ascontiguousarray(a.T)",
    "np.eye(3,4,k=-1)*a",
    "np.mean([x, x*2], axis=0)",
    "np.stack([x,x*x]).mean(axis=-1, keepdims=True)",
    "np.vstack(list(a))",
]

OUT = [
    "o = np.zeros(3); np.dot(a, x, out = o); out = o",
    "o = np.zeros(3); np.sum(a, axis=1, out = o); out = o*o",
    "o=np.empty((3,3)); np.matmul(a,a.T,out = o); out=o",
]


def test_expressions(tmp_path):
    assert_like_numpy(EXPRESSIONS, arguments(), tmp_path)


def test_out(tmp_path):
    assert_like_numpy(OUT, arguments(), tmp_path)
