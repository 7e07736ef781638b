"""Residual block of ResNet-50, in JAX, for timing; the images between the first two convolutions are in double.

The expert form has the convolutions as matmuls, the one in double on windows side by side: XLA's own convolution in
double is slow on CPUs, and what the frame of zeros is normalised to is zero, so that it need not be normalised.
"""

import jax
import jax.numpy as jnp
from jax import lax


def port_conv2d(input, weights):
    """Convolution, pixel by pixel, as the program has it."""
    K = weights.shape[0]
    images, height, width, channels = input.shape
    height, width = height - K + 1, width - K + 1
    output = jnp.empty((images, height, width, weights.shape[3]), dtype=jnp.float32)

    def pixel(i, j, output):
        window = lax.dynamic_slice(input, (0, i, j, 0), (images, K, K, channels))[..., None]
        sums = jnp.sum(window * weights[None], axis=(1, 2, 3))
        return output.at[:, i, j, :].set(sums.astype(jnp.float32))

    def row(i, output):
        return lax.fori_loop(0, width, lambda j, output: pixel(i, j, output), output)

    return lax.fori_loop(0, height, row, output)


def batchnorm2d(x, eps=1e-5):
    """Normalisation over the images."""
    mean = jnp.mean(x, axis=0, keepdims=True)
    std = jnp.std(x, axis=0, keepdims=True)
    return (x - mean) / jnp.sqrt(std + eps)


def port(input, conv1, conv2, conv3):
    """The block, statement by statement."""
    padded = jnp.zeros((input.shape[0], input.shape[1] + 2, input.shape[2] + 2, conv1.shape[3]), dtype=jnp.float64)
    padded = padded.at[:, 1:-1, 1:-1, :].set(port_conv2d(input, conv1))
    x = jnp.maximum(batchnorm2d(padded), 0)
    x = jnp.maximum(batchnorm2d(port_conv2d(x, conv2)), 0)
    x = batchnorm2d(port_conv2d(x, conv3))
    return jnp.maximum(x + input, 0)


def expert(input, conv1, conv2, conv3):
    """The block by three matmuls."""
    x = jnp.einsum("nhwi,io->nhwo", input, conv1[0, 0]).astype(jnp.float64)
    x = jax.nn.relu(normalized(x))
    x = jax.nn.relu(normalized(convolved(x, conv2).astype(jnp.float32)))
    x = normalized(jnp.einsum("nhwi,io->nhwo", x, conv3[0, 0]))
    return jax.nn.relu(x + input)


def normalized(x, eps=1e-5):
    """Normalisation over the images, by an inverse root."""
    centred = x - jnp.mean(x, axis=0)
    return centred * lax.rsqrt(jnp.sqrt(jnp.mean(centred * centred, axis=0)) + eps)


def convolved(x, weights):
    """Convolution that keeps the size: the windows of all pixels side by side, times the weights."""
    images, height, width, channels = x.shape
    K = weights.shape[0]
    x = jnp.pad(x, ((0, 0), (K // 2, K // 2), (K // 2, K // 2), (0, 0)))
    windows = [x[:, i : i + height, j : j + width] for i in range(K) for j in range(K)]
    columns = jnp.concatenate(windows, axis=-1).reshape(-1, K * K * channels)
    product = columns @ weights.astype(x.dtype).reshape(K * K * channels, -1)
    return product.reshape(images, height, width, -1)
