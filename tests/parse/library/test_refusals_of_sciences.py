"""What the definitions of SciPy's and NumPy's functions refuse names the line, and what to write instead."""

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import SdfgadError
from tests.helpers import line_of, module_from

X = np.linspace(0.2, 1.1, 8)
HEAD = "import statistics\nimport numpy as np\nfrom scipy import fft, linalg, ndimage, signal, special, stats\n"
HEAD += "from scipy.spatial import distance\n\n\n"

CASES = {
    "fft.dct(x, 5)": "the type of a cosine or sine transform is 1, 2, 3 or 4",
    "fft.dct(x, norm='no')": "'backward', 'ortho' or 'forward'",
    "np.abs(fft.dct(x * 1j))": "Transform x.real and x.imag",
    "stats.skew(x, nan_policy='omit')": "select x[~np.isnan(x)]",
    "stats.moment(x, [1, 2])": "Write a number, moment(x, 3)",
    "stats.tmean(x, (0, 1))": "Select x[(x > low) & (x < high)]",
    "stats.pearsonr(x.reshape(2, 4), x.reshape(2, 4))[0]": "Loop over the rows",
    "signal.sosfilt(np.ones((1, 6)), x, zi=np.zeros((1, 2)))[0]": "Call lfilter with zi for each section",
    "signal.filtfilt([1.0], [1.0, 0.2], x, method='gust')": "Leave method out",
    "signal.filtfilt([1.0], [1.0, 0.2], x, padlen=8)": "Pass a smaller padlen=",
    "signal.freqz(x, plot=print)[1]": "Plot what it returns",
    "signal.freqz(np.ones((2, 2)), x)[1]": "Call it for each",
    "signal.sosfiltfilt(np.ones((1, 6)), x)": "Write a number",
    "signal.savgol_filter(x, 4, 2)": "needs an odd window",
    "signal.detrend(x, bp=[3])": "Loop over the parts",
    "signal.medfilt(x.reshape(2, 4), 3)": "Loop over the rows",
    "signal.hilbert(x * 1j)": "Pass x.real",
    "signal.welch(x, average='median')[1]": "Leave options out",
    "signal.welch(x, nperseg=4, noverlap=4)[1]": "must overlap by less than their length",
    "signal.periodogram(x, scaling='no')[1]": "'density' or 'spectrum'",
    "signal.csd(x, x[1:])[1]": "Pad the shorter one",
    "signal.resample(x, 4, window='hann')": "Leave them out",
    "stats.gaussian_kde(x, 'no')(x)": "'scott', 'silverman', a number or a function",
    "stats.gaussian_kde(x)(np.ones((3, 2)))": "have another dimension than its samples",
    "stats.gaussian_kde(x.reshape(2, 4)).integrate_box_1d(0.0, 1.0)": "Pass a vector",
    "stats.gaussian_kde(x).resample(3)": "Draw them outside of the function",
    "stats.gaussian_kde(x.reshape(2, 4)).marginal([0])(x)": "Pass the rows of the samples alone",
    "stats.gaussian_kde(x).integrate_box([0.0], [1.0])": "Sum its values on a grid",
    "linalg.lu(x.reshape(2, 2, 2))[2]": "Loop over the matrices",
    "signal.stft(x, nperseg=4, boundary='wrap')[2]": "'zeros', 'even', 'odd', 'constant' or None",
    "signal.stft(x, nperseg=4, scaling='no')[2]": "'spectrum' or 'psd'",
    "signal.spectrogram(x, nperseg=4, mode='phase')[2]": "Unwrap the angle",
    "signal.resample_poly(x, 3, 2, padtype='line')": "'edge', 'symmetric', 'reflect' or 'wrap'",
    "signal.resample_poly(x, 3, 2, padtype='edge', cval=1.0)": "Leave one of them out",
    "signal.decimate(x, 2, ftype=3)": "Design another filter",
    "statistics.mean(x.reshape(2, 4))": "a list or vector of numbers, and enough of them",
    "statistics.stdev(x[:1])": "a list or vector of numbers, and enough of them",
    "statistics.correlation(x, x, method='ranked')": "Leave method out",
    "distance.euclidean(x[None], x[None])": "Use cdist for the rows of matrices",
    "stats.ttest_1samp(x, 0.0, nan_policy='omit')[0]": "Leave them out",
    "stats.ttest_ind(x, x, trim=0.1)[0]": "Leave them out",
    "stats.ttest_ind(x, x, alternative='no')[0]": "'two-sided', 'less' or 'greater'",
    "stats.boxcox(x)[0]": "Find it before, and pass it",
    "stats.yeojohnson(x)[0]": "Find it before, and pass it",
    "stats.boxcox_llf(0.3, x, nan_policy='omit')": "Select x[~np.isnan(x)]",
    "stats.circmean(x, nan_policy='omit')": "Select x[~np.isnan(x)]",
    "linalg.convolution_matrix(x, 3, 'no')": "'full', 'same' or 'valid'",
    "linalg.sqrtm(x[0] * np.eye(33))": "Write an iteration",
    "linalg.solve_continuous_are(np.eye(2) * x[0], np.eye(2), np.eye(2), np.eye(2), np.eye(2))": "with e or s",
    "linalg.eigvals(np.eye(2) * x[0], np.eye(2))": "np.linalg.eigvals(np.linalg.solve(b, a))",
    "linalg.eigvalsh_tridiagonal(x, x[1:], select='i')": "Leave select out",
    "linalg.solve_circulant(x, x[:, None])": "Loop over the columns",
    "np.roots(x[:1])": "Pass such a vector",
    "np.poly(x.reshape(2, 4))": "Multiply the factors",
    "(np.poly1d(x) / np.poly1d(x))(x)": "Divide by a number",
    "np.polynomial.Polynomial.fit(x, x, 2, w=x)(x)": "Use np.polyfit",
    "np.polynomial.Polynomial.fit(x, x, 2).integ()(x)": "Write p.convert().integ()",
    "(np.polynomial.Polynomial.fit(x, x, 2) + np.polynomial.Polynomial(x))(x)": "Write p.convert() + q.convert()",
    "x[np.lexsort(x.reshape(2, 4)[None])]": "Pass a tuple of vectors",
    "special.eval_legendre(1.5, x)": "one whole number that is not negative",
    "special.sph_harm_y(1, 0.5, x, x).real": "one whole number",
    "special.hyp1f1(20.0, 1.5, x)": "Choose b > 0, and a from -10",
    "special.lambertw(x + 1j).real": "Pass real numbers",
    "special.zeta(x, 2.0)": "loop over several",
    "special.jvp(1, x, 2)": "Combine orders",
    "special.fresnel(x * 1j)[0]": "Pass real numbers",
    "special.diric(x, 2.5)": "Loop over several",
    "ndimage.maximum_filter(x, footprint=[1, 0, 1])": "Pass size=",
    "ndimage.center_of_mass(x, x)[0]": "Multiply by a mask",
    "ndimage.shift(x, 1.0, order=6)": "is 0, 1, 2, 3, 4 or 5",
    "ndimage.shift(x, 1.0, mode='symmetric')": "'reflect', 'grid-mirror', 'constant'",
    "ndimage.shift(x, 1.0, np.zeros(8))": "Assign its result",
    "ndimage.shift(x, [1.0, 2.0])": "one number, or one for each axis",
    "ndimage.shift((9 * x).astype(int), x[0])": "Convert the array, x.astype(float)",
    "ndimage.zoom(x, 1.0 + x[0])": "Write numbers, zoom(x, 2.0)",
    "ndimage.rotate(x.reshape(2, 4), 9 * x[0])": "Pass reshape=False",
    "ndimage.affine_transform(x, np.ones((2, 3)))": "has a row for each axis of the image",
    "ndimage.spline_filter(x, 1)": "is 2, 3, 4 or 5",
    "ndimage.spline_filter(x, output=np.float32)": "Convert its result by astype",
}
# What SciPy does not take, either.
RAISES = (
    "linalg.convolution_matrix(x, 3, 'no')",
    "stats.ttest_ind(x, x, alternative='no')[0]",
    *("statistics.mean(x.reshape(2, 4))", "statistics.stdev(x[:1])"),
    *("signal.stft(x, nperseg=4, boundary='wrap')[2]", "signal.stft(x, nperseg=4, scaling='no')[2]"),
    *("ndimage.shift(x, 1.0, order=6)", "ndimage.shift(x, 1.0, mode='symmetric')", "ndimage.spline_filter(x, 1)"),
    *("ndimage.shift(x, [1.0, 2.0])", "ndimage.affine_transform(x, np.ones((2, 3)))"),
    *("stats.gaussian_kde(x, 'no')(x)", "stats.gaussian_kde(x)(np.ones((3, 2)))"),
    *("fft.dct(x, 5)", "fft.dct(x, norm='no')", "signal.savgol_filter(x, 4, 2)"),
    *("signal.welch(x, nperseg=4, noverlap=4)[1]", "signal.periodogram(x, scaling='no')[1]"),
)


@pytest.mark.parametrize("expression", CASES)
def test_refusals(expression, tmp_path):
    module = module_from(f"{HEAD}def program(x):\n    return np.sum(np.abs({expression}))\n", tmp_path)
    with pytest.raises(SdfgadError) as caught:
        sdfgad.grad(module.program)(X)
    assert CASES[expression] in str(caught.value)
    assert str(caught.value.where) == line_of(module.program, "return")
    assert ("NumPy raises" in str(caught.value)) == (expression in RAISES)
