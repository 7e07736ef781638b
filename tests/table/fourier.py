"""Fourier transforms."""

from tests.table.cases import Group

add = Group("np.fft")

LINES = "1 | 4 | 5 | 8 strided | 2x4 | 2x3 transposed | 2x3 .T"
for name in ("fft", "ifft"):
    add(f"np.fft.{name}(x)", x=LINES, dtypes="dc")
    add(f"np.fft.{name}(x, axis=0)", x="4x2 | 3x2 transposed", dtypes="dc")
    add(f"np.fft.{name}(x, n=6)", x="4", dtypes="dc")
    add(f"np.fft.{name}(x, n=3)", x="5", dtypes="dc")
    add(f"np.fft.{name}(x, norm='ortho')", x="4", dtypes="dc")
    add(f"np.abs(np.fft.{name}(x)) ** 2", x="4 | 2x4", dtypes="dc", function=f"np.fft.{name}")
    add(f"np.fft.{name}(x).real", x="4", dtypes="dc", function=f"np.fft.{name}")
for name in ("fft2", "ifft2", "fftn", "ifftn"):
    add(f"np.fft.{name}(x)", x="2x3 | 4x4 | 2x3 transposed | 2x2x3", dtypes="dc")
for name in ("fftn", "ifftn"):
    add(f"np.fft.{name}(x, axes=(0, 2))", x="2x2x3", dtypes="dc")
add("np.fft.rfft(x)", x="4 | 5 | 1 | 2x4 | 4 strided", dtypes="d")
add("np.fft.rfft(x, axis=0)", x="4x2", dtypes="d")
add("np.fft.rfft(x, n=6)", x="4", dtypes="d")
add("np.abs(np.fft.rfft(x))", x="4 | 5", dtypes="d", function="np.fft.rfft")
add("np.fft.irfft(np.fft.rfft(x) * 2.0)", x="4 | 2x6", dtypes="d", function="np.fft.irfft")
add("np.fft.irfft(x)", x="3 | 4", dtypes="c")
add("np.fft.irfft(x, n=5)", x="3", dtypes="c")
add("np.fft.rfft2(x)", x="2x4", dtypes="d")
add("np.fft.irfft2(np.fft.rfft2(x))", x="2x4", dtypes="d", function="np.fft.irfft2")
add("np.fft.rfftn(x)", x="2x4", dtypes="d")
add("np.fft.hfft(x)", x="3", dtypes="c")
add("np.fft.fftfreq(4) * x", x="4", function="np.fft.fftfreq", dtypes="dfc")
add("np.fft.fftfreq(5, 0.1) * x", x="5", function="np.fft.fftfreq", dtypes="dfc")
add("np.fft.rfftfreq(4, d=0.5) * x", x="3", function="np.fft.rfftfreq", dtypes="dfc")
for name in ("fftshift", "ifftshift"):
    add(f"np.fft.{name}(x)", x="4 | 5 | 2x3 | 5 strided", dtypes="dfc")
    add(f"np.fft.{name}(x, axes=0)", x="3x2", dtypes="dfc")
add("np.fft.ifft(np.fft.fft(x) * np.fft.fft(y)).real", x="4", y="4", dtypes="d", function="np.fft.ifft")
