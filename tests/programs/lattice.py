"""A lattice-Boltzmann flow around an obstacle: integer velocities, a class with state, periodic neighbours."""

import numpy as np

VELOCITIES = np.array([[0, 0], [1, 0], [0, 1], [-1, 0], [0, -1], [1, 1], [-1, 1], [-1, -1], [1, -1]])
WEIGHTS = np.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4)
OPPOSITE = [0, 3, 4, 1, 2, 7, 8, 5, 6]


class Lattice:
    def __init__(self, populations, solid, relaxation):
        self.f = populations
        self.solid = solid
        self.relaxation = relaxation
        self.drag = []

    @property
    def density(self):
        return np.sum(self.f, axis=0)

    @property
    def velocity(self):
        return np.einsum("kd,kxy->dxy", VELOCITIES, self.f) / self.density

    def stream(self):
        for k in range(len(VELOCITIES)):
            self.f[k] = np.roll(self.f[k], VELOCITIES[k], axis=(0, 1))

    def equilibrium(self, density, velocity):
        square = 1.5 * np.sum(velocity**2, axis=0)
        parts = []
        for (cx, cy), weight in zip(VELOCITIES, WEIGHTS):
            along = 3.0 * (cx * velocity[0] + cy * velocity[1])
            parts.append(weight * density * (1.0 + along + 0.5 * along**2 - square))
        return np.stack(parts)

    def collide(self, force):
        velocity = self.velocity
        velocity[0] += force * self.relaxation
        self.f += (self.equilibrium(self.density, velocity) - self.f) / self.relaxation

    def bounce(self):
        reflected = self.f[OPPOSITE]
        push = np.sum(np.where(self.solid, self.f - reflected, 0.0), axis=(1, 2))
        self.drag.append(push @ VELOCITIES[:, 0])
        self.f = np.where(self.solid, reflected, self.f)


class Tracer:
    """A concentration that the flow carries, by differences with periodic neighbours."""

    def __init__(self, concentration, diffusivity):
        self.c, self.diffusivity = concentration, diffusivity
        nx, ny = concentration.shape
        self.left, self.right = (np.arange(nx) - 1) % nx, (np.arange(nx) + 1) % nx
        self.below, self.above = np.arange(ny) - 1, (np.arange(ny) + 1) % ny

    def step(self, velocity):
        u, v = velocity
        c = self.c
        dx = 0.5 * (c[self.right] - c[self.left])
        dy = 0.5 * (c[:, self.above] - c[:, self.below])
        laplacian = c[self.right] + c[self.left] + c[:, self.above] + c[:, self.below] - 4.0 * c
        self.c = c - u * dx - v * dy + self.diffusivity * laplacian


def program(populations, solid, physics, steps):
    lattice = Lattice(populations, solid, physics["relaxation"])
    tracer = Tracer(physics["dye"], physics["diffusivity"])
    for _ in range(steps):
        lattice.stream()
        lattice.bounce()
        lattice.collide(physics["force"])
        tracer.step(lattice.velocity)
    mixed = np.var(tracer.c)
    return sum(lattice.drag) / steps + 10.0 * mixed + np.mean(lattice.velocity[0] ** 2)


def arguments(rng):
    nx, ny = 9, 7
    populations = WEIGHTS[:, None, None] * (1.0 + 0.1 * rng.random((9, nx, ny)))
    solid = np.zeros((nx, ny), bool)
    solid[3:5, 2:4] = True
    physics = {"relaxation": 0.9, "force": 1e-2, "diffusivity": 0.05, "dye": rng.random((nx, ny))}
    return populations, solid, physics, 5
