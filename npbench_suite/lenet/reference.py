"""LeNet-5 convolutional network in JAX, computed in double precision."""

import jax
import jax.numpy as jnp
from jax import lax


def convolve_and_pool(images, kernel, bias):
    kernel = kernel.astype(jnp.float64)
    x = lax.conv_general_dilated(images, kernel, (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return lax.reduce_window(jax.nn.relu(x + bias), -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def reference(input, conv1, conv1bias, conv2, conv2bias, fc1w, fc1b, fc2w, fc2b, fc3w, fc3b, N, C_before_fc1):
    x = convolve_and_pool(input.astype(jnp.float64), conv1, conv1bias)
    x = convolve_and_pool(x, conv2, conv2bias)
    x = x.reshape(N, C_before_fc1)
    x = jax.nn.relu(x @ fc1w + fc1b)
    x = jax.nn.relu(x @ fc2w + fc2b)
    return {"return": (x @ fc3w + fc3b).astype(jnp.float32)}
