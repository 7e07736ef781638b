"""Element-wise functions made of others, and updates in place."""

from tests.parse.library.oracle import arguments, assert_like_numpy

EXPRESSIONS = [
    "np.round(a, 1)",
    "np.round(x)*s",
    "a.round(2)",
    "np.round(a*100, -1)",
    "np.round(k, 1)",
    "np.degrees(x)",
    "np.radians(x)",
    "np.sinc(x)",
    "np.sinc(k)",
    "np.logaddexp2(x, s)",
    "np.float_power(x, 3)",
    "np.divmod(x, s)[1]",
    "np.modf(a)[0]",
    "a[np.tril_indices(3)[0], 0]*s",
    "np.hanning(4)*x",
    "np.gcd(4,6)*x",
    "np.polyder(y)",
    "np.polyadd(x,y)",
    "np.polymul(x, y)",
    "np.fromfunction(lambda i, j: i*s + j, (2,3))",
    "a[1,2].item()*x",
    "np.histogram(a, 4, weights=k[:,None]*np.ones(4))[0]",
    "np.vstack(tuple(a))",
    "isinstance(x, np.ndarray)*x",
    "isinstance(s, float)*x",
    "np.trapezoid(np.interp(np.linspace(0,1,20), [0.0,.3,.6,1.0], x), dx=0.1)",
    "np.hamming(n)*s",
]

UPDATES = [
    "u=x.copy(); np.copyto(u, 2*x*x, where=x>1); out = u",
    "u=x.copy(); np.putmask(u, u>1, s); out = u",
    "u=a.copy(); u.fill(s); out = u",
    "u=a.copy(); np.fill_diagonal(u, s); out = u",
    "u = 1.0*a; np.fill_diagonal(u, y); out = u*u",
]


def test_expressions(tmp_path):
    assert_like_numpy(EXPRESSIONS, arguments(n=5), tmp_path)


def test_updates(tmp_path):
    assert_like_numpy(UPDATES, arguments(), tmp_path)
