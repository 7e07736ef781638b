"""Two streams of electrons through each other: particles in cells, their field by Fourier modes, leapfrog steps.

Positions and velocities change in place; the result is the energy of the field at each step.
"""

import numpy as np

LENGTH = 2 * np.pi


def initialize(particles, cells, steps, dt, rng):
    stream = np.where(np.arange(particles) % 2 == 0, 1.0, -1.0)
    return {
        "x": rng.uniform(0, LENGTH, particles),
        "v": stream + 0.1 * rng.normal(size=particles),
        "charge": -LENGTH / particles * rng.uniform(0.8, 1.2, particles),
        "cells": cells,
        "dt": dt,
        "steps": steps,
    }


def electric_field(x, charge, cells):
    dx = LENGTH / cells
    left = np.floor(x / dx).astype(int)
    weight = x / dx - left
    left = left % cells
    right = (left + 1) % cells

    # Each particle's charge goes to the two nearest points; a background makes the sum zero.
    density = np.zeros(cells)
    np.add.at(density, left, charge * (1.0 - weight) / dx)
    np.add.at(density, right, charge * weight / dx)
    density -= np.mean(density)

    k = 2 * np.pi * np.fft.rfftfreq(cells, d=dx)
    modes = np.fft.rfft(density)
    modes[0] = 0.0
    modes[1:] /= 1j * k[1:]
    grid = np.fft.irfft(modes, n=cells)
    return grid, (1.0 - weight) * grid[left] + weight * grid[right]


def particle_in_cell(x, v, charge, cells, dt, steps):
    energy = np.zeros(steps)

    # An electron's charge is the same for its mass whatever its weight.
    grid, field = electric_field(x, charge, cells)
    v -= 0.5 * dt * field
    for n in range(steps):
        x += dt * v
        x %= LENGTH
        grid, field = electric_field(x, charge, cells)
        energy[n] = 0.5 * np.sum(grid**2) * LENGTH / cells
        v -= dt * field
    return energy
