"""Residual block of ResNet-50 in JAX, computed in double precision."""

import jax
import jax.numpy as jnp
from jax import lax


def convolve_and_normalize(images, kernel):
    kernel = kernel.astype(jnp.float64)
    # What the frame of zeros is normalised to is zero too.
    x = lax.conv_general_dilated(images, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return (x - jnp.mean(x, axis=0)) / jnp.sqrt(jnp.std(x, axis=0) + 1e-5)


def reference(input, conv1, conv2, conv3):
    images = input.astype(jnp.float64)
    x = jax.nn.relu(convolve_and_normalize(images, conv1))
    x = jax.nn.relu(convolve_and_normalize(x, conv2))
    x = convolve_and_normalize(x, conv3)
    return {"return": jax.nn.relu(x + images).astype(jnp.float32)}
