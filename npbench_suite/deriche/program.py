"""Deriche edge filter: a forward and a backward recurrence over the rows of an image, then its columns."""

import numpy as np


def initialize(W, H, rng):
    return {"alpha": 0.25, "imgIn": rng.uniform(0, 1, (W, H))}


def deriche(alpha, imgIn):
    decay = np.exp(-alpha)
    k = (1.0 - decay) * (1.0 - decay) / (1.0 + 2.0 * alpha * decay - np.exp(2.0 * alpha))
    a1 = k
    a2 = k * decay * (alpha - 1.0)
    a3 = k * decay * (alpha + 1.0)
    a4 = -k * decay * decay
    b1 = 2.0 ** (-alpha)
    b2 = -decay * decay

    y1 = np.zeros_like(imgIn)
    y2 = np.zeros_like(imgIn)

    y1[:, 0] = a1 * imgIn[:, 0]
    y1[:, 1] = a1 * imgIn[:, 1] + a2 * imgIn[:, 0] + b1 * y1[:, 0]
    for j in range(2, imgIn.shape[1]):
        y1[:, j] = a1 * imgIn[:, j] + a2 * imgIn[:, j - 1] + b1 * y1[:, j - 1] + b2 * y1[:, j - 2]
    y2[:, -1] = 0.0
    y2[:, -2] = a3 * imgIn[:, -1]
    for j in range(imgIn.shape[1] - 3, -1, -1):
        y2[:, j] = a3 * imgIn[:, j + 1] + a4 * imgIn[:, j + 2] + b1 * y2[:, j + 1] + b2 * y2[:, j + 2]
    imgOut = y1 + y2

    y1[0, :] = a1 * imgOut[0, :]
    y1[1, :] = a1 * imgOut[1, :] + a2 * imgOut[0, :] + b1 * y1[0, :]
    for i in range(2, imgIn.shape[0]):
        y1[i, :] = a1 * imgOut[i, :] + a2 * imgOut[i - 1, :] + b1 * y1[i - 1, :] + b2 * y1[i - 2, :]
    y2[-1, :] = 0.0
    y2[-2, :] = a3 * imgOut[-1, :]
    for i in range(imgIn.shape[0] - 3, -1, -1):
        y2[i, :] = a3 * imgOut[i + 1, :] + a4 * imgOut[i + 2, :] + b1 * y2[i + 1, :] + b2 * y2[i + 2, :]
    imgOut[:] = y1 + y2

    return imgOut
