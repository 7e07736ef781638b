"""The registry: each function, method and attribute is registered once."""

import numpy as np
import pytest

from sdfgad.parse import registry


def test_a_function_is_registered_once():
    with pytest.raises(ValueError, match="is registered twice"):
        registry.function(np.sum)(lambda b, x: x)


def test_a_definition_of_a_method_is_registered_once():
    with pytest.raises(ValueError, match="sum is registered twice"):
        registry.in_numpy(method="sum")(lambda x: x)


def test_an_attribute_is_registered_once():
    with pytest.raises(ValueError, match="the attribute shape is registered twice"):
        registry.attribute("shape")(lambda b, x: x)


def test_a_function_of_two_names_is_registered():
    assert registry.FUNCTIONS[np.amax] is registry.FUNCTIONS[np.max]
