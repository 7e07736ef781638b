"""Arrays made of parts of others."""

from tests.parse.library.oracle import arguments, assert_like_numpy

EXPRESSIONS = [
    "np.roll(x, 1)",
    "np.roll(a, -1, axis=1)",
    "np.roll(a, 2)",
    "np.roll(a, (1,2), axis=(0,1))",
    "np.roll(a, 1, axis=(0,1))",
    "np.roll(x, n)",
    "np.append(x, y)",
    "np.append(a, a, axis=0)",
    "np.append(x, s)",
    "np.delete(x, 1)",
    "np.delete(a, [0,-1], axis=1)",
    "np.delete(x, slice(1,3))",
    "np.insert(x, 2, s)",
    "np.insert(a, 1, x, axis=0)",
    "np.insert(x, [0,2,4], s)",
    "np.insert(a, 1, s, axis=1)",
    "np.insert(a, -1, y, axis=1)",
    "np.insert(x, 1, y)",
    "np.resize(x, (2,3))",
    "np.resize(x, 3)",
]

PADDED = [
    "np.pad(x, 2, mode='constant')",
    "np.pad(a, ((1,2),(2,0)), mode='constant')",
    "np.pad(x, (1,3), mode='constant')",
    "np.pad(y, (4,5), mode='constant')",
    "np.pad(c, ((0,0),(1,1),(1,0)), mode='constant')",
    "np.pad(x, 2, mode='edge')",
    "np.pad(a, ((1,2),(2,0)), mode='edge')",
    "np.pad(x, (1,3), mode='edge')",
    "np.pad(y, (4,5), mode='edge')",
    "np.pad(c, ((0,0),(1,1),(1,0)), mode='edge')",
    "np.pad(x, 2, mode='reflect')",
    "np.pad(a, ((1,2),(2,0)), mode='reflect')",
    "np.pad(x, (1,3), mode='reflect')",
    "np.pad(y, (4,5), mode='reflect')",
    "np.pad(c, ((0,0),(1,1),(1,0)), mode='reflect')",
    "np.pad(x, 2, mode='symmetric')",
    "np.pad(a, ((1,2),(2,0)), mode='symmetric')",
    "np.pad(x, (1,3), mode='symmetric')",
    "np.pad(y, (4,5), mode='symmetric')",
    "np.pad(c, ((0,0),(1,1),(1,0)), mode='symmetric')",
    "np.pad(x, 2, mode='wrap')",
    "np.pad(a, ((1,2),(2,0)), mode='wrap')",
    "np.pad(x, (1,3), mode='wrap')",
    "np.pad(y, (4,5), mode='wrap')",
    "np.pad(c, ((0,0),(1,1),(1,0)), mode='wrap')",
    "np.pad(x, 2, mode='linear_ramp')",
    "np.pad(a, ((1,2),(2,0)), mode='linear_ramp')",
    "np.pad(x, (1,3), mode='linear_ramp')",
    "np.pad(y, (4,5), mode='linear_ramp')",
    "np.pad(c, ((0,0),(1,1),(1,0)), mode='linear_ramp')",
    "np.pad(x, 2, mode='maximum')",
    "np.pad(a, ((1,2),(2,0)), mode='maximum')",
    "np.pad(x, (1,3), mode='maximum')",
    "np.pad(y, (4,5), mode='maximum')",
    "np.pad(c, ((0,0),(1,1),(1,0)), mode='maximum')",
    "np.pad(x, 2, mode='mean')",
    "np.pad(a, ((1,2),(2,0)), mode='mean')",
    "np.pad(x, (1,3), mode='mean')",
    "np.pad(y, (4,5), mode='mean')",
    "np.pad(c, ((0,0),(1,1),(1,0)), mode='mean')",
]

OPTIONS = [
    "np.pad(a, 1, 'constant', constant_values=s)",
    "np.pad(a, ((1,1),(0,2)), constant_values=((1,2),(3,4)))",
    "np.pad(k, 1)",
    "np.pad(k, (2,1), 'edge')",
    "np.pad(x, (2,3), 'linear_ramp', end_values=(s, 0))",
    "np.pad(x, [(2,3)])",
]


def test_expressions(tmp_path):
    assert_like_numpy(EXPRESSIONS, arguments(n=5), tmp_path)


def test_pad(tmp_path):
    assert_like_numpy(PADDED, arguments(), tmp_path)


def test_pad_options(tmp_path):
    assert_like_numpy(OPTIONS, arguments(), tmp_path)
