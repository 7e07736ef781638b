"""Arrays of another library on the emulated device."""

import numpy as np

from sdfgad.runtime.gpu.emulation import EmulatedArray


class Foreign:
    """An array with `__cuda_array_interface__`, as those of other libraries."""

    def __init__(self, values, **parts):
        self.own = EmulatedArray.from_numpy(values)
        self.parts = parts

    @property
    def __cuda_array_interface__(self):
        return {**self.own.__cuda_array_interface__, **self.parts}

    def get(self):
        return self.own.to_numpy()


class OnOther(Foreign):
    """One on another device."""

    def __dlpack_device__(self):
        return 2, 1


def numpy_of(value):
    """A result on the host, which must have been on the device."""
    assert isinstance(value, EmulatedArray), type(value)
    return value.to_numpy()


def transposed(values):
    """An array that is not contiguous."""
    array = Foreign(np.ascontiguousarray(values.T))
    array.parts = {"shape": values.shape, "strides": values.T.copy().T.strides}
    return array
