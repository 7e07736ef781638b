"""Sharpening of a blurred image by the iteration of Richardson and Lucy, and its mean squared error."""

import numpy as np


def initialize(height, width, iterations, rng):
    y = np.arange(height)[:, None] - height // 2
    x = np.arange(width)[None, :] - width // 2
    psf = np.exp(-0.5 * (y**2 + 0.6 * x**2 + 0.4 * x * y) / 1.5**2) + 1e-4
    truth = 1.0 + rng.uniform(0, 1, (height, width))
    for _ in range(6):
        top, left = rng.integers(0, height), rng.integers(0, width)
        truth[top : top + height // 4, left : left + width // 4] += rng.uniform(1, 3)
    modes = np.fft.rfft2(truth) * np.fft.rfft2(np.fft.ifftshift(psf / psf.sum()))
    blurred = np.fft.irfft2(modes, s=truth.shape)
    return {
        "image": blurred * rng.uniform(0.95, 1.05, (height, width)),
        "psf": psf,
        "truth": truth,
        "iterations": iterations,
    }


def convolve(image, transfer):
    return np.fft.irfft2(np.fft.rfft2(image) * transfer, s=image.shape)


def richardson_lucy(image, psf, truth, iterations):
    psf = psf / np.sum(psf)
    transfer = np.fft.rfft2(np.fft.ifftshift(psf))

    estimate = np.full(image.shape, np.mean(image))
    for _ in range(iterations):
        blurred = convolve(estimate, transfer)
        ratio = image / np.maximum(blurred, 1e-12)
        estimate *= convolve(ratio, np.conj(transfer))

    return np.mean((estimate - truth) ** 2)
