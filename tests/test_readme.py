"""The README's example runs as it stands there."""

import re
from pathlib import Path

import numpy as np

from tests.helpers import module_from

README = Path(__file__).parent.parent / "README.md"


def test_the_example(tmp_path):
    code = re.search(r"```python\n(.*?)```", README.read_text(), re.DOTALL)[1]
    made = module_from(code, tmp_path)
    value = made.heat(1000, made.u.copy(), made.a)
    np.testing.assert_allclose(made.value, value)
    assert made.du.shape == made.da.shape == (100,)
    np.testing.assert_array_equal(made.u, np.linspace(0.0, 1.0, 100) ** 2)
