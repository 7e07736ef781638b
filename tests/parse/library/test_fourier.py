"""``np.fft``, sorting, filling and masks against NumPy and central differences, without compiling anything."""

import numpy as np
import pytest

from tests.helpers import module_from
from tests.helpers_ir import assert_like_python, assert_slope

REAL = [
    *("np.fft.rfft(x)", "np.fft.rfft(x, 3)", "np.fft.rfft(x, 9, norm='ortho')", "np.fft.rfft(a, axis=0)"),
    *("np.fft.fft(x)", "np.fft.fft(x, 3)", "np.fft.fft(a, 5, 0)", "np.fft.fft2(a)", "np.fft.fftn(a, axes=(1,))"),
    *(
        "np.fft.rfft2(a)",
        "np.fft.rfftn(a, s=(2, 3), axes=(0, 1))",
        "np.fft.irfft(np.fft.rfft(x) * 2, 5)",
        "np.fft.hfft(x)",
    ),
    *(
        "x * np.fft.fftfreq(5, s)",
        "x * np.fft.fftfreq(5, d=x[0])",
        "x[:3] * np.fft.rfftfreq(5, s)",
        "np.fft.rfftfreq(6, s)",
    ),
    *("np.fft.fftshift(x) * x", "np.fft.ifftshift(a, axes=1) * a", "np.abs(np.fft.fft(x)) ** 2"),
    *("np.sort(x) * x", "np.sort(a, axis=0)", "np.sort(a, None)", "x[np.argsort(x)] * x", "np.argsort(a, 0) * a"),
    "np.searchsorted(np.sort(x), x) * x",
    *("np.sum(x[x > 1] ** 2)", "np.mean(x[x > 1] * 2.0)", "np.sum(a[a > 1]) * len(x[x > 1])", "np.sum(a[a[:, 0] > 1])"),
]
COMPLEX = [
    *("np.fft.fft(z)", "np.fft.ifft(z, norm='forward')", "np.fft.ifft(z, 6)", "np.fft.irfft(z)", "np.fft.irfft(z, 5)"),
    *(
        "np.fft.ifft2(w)",
        "np.fft.ifftn(w, s=(2, 2), axes=(0, 1))",
        "np.fft.irfft2(w)",
        "np.fft.irfftn(w, s=(3, 4), axes=(0, 1))",
    ),
]
UPDATES = [
    *("x.fill(s)", "np.copyto(x, x * s)", "np.copyto(x, s, where=x > 1)", "np.putmask(x, x > 1, x * x)"),
    *("np.fill_diagonal(a, s)", "x[x > 1] = s", "x[x > 1] *= s", "x[x > 1] += x[x > 1] * s", "a[a[:, 0] > 1] = s"),
    *("a[a > 1] = x[0]", "x[x > 1] = x[x > 1] ** 2 + s", "x[1] = x.item(2) * s", "a[a[:, 0] > 1, 1] = s"),
]


def arguments():
    rng = np.random.default_rng(1)
    complexes = rng.standard_normal((2, 3, 4))
    return {
        "x": rng.uniform(0.5, 1.5, 5),
        "a": rng.uniform(0.5, 1.5, (3, 4)),
        "z": complexes[0, 0] + 1j * complexes[0, 1],
        "w": complexes[0] + 1j * complexes[1],
        "s": 0.7,
    }


POSITIONS = ("x[np.nonzero(x > 1)].sum()", "x[np.flatnonzero(x > 1)].prod()")


@pytest.mark.parametrize("text", [*REAL, *COMPLEX, *UPDATES, *POSITIONS])
def test_like_numpy(text, tmp_path):
    known = arguments()
    lines = [f"    {text}", "    return x * 1.0, a * 1.0"] if text in UPDATES else [f"    return {text}"]
    head = ["import numpy as np", f"def program({', '.join(known)}):"]
    program = module_from("\n".join([*head, *lines]), tmp_path).program
    assert_like_python(program, *known.values(), tolerance=1e-9)
    for output in ("return[0]", "return[1]") if text in UPDATES else ("return",):
        assert_slope(program, *known.values(), output=output)
