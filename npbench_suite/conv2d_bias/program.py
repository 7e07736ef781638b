"""Convolution of images with a square kernel and a bias, in single precision.

Images are indexed by image, row, column and channel, kernels by row, column and the two channels.
"""

import numpy as np


def initialize(N, C_in, C_out, K, H, W, rng):
    values = {
        "input": rng.uniform(-1, 1, (N, H, W, C_in)),
        "weights": rng.uniform(-1, 1, (K, K, C_in, C_out)),
        "bias": rng.uniform(-1, 1, C_out),
    }
    return {name: value.astype(np.float32) for name, value in values.items()}


def conv2d(input, weights):
    K = weights.shape[0]
    height = input.shape[1] - K + 1
    width = input.shape[2] - K + 1
    output = np.empty((input.shape[0], height, width, weights.shape[3]), dtype=np.float32)
    for i in range(height):
        for j in range(width):
            window = input[:, i : i + K, j : j + K, :, np.newaxis]
            output[:, i, j, :] = np.sum(window * weights[np.newaxis, :, :, :], axis=(1, 2, 3))
    return output


def conv2d_bias(input, weights, bias):
    return conv2d(input, weights) + bias
