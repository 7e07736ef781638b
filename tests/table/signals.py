"""Short-time transforms and other rates of samples of scipy.signal."""

import numpy as np

from tests.table.cases import Group

add = Group("scipy.signal, short-time transforms and rates")


def add_transform(call: str, **options: object) -> None:
    """With the frequencies and times that come with it."""
    text = f"f, t, z = signal.{call}\nreturn z * (1 + f[:, None] + t)"
    add(text, function=f"scipy.signal.{call.partition('(')[0]}", label=call, jax=None, tolerance=10, **options)


add_transform("stft(x, nperseg=6)", x="17", dtypes="df")
add_transform("stft(x, nperseg=6, return_onesided=False)", x="12", dtypes="dc")
add_transform("stft(x, 2.5, nperseg=5, noverlap=3, nfft=8, boundary='odd', scaling='psd')", x="16", dtypes="d")
add_transform("stft(x, 2.5, 'boxcar', 4, boundary=None, padded=False, detrend='linear')", x="15", dtypes="d")
add_transform("stft(x, window=w, boundary='even', nperseg=3)", x="10", w=np.array([0.5, 1.0, 0.7]), dtypes="d")
add("signal.stft(x, nperseg=4, axis=0, boundary='constant')[2]", x="10x2", dtypes="d", jax=None)
add("signal.istft(x, nperseg=8)[1]", x="5x4", dtypes="c", jax=None)
add("signal.istft(x, 2.0, 'hamming', 9, 6, 10, scaling='psd', boundary=False)[1]", x="6x4", dtypes="c", jax=None,
    tolerance=10)  # fmt: skip
add("signal.istft(x, time_axis=0, freq_axis=1)[1]", x="4x5x2", dtypes="c", jax=None)
add("signal.istft(x, input_onesided=False)[1]", x="6x5", dtypes="c", jax=None)
add("t, y = signal.istft(signal.stft(x, nperseg=6)[2], nperseg=6)\nreturn y * (1.0 + t).astype(x.dtype)", x="12",
    function="scipy.signal.istft", label="istft of stft", jax=None)  # fmt: skip
add_transform("spectrogram(x, 2.5, nperseg=8)", x="30", dtypes="df")
add_transform("spectrogram(x, nperseg=5, noverlap=2, scaling='spectrum', mode='magnitude', nfft=7)", x="12", dtypes="d")
add_transform("spectrogram(x, nperseg=5, mode='complex', detrend=False)", x="12", dtypes="d")
add_transform("spectrogram(x, nperseg=5, mode='angle')", x="12", dtypes="d")

add("signal.resample_poly(x, 3, 2)", x="17 | 6x2", dtypes="dfc", jax=None)
for padtype in ("mean", "median", "minimum", "maximum", "edge", "symmetric", "reflect", "wrap"):
    add(f"signal.resample_poly(x, 2, 6, axis=1, padtype='{padtype}')", x="2x70 distinct", dtypes="d", jax=None)
add("signal.resample_poly(x, 4, 3, window=y, cval=0.4)", x="9", y="4", dtypes="d", jax=None)
add("signal.upfirdn(y, x, 3, 2)", x="2x7", y="5", dtypes="dc", jax=None)
add("signal.decimate(x, 3)", x="31", jax=None, tolerance=100)
add("signal.decimate(x, 3, n=3, axis=0, zero_phase=False)", x="31x2", dtypes="d", jax=None, tolerance=100)
add("signal.decimate(x, 2, ftype='fir')", x="31", dtypes="d", jax=None, tolerance=10)
add("signal.decimate(x, 2, ftype='fir', n=5, zero_phase=False)", x="31", dtypes="d", jax=None, tolerance=10)
