"""Transforms, filters, statistics, polynomials and functions of matrices of SciPy and NumPy, as science programs call them."""

import numpy as np

from tests.table.cases import Group

add = Group("scipy.fft")

for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "fft2", "ifft2", "rfft2", "fftn", "ifftn", "rfftn"):
    add(f"fft.{name}(x)", x="4x5", jax=None)
add("fft.irfft2(fft.rfft2(x), (4, 5))", x="4x5", function="scipy.fft.irfft2", jax=None)
add("fft.irfftn(fft.rfftn(x), x.shape)", x="4x5", function="scipy.fft.irfftn", jax=None)
add("fft.fft(x, n=6, axis=0, norm='ortho', workers=1)", x="4x3", jax=None)
add("np.fft.ihfft(x)", x="6 | 5", jax=None)
add("fft.fftshift(x, axes=0) + fft.ifftshift(x)", x="4x5", jax=None)
add(
    "x * fft.fftfreq(5, 0.1)[:, None] + fft.rfftfreq(4, 0.2)",
    function="scipy.fft.fftfreq",
    x="5x3",
    dtypes="d",
    jax=None,
)
add("fft.rfft(x, fft.next_fast_len(11))", x="11", function="scipy.fft.next_fast_len", jax=None)
for kind in (1, 2, 3, 4):
    for name in ("dct", "idct", "dst", "idst"):
        known = "" if name in ("dct", "idct") and kind == 2 else None
        add(f"fft.{name}(x, {kind})", x="6 | 3x5 | 2x5 transposed", jax=known)
        add(f"fft.{name}(x, type={kind}, norm='ortho')", x="6 | 5", jax=None)
        add(f"fft.{name}(x, type={kind}, norm='forward', axis=0, n=4)", x="5x2", jax=None, dtypes="d")
for name in ("dct", "idst"):
    add(f"fft.{name}(x, orthogonalize=True)", x="5", jax=None, dtypes="d")
add("fft.dctn(x, norm='ortho')", x="4x5 | 2x3x2")
add("fft.idctn(x, axes=(0, 1))", x="4x5x2", jax=None)
add("fft.dstn(x, 1, s=(3, 6))", x="4x5", jax=None)
add("fft.idstn(x, type=3)", x="4x5", jax=None)

add = Group("scipy.stats, of samples")

for name in ("skew", "kurtosis", "zscore", "sem", "variation", "tstd", "tvar"):
    add(f"stats.{name}(x)", x="6 positive | 5x3 positive", jax=None, tolerance=10)
    add(f"stats.{name}(x, axis=1)", x="2x5 positive", jax=None, tolerance=10)
add("stats.skew(x, bias=False, axis=None)", x="3x4", jax=None, dtypes="d")
add("stats.kurtosis(x, fisher=False, bias=False, keepdims=True)", x="6x2", jax=None, dtypes="d")
add("stats.zscore(x, axis=None, ddof=1)", x="3x4", jax=None, dtypes="d")
add("stats.zmap(x, y, ddof=1)", x="4", y="6", jax=None, dtypes="d")
add("stats.moment(x, 3)", x="6 | 5x2", jax=None)
add("stats.moment(x, 2, axis=1, center=0.5)", x="2x5", jax=None, dtypes="d")
add("stats.tmean(x)", x="2x5", jax=None)
for name in ("gmean", "hmean", "gstd"):
    add(f"stats.{name}(x)", x="6 positive | 5x3 positive", jax=None, tolerance=10)
add("stats.gmean(x, axis=None, weights=y)", x="2x3 positive", y="2x3 positive", jax=None, dtypes="d")
add("stats.hmean(x, axis=1, weights=y)", x="2x3 positive", y="2x3 positive", jax=None, dtypes="d")
add("stats.pmean(x, 3)", x="6 positive", jax=None, dtypes="d")
add("stats.pmean(x, 0)", x="6 positive", jax=None, dtypes="d")
add("stats.trim_mean(x, 0.2)", x="7 distinct | 6x2 distinct", jax=None)
add("stats.iqr(x)", x="7 distinct | 2x4 distinct", jax=None)
add("stats.iqr(x, axis=1, rng=(10, 70), scale='normal')", x="2x5 distinct", jax=None, dtypes="d")
add("stats.median_abs_deviation(x)", x="7 distinct", jax=None)
add("stats.median_abs_deviation(x, axis=1, scale='normal', center=np.mean)", x="2x6 distinct", jax=None, dtypes="d")
add("stats.entropy(x)", x="6 positive | 5x3 positive", jax=None)
add("stats.entropy(x, y, base=2, axis=1)", x="2x5 positive", y="2x5 positive", jax=None, dtypes="d")
add("stats.pearsonr(x, y)[0]", x="6", y="6", jax=None, tolerance=10)
add("stats.pearsonr(x, y).pvalue", x="6", y="6", jax=None, dtypes="d", tolerance=100)
add("r = stats.linregress(x, y)\nreturn np.stack([r.slope, r.intercept, r.rvalue, r.pvalue, r.stderr])",
    function="scipy.stats.linregress", label="linregress", x="7", y="7", dtypes="d", jax=None, tolerance=100)  # fmt: skip

add("stats.gaussian_kde(x)(y)", x="7", y="3 | ()", jax=None, tolerance=10)
add(
    "stats.gaussian_kde(x, bw_method='silverman').evaluate(y)", x="2x7", y="2x3 | 2", jax=None, dtypes="d", tolerance=10
)
add(
    "stats.gaussian_kde(x, bw_method=0.4, weights=z).logpdf(y)",
    x="2x7",
    y="2x3",
    z="7 positive",
    jax=None,
    tolerance=10,
)
add("stats.gaussian_kde(x, 'scott', z).pdf(y)", x="7", y="3", z="7 positive", jax=None, dtypes="d", tolerance=10)
add("d = stats.gaussian_kde(x, bw_method=lambda k: 1.1 * k.scotts_factor())\nnarrow = stats.gaussian_kde(x)\n"
    "narrow.set_bandwidth(0.3)\nreturn d.integrate_box_1d(y, 0.5) + narrow(0.1) + d.factor * d.covariance[0] + d.inv_cov[0]",
    x="7", y="()", jax=None, dtypes="d", tolerance=10, function="scipy.stats.gaussian_kde", label="bandwidths")  # fmt: skip

add = Group("scipy.signal, filters and spectra")

for mode in ("interp", "nearest", "mirror", "constant", "wrap"):
    add(f"signal.savgol_filter(x, 5, 2, mode='{mode}')", x="8 | 2x7", jax=None, tolerance=10)
add("signal.savgol_filter(x, 5, 3, deriv=1, delta=0.1, axis=0)", x="7x2", jax=None, dtypes="d", tolerance=10)
add("signal.savgol_filter(x, 7, 4, deriv=2)", x="9", jax=None, dtypes="d", tolerance=10)
add("signal.detrend(x)", x="7 | 2x5", jax="", tolerance=10)
add("signal.detrend(x, axis=0, type='constant')", x="4x3", jax=None)
LOW = "b, a = signal.butter(2, 0.3)\n"
add(LOW + "return signal.lfilter(b, a, x, axis=0)", function="scipy.signal.lfilter", label="lfilter of a filter",
    x="5x2", dtypes="d", jax=None)  # fmt: skip
add(LOW + "y, z = signal.lfilter(b, a, x, zi=y)\nreturn np.concatenate([y, z])", function="scipy.signal.lfilter",
    label="lfilter with zi", x="6", y="2", dtypes="d", jax=None)  # fmt: skip
add("y, s = signal.lfilter([2.0, 0.5, 0.3], y, x, zi=z, axis=0)\nreturn np.concatenate([y, s])", x="5x2",
    y="2 positive", z="2x2", function="scipy.signal.lfilter", label="lfilter with zi, a[0] != 1", dtypes="d",
    jax=None)  # fmt: skip
for rest in ("worN=5", "worN=4, whole=True, fs=10.0", "worN=np.array([0.2, 1.0])", "worN=3, include_nyquist=True"):
    add(
        f"signal.freqz(x, y, {rest})[1]",
        function="scipy.signal.freqz",
        x="3",
        y="3 positive",
        dtypes="d",
        jax=None,
        tolerance=10,
    )
add("signal.lfilter_zi(x, y)", x="3", y="3 positive", dtypes="d", jax=None, tolerance=10)
add(LOW + "return signal.filtfilt(b, a, x)", function="scipy.signal.filtfilt", label="filtfilt", x="12 | 2x11",
    dtypes="d", jax=None, tolerance=10)  # fmt: skip
add("signal.filtfilt(y, [1.0, 0.2], x, axis=0, padlen=2)", x="5x2", y="3", dtypes="d", jax=None, tolerance=10)
for kind in ("'even'", "'constant'", "None"):
    add(f"signal.filtfilt([0.4, 0.3], [1.0, -0.3], x, padtype={kind})", x="9", dtypes="d", jax=None, tolerance=10)
SECTIONS = "sos = signal.butter(3, 0.3, output='sos')\n"
add(SECTIONS + "return signal.sosfilt(sos, x)", function="scipy.signal.sosfilt", label="sosfilt", x="8 | 2x6",
    dtypes="d", jax=None)  # fmt: skip
add(SECTIONS + "return signal.sosfiltfilt(sos, x, axis=0, padlen=4)", function="scipy.signal.sosfiltfilt",
    label="sosfiltfilt", x="7x2", dtypes="d", jax=None, tolerance=10)  # fmt: skip
add("signal.medfilt(x, 3)", x="7 distinct", jax=None)
add("x * signal.get_window('hann', 6) + signal.windows.gaussian(6, 2.0)", function="scipy.signal.get_window", x="6",
    dtypes="d", jax=None)  # fmt: skip
add("signal.hilbert(x)", x="6 | 2x5", jax=None)
add("signal.hilbert(x, N=7, axis=0)", x="5x2", jax=None, dtypes="d")
for end in ("", ", fs=2.5, scaling='spectrum', detrend=False", ", nfft=12, window='hann', axis=0, detrend='linear'"):
    add(f"signal.periodogram(x{end})[1]", x="8x2" if "axis" in end else "8 | 2x7", jax=None, dtypes="d", tolerance=10)
add("signal.welch(x, nperseg=4)[1]", x="11 | 2x9", jax=None, tolerance=10)
add("signal.welch(x, 2.0, nperseg=5, noverlap=3, nfft=8, detrend='linear', axis=0)[1]", x="12x2", jax=None, dtypes="d",
    tolerance=10)  # fmt: skip
add("f, p = signal.welch(x, window=('tukey', 0.3), nperseg=6)\nreturn np.sum(f * p)", function="scipy.signal.welch",
    label="welch with frequencies", x="12", jax=None, dtypes="d", tolerance=10)  # fmt: skip
add("signal.csd(x, y, nperseg=4)[1]", x="10", y="10", jax=None, dtypes="d", tolerance=10)
add("signal.coherence(x, y, nperseg=4)[1][1:]", x="14", y="14", jax=None, dtypes="d", tolerance=100)
for count in (8, 7, 12, 5, 4):
    add(f"signal.resample(x, {count})", x="7 | 8x2", jax=None, dtypes="df" if count == 12 else "d", tolerance=10)
add("signal.resample(x, 6, axis=1)", x="2x8", jax=None, dtypes="d", tolerance=10)

add = Group("Polynomials")

add("np.poly1d(x)(y)", x="3", y="4 | 2x2", jax=None, dtypes="d")
add("p = np.poly1d(x)\nq = np.poly1d(y)\nreturn (p * q - 2 * p + 1 + q / 3 - p**2)(z) + p.deriv()(z) + q.integ(2, 1)(z)",
    x="4", y="3", z="5", function="np.poly1d", label="arithmetic of np.poly1d", jax=None, dtypes="d")  # fmt: skip
add("p = np.poly1d([2.0, 0.5, 1.0])\nreturn p(x) * p[2] + p[7] + p[-1] + p.order * (3 - p).c[0] + np.poly1d(y, True)(x) + len(p)",
    x="4", y="2", function="np.poly1d", label="attributes of np.poly1d", jax=None, dtypes="d")  # fmt: skip
add(
    "np.poly1d(np.polyfit(x, y, 2))(x)", x="6 rising", y="6", function="np.poly1d", jax=None, dtypes="d", tolerance=1000
)
add("np.polynomial.Polynomial(x)(y)", x="3", y="4 | 2x2", jax=None, dtypes="d")
add("p, q = np.polynomial.Polynomial(x), np.polynomial.Polynomial(y)\n"
    "return (p * q - 2 * p + 1 + q / 3 - (1 - p))(z) + p.deriv()(z) + q.integ(2)(z) + p.degree() * p.coef[0]",
    x="4", y="3", z="5", function="np.polynomial.Polynomial", label="arithmetic of Polynomial", jax=None,
    dtypes="d")  # fmt: skip
add("p = np.polynomial.Polynomial.fit(x, y, 2)\nreturn p(z) + p.deriv()(z) + np.sum(p.convert().coef ** 2)",
    x="6 rising", y="6", z="4", function="np.polynomial.Polynomial", label="Polynomial.fit", jax=None, dtypes="d",
    tolerance=1000)  # fmt: skip
add("np.polynomial.Polynomial(x, domain=[0.0, 2.0], window=[-1.0, 1.0])(y)", x="3", y="4", jax=None, dtypes="d")
for name in ("polyder", "polyint"):
    add(f"np.polynomial.polynomial.{name}(x, 2)", x="4", jax=None, dtypes="d")
for name in ("polyadd", "polymul"):
    add(f"np.polynomial.polynomial.{name}(x, y)", x="4", y="3", jax=None, dtypes="d")
for kind, series in (("poly", "polynomial"), ("cheb", "chebyshev"), ("leg", "legendre")):
    add(f"np.polynomial.{series}.{kind}vander(x, 3)", x="4 | 2x2", jax=None, dtypes="d")
    add(f"np.polynomial.{series}.{kind}vander(x, 0)", x="4", jax=None, dtypes="d")
    add(f"np.polynomial.{series}.{kind}fit(x, y, 2)", x="6 unit", y="6", jax=None, dtypes="d", tolerance=1000)
    add(f"np.polynomial.{series}.{kind}val2d(x, y, z)", x="4", y="4", z="2x3", jax=None, dtypes="d")
    add(f"np.polynomial.{series}.{kind}grid2d(x, y, z)", x="4", y="3", z="2x3", jax=None, dtypes="d")
for kind, series in (("herm", "hermite"), ("herme", "hermite_e"), ("lag", "laguerre")):
    add(f"np.polynomial.{series}.{kind}vander(x, 3)", x="4", jax=None, dtypes="d")
    add(f"np.polynomial.{series}.{kind}fit(x, y, 2)", x="6 unit", y="6", jax=None, dtypes="d", tolerance=1000)
for kind, series in (("cheb", "chebyshev"), ("leg", "legendre"), ("herm", "hermite"), ("herme", "hermite_e"),
                     ("lag", "laguerre")):  # fmt: skip
    add(f"np.polynomial.{series}.{kind}der(x, 2)", x="5", jax=None, dtypes="d")
    add(f"np.polynomial.{series}.{kind}int(x, 2, [y, 0.5], y, y, axis=1)", x="2x4", y="()", jax=None, dtypes="d")
    add(f"np.polynomial.{series}.{kind}mul(x, y)", x="4", y="3", jax=None, dtypes="d")
    add(f"np.polynomial.{series}.{kind}2poly(x)", x="4", jax=None, dtypes="d")
add("np.roots(x.astype(complex))", x="4 positive", function="np.roots", jax=None, dtypes="d", tolerance=100)
add("np.roots(np.concatenate([[3.0], 0.1 * x, [2.0]]))", x="3 positive", function="np.roots", jax=None, dtypes="d",
    tolerance=100)  # fmt: skip
add("np.poly(x)", x="4", jax=None, dtypes="d")
add("t, w = np.polynomial.legendre.leggauss(5)\nreturn np.sum(w * np.sin(x * t))", x="()", jax=None, dtypes="d",
    function="np.polynomial.legendre.leggauss", label="leggauss")  # fmt: skip

add = Group("scipy.linalg, equations and functions of matrices")

PLUS = "x + 4.0 * np.eye(3)"
add("linalg.solve_sylvester(x, y, z)", x="3x3 square", y="2x2 square", z="3x2", dtypes="dfc", jax=None, tolerance=100)
add("linalg.solve_continuous_lyapunov(x, y)", x="3x3 square", y="3x3", dtypes="dc", jax=None, tolerance=100)
add("linalg.solve_discrete_lyapunov(0.2 * x, y)", x="3x3", y="3x3", dtypes="dc", jax=None, tolerance=100)
add(f"linalg.sqrtm({PLUS})", x="3x3", dtypes="dfc", jax=None, tolerance=100)
add(
    "linalg.sqrtm(x @ x.T + np.eye(3))",
    x="3x3",
    dtypes="d",
    label="sqrtm of a symmetric matrix",
    jax=None,
    tolerance=100,
)
add("linalg.sqrtm(0.0 * x + 2.0 * np.eye(3) + x)", x="3x3 narrow", dtypes="d", jax=None, tolerance=100)
add("linalg.solve_continuous_are(x, y, z @ z.T + np.eye(3), np.eye(2) + 0.1 * y.T @ y)", x="3x3", y="3x2", z="3x3",
    dtypes="d", jax=None, tolerance=1000)  # fmt: skip
add("linalg.expm_frechet(x, y)[1]", x="3x3", y="3x3", dtypes="d", jax=None, tolerance=100)
for name in ("cosm", "sinm", "coshm", "sinhm"):
    add(f"linalg.{name}(x)", x="3x3", dtypes="dc", jax=None, tolerance=100)
add("linalg.eigvals(x + 3.0 * np.array([[0.0, -1.0, 0.2], [1.0, 0.0, 0.0], [0.0, 0.0, 0.7]]))", x="3x3 narrow",
    dtypes="d", jax=None, tolerance=100)  # fmt: skip
add("linalg.eigvalsh_tridiagonal(x, y)", x="4 distinct", y="3", dtypes="d", jax=None, tolerance=100)
add(f"linalg.pinvh({PLUS} + x.T)", x="3x3", dtypes="d", jax=None, tolerance=100)
add("linalg.companion(x)", x="4 positive", dtypes="d", jax=None)
add("linalg.khatri_rao(x, y)", x="2x3", y="4x3", dtypes="d", jax=None)
add("linalg.solve_circulant(x + np.array([9.0, 0, 0, 0]), y)", x="4", y="4", dtypes="dc", jax=None, tolerance=10)

WHOLE = "p, l, u = linalg.lu(x)\nreturn np.concatenate([np.ravel(p @ l * 2), np.ravel(l), np.ravel(u), np.ravel(p)])"
add(WHOLE, x="4x4 | 5x3 | 3x5 | 4x4 transposed", function="scipy.linalg.lu", label="lu", dtypes="dfc", jax=None,
    tolerance=100)  # fmt: skip
add("l, u = linalg.lu(x, permute_l=True)\nreturn l * u[0, 0] + u", x="4x4", function="scipy.linalg.lu",
    label="lu with permute_l", dtypes="dfc", jax=None, tolerance=100)  # fmt: skip
add("linalg.lu(x, p_indices=True)[0]", x="4x4", dtypes="dfc", jax=None, differences=False)
add("p, l, u = linalg.lu(x, p_indices=True)\nreturn l[p] * u[0, 0]", x="4x4", function="scipy.linalg.lu",
    label="lu with p_indices", dtypes="df", jax=None, tolerance=100)  # fmt: skip
add("linalg.lu(k)[2] * x", k=np.array([[0, 1], [0, 2]]), x="()", jax=None, dtypes="d")
add("y = np.ones((2, 2)) * x\ny[:, 0] = 0.0\nreturn linalg.lu(y)[2]", x="()", function="scipy.linalg.lu",
    label="lu of a singular matrix", jax=None, dtypes="d")  # fmt: skip

add = Group("scipy.ndimage, further filters")

for mode in ("reflect", "constant", "nearest", "mirror", "wrap"):
    for name in ("maximum_filter", "minimum_filter", "median_filter"):
        add(f"ndimage.{name}(x, 3, mode='{mode}')", x="4x5 distinct", jax=None, dtypes="d")
add("ndimage.maximum_filter(x, size=(2, 3))", x="4x5 distinct", jax=None)
add("ndimage.median_filter(x, size=(1, 4))", x="4x5 distinct", jax=None)
add("ndimage.maximum_filter1d(x, 4, axis=0) + ndimage.minimum_filter1d(x, 2)", x="5x4 distinct", jax=None, dtypes="d")
add("ndimage.gaussian_laplace(x, 0.8)", x="6 | 4x5", jax=None, tolerance=10)
add("ndimage.gaussian_gradient_magnitude(x, 0.8, mode='nearest', truncate=3.0)", x="4x5", jax=None, tolerance=10)
add("np.stack(ndimage.center_of_mass(x))", x="4x5 positive", function="scipy.ndimage.center_of_mass", jax=None)

for mode in ("reflect", "grid-mirror", "constant", "grid-constant", "nearest", "mirror", "grid-wrap", "wrap"):
    add(f"ndimage.shift(x, (1.3, -2.4), mode='{mode}', cval=0.7)", x="12x13", jax=None, dtypes="d", tolerance=10)
add("ndimage.shift(x, y, order=4, mode='mirror')", x="7", y="() nonint", jax=None, tolerance=10)
for order in (0, 1, 2, 3):
    at = {"x": "6x5", "y": "2x4 positive"}
    add(f"ndimage.map_coordinates(x, 1.5 * y, order={order})", **at, jax=None, dtypes="df", tolerance=10)
add("ndimage.zoom(x, (1.7, 0.6), order=1, mode='nearest')", x="6x7", jax=None, dtypes="df")
add("ndimage.zoom(x, 2, mode='grid-constant', grid_mode=True)", x="6", jax=None, dtypes="dc", tolerance=10)
add("ndimage.rotate(x, 30.0)", x="6x5", jax=None, dtypes="d", tolerance=10)
add("ndimage.rotate(x, y, reshape=False, order=1)", x="4x3", y="() positive", jax=None, dtypes="d", tolerance=10)
add("ndimage.affine_transform(x, y, z, mode='mirror')", x="6x5", y="2x2 positive", z="2", jax=None, dtypes="d",
    tolerance=10)  # fmt: skip
add("ndimage.affine_transform(x, y, 0.3, (4, 5), order=1)", x="6x5", y="2 positive", jax=None, dtypes="d")
add("ndimage.spline_filter(x) + ndimage.spline_filter1d(x, 4, 0, mode='grid-wrap')", x="7x6", jax=None, dtypes="df",
    tolerance=100)  # fmt: skip

add = Group("scipy.special, polynomials and elliptic integrals")

for degree in (0, 1, 4):
    for name in ("legendre", "chebyt", "chebyu", "hermite", "hermitenorm", "laguerre"):
        add(f"special.eval_{name}({degree}, x)", x="4 unit", jax=None, tolerance=10)
    add(f"special.eval_genlaguerre({degree}, y, x)", x="4 unit", y="4 positive", jax=None, dtypes="d", tolerance=10)
    add(f"special.eval_gegenbauer({degree}, y, x)", x="4 unit", y="4 positive", jax=None, dtypes="d", tolerance=10)
    add(f"special.eval_jacobi({degree}, y, z, x)", x="4 unit", y="4 positive", z="4 positive", jax=None, dtypes="d",
        tolerance=10)  # fmt: skip
for family in ("legendre", "chebyt", "chebyu", "chebyc", "chebys", "hermite", "hermitenorm", "laguerre", "sh_legendre"):
    add(f"special.{family}(3)(x)", x="4 unit | ()", jax=None)
    add(f"special.{family}(2, monic=True)(x)", x="2x2 unit", jax=None, dtypes="d")
for family in (
    "jacobi(3, 0.5, 1)",
    "genlaguerre(3, 0.5)",
    "gegenbauer(3, 0.7)",
    "sh_jacobi(3, 2.5, 1)",
    "jacobi(0, 1, 2)",
):
    add(f"special.{family}(x)", x="4 unit", function=f"scipy.special.{family.partition('(')[0]}", jax=None)
# Of complex numbers SciPy's coefficients lose all digits at this degree.
add("special.chebyt(45)(x) + special.legendre(4)(x)", x="4 unit", dtypes="d", jax=None, tolerance=100)
add("p = special.legendre(3)\nreturn p.deriv()(x) + p.c[0] * x + (p * 2 - 1)(x) + p.integ()(x)", x="4 unit", jax=None,
    function="scipy.special.legendre", label="arithmetic of special.legendre", dtypes="d")  # fmt: skip
for degree, order in ((0, 0), (3, 0), (3, 1), (4, 3), (2, 2), (1, 2)):
    add(f"special.lpmv({order}, {degree}, x)", x="4 unit", jax=None, dtypes="d", tolerance=10)
for degree, order in ((0, 0), (3, 1), (3, -1), (4, -2), (4, 4), (1, 2)):
    add(f"special.sph_harm_y({degree}, {order}, x, y)", x="4 positive", y="4", jax=None, dtypes="d", tolerance=10)
add("special.ellipk(x) + special.ellipe(x)", x="4 unit", jax=None, tolerance=10)
add("special.ellipkm1(x) + special.ellipk(1.0 - y)", x="4 small", y="4 above1", jax=None, dtypes="d", tolerance=10)
add("special.softplus(x) + special.cosm1(x)", x="4", jax=None)
add("special.cosdg(90 * x) + special.sindg(90 * x)", x="4", jax=None, dtypes="d", tolerance=10)
add("special.inv_boxcox(x, 0.5) + special.inv_boxcox(x, 0)", x="4 positive", jax=None, dtypes="d")
add("special.powm1(x, y)", x="4 positive", y="4", jax=None, dtypes="d")
