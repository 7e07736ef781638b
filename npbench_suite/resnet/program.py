"""Residual block of ResNet-50, in single precision: three convolutions, each normalised over the images.

The padded images between the first two convolutions are in double precision.
"""

import numpy as np


def initialize(N, W, H, C1, C2, rng):
    def weights(*shape):
        return rng.uniform(0.5, 1.5, shape) / np.prod(shape[:-1])

    # Images are bright or dark, and weights positive, so that no normalised pixel is near 0, the kink of relu.
    brightness = np.where(np.arange(N) % 2, 1.0, -1.0).reshape(N, 1, 1, 1)
    values = {
        "input": brightness * rng.uniform(0.5, 1.5, (H, W, C1)) + rng.uniform(-0.2, 0.2, (N, H, W, C1)),
        "conv1": weights(1, 1, C1, C2),
        "conv2": weights(3, 3, C2, C2),
        "conv3": weights(1, 1, C2, C1),
    }
    return {name: value.astype(np.float32) for name, value in values.items()}


def relu(x):
    return np.maximum(x, 0)


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


def batchnorm2d(x, eps=1e-5):
    mean = np.mean(x, axis=0, keepdims=True)
    std = np.std(x, axis=0, keepdims=True)
    return (x - mean) / np.sqrt(std + eps)


def resnet_basicblock(input, conv1, conv2, conv3):
    # A frame of zeros lets the second convolution keep the size.
    padded = np.zeros((input.shape[0], input.shape[1] + 2, input.shape[2] + 2, conv1.shape[3]))
    padded[:, 1:-1, 1:-1, :] = conv2d(input, conv1)

    x = relu(batchnorm2d(padded))
    x = relu(batchnorm2d(conv2d(x, conv2)))
    x = batchnorm2d(conv2d(x, conv3))
    return relu(x + input)
