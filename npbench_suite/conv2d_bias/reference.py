"""Convolution with a bias in JAX, computed in double precision."""

import jax.numpy as jnp
from jax import lax


def reference(input, weights, bias):
    images, kernel = input.astype(jnp.float64), weights.astype(jnp.float64)
    found = lax.conv_general_dilated(images, kernel, (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return {"return": (found + bias).astype(jnp.float32)}
