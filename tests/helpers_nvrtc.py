"""Whether NVRTC is there: tests that compile kernels are skipped, and say so, where it is not."""

import pytest

from sdfgad.errors import DeviceError
from sdfgad.runtime.gpu import nvrtc

try:
    nvrtc.library()
    MISSING = ""
except DeviceError as error:
    MISSING = f"{error.what}: {error.todo}"
needs_nvrtc = pytest.mark.skipif(bool(MISSING), reason=MISSING)
