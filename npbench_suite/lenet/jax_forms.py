"""LeNet-5 convolutional network in JAX, to time gradients of.

The expert form convolves with a matrix product of patches where there is one channel and with the library where there
are more, pools by comparing halves (no scatter in the gradient), and pools before it adds the bias and rectifies.
"""

import jax
import jax.numpy as jnp
from jax import lax


def relu(x):
    """The positive part."""
    return jnp.maximum(x, 0)


def conv2d(input, weights):
    """The program's convolution: two nested loops over the pixels."""
    K = weights.shape[0]
    N, height, width = input.shape[0], input.shape[1] - K + 1, input.shape[2] - K + 1

    def pixel(i, j, output):
        window = lax.dynamic_slice(input, (0, i, j, 0), (N, K, K, input.shape[3]))[:, :, :, :, jnp.newaxis]
        return output.at[:, i, j, :].set(jnp.sum(window * weights[jnp.newaxis, :, :, :], axis=(1, 2, 3)))

    def row(i, output):
        return lax.fori_loop(0, width, lambda j, output: pixel(i, j, output), output)

    return lax.fori_loop(0, height, row, jnp.zeros((N, height, width, weights.shape[3]), dtype=jnp.float32))


def maxpool2d(x):
    """The program's pool: two nested loops over the pixels."""
    N, height, width, channels = x.shape[0], x.shape[1] // 2, x.shape[2] // 2, x.shape[3]

    def pixel(i, j, output):
        window = lax.dynamic_slice(x, (0, 2 * i, 2 * j, 0), (N, 2, 2, channels))
        return output.at[:, i, j, :].set(jnp.max(window, axis=(1, 2)))

    def row(i, output):
        return lax.fori_loop(0, width, lambda j, output: pixel(i, j, output), output)

    return lax.fori_loop(0, height, row, jnp.zeros((N, height, width, channels), dtype=x.dtype))


def port(input, conv1, conv1bias, conv2, conv2bias, fc1w, fc1b, fc2w, fc2b, fc3w, fc3b, N, C_before_fc1):
    """The program, statement by statement."""
    x = maxpool2d(relu(conv2d(input, conv1) + conv1bias))
    x = maxpool2d(relu(conv2d(x, conv2) + conv2bias))
    x = jnp.reshape(x, (N, C_before_fc1))
    x = relu(x @ fc1w + fc1b)
    x = relu(x @ fc2w + fc2b)
    return x @ fc3w + fc3b


def patch_product(images, kernel):
    """A convolution as one product of all patches."""
    K = kernel.shape[0]
    height, width = images.shape[1] - K + 1, images.shape[2] - K + 1
    patches = [images[:, i : i + height, j : j + width] for i in range(K) for j in range(K)]
    return jnp.concatenate(patches, axis=3) @ kernel.reshape(-1, kernel.shape[3])


def convolve(images, kernel):
    """The library's convolution."""
    return lax.conv_general_dilated(images, kernel, (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def larger(a, b):
    """The maximum, with a selection for its derivative."""
    return jnp.where(a > b, a, b)


def pool(x):
    """The maxima of blocks of two by two, first over rows and then over columns."""
    N, height, width, channels = x.shape
    blocks = x[:, : height // 2 * 2, : width // 2 * 2].reshape(N, height // 2, 2, width // 2, 2, channels)
    rows = larger(blocks[:, :, 0], blocks[:, :, 1])
    return larger(rows[:, :, :, 0], rows[:, :, :, 1])


def expert(input, conv1, conv1bias, conv2, conv2bias, fc1w, fc1b, fc2w, fc2b, fc3w, fc3b, N, C_before_fc1):
    """The network in products, convolutions and selections."""
    x = jax.nn.relu(pool(patch_product(input, conv1)) + conv1bias)
    x = jax.nn.relu(pool(convolve(x, conv2)) + conv2bias)
    x = jax.nn.relu(x.reshape(N, C_before_fc1) @ fc1w + fc1b)
    x = jax.nn.relu(x @ fc2w + fc2b)
    return x @ fc3w + fc3b
