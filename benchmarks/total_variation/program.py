"""Denoising of an image by gradient descent on its distance to the noisy one and its smoothed total variation.

The error of the result is to be differentiated by the noisy image and by a weight for each pixel.
"""

import numpy as np


def initialize(nx, ny, steps, rng):
    x, y = np.meshgrid(np.linspace(-1, 1, nx), np.linspace(-1, 1, ny), indexing="ij")
    clean = np.where(x**2 + y**2 < 0.5, 1.0, 0.2) + 0.1 * x
    return {
        "noisy": clean + 0.1 * rng.normal(size=(nx, ny)),
        "clean": clean,
        "weight": rng.uniform(0.05, 0.15, (nx, ny)),
        "steps": steps,
        "rate": 0.1,
        "smoothing": 0.05,
    }


def gradient(u):
    gx = np.zeros_like(u)
    gy = np.zeros_like(u)
    gx[:-1, :] = u[1:, :] - u[:-1, :]
    gy[:, :-1] = u[:, 1:] - u[:, :-1]
    return gx, gy


def divergence(px, py):
    result = px + py
    result[1:, :] -= px[:-1, :]
    result[:, 1:] -= py[:, :-1]
    return result


def total_variation(noisy, clean, weight, steps, rate, smoothing):
    u = noisy.copy()
    for _ in range(steps):
        gx, gy = gradient(u)
        norm = np.sqrt(gx**2 + gy**2 + smoothing**2)
        u += rate * (divergence(weight * gx / norm, weight * gy / norm) - (u - noisy))
    error = np.mean((u - clean) ** 2)
    return error, u
