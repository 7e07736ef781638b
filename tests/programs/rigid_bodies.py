"""Bodies joined by springs in two dimensions, with drag and a ground: objects that hold lists of objects."""

from dataclasses import dataclass

import numpy as np


@dataclass
class Body:
    mass: float
    position: np.ndarray
    velocity: np.ndarray
    angle: float = 0.0
    spin: float = 0.0
    radius: float = 0.2

    @property
    def inertia(self):
        return 0.5 * self.mass * self.radius**2

    @property
    def energy(self):
        return 0.5 * self.mass * self.velocity @ self.velocity + 0.5 * self.inertia * self.spin**2

    def anchor(self, offset):
        c, s = np.cos(self.angle), np.sin(self.angle)
        return self.position + np.array([c * offset[0] - s * offset[1], s * offset[0] + c * offset[1]])


@dataclass
class Spring:
    first: int
    second: int
    stiffness: float
    length: float
    offsets: tuple = ((0.1, 0.0), (-0.1, 0.0))

    def forces(self, bodies):
        ends = [bodies[k].anchor(offset) for k, offset in zip((self.first, self.second), self.offsets)]
        d = ends[1] - ends[0]
        distance = np.sqrt(d @ d + 1e-8)
        pull = self.stiffness * (distance - self.length) * d / distance
        return [(self.first, pull, ends[0]), (self.second, -pull, ends[1])]


class World:
    gravity = np.array([0.0, -1.0])

    def __init__(self, bodies, springs, drag, ground):
        self.bodies, self.springs = bodies, springs
        self.drag, self.ground = drag, ground
        self.time = 0.0
        self.lost = 0.0

    def ground_force(self, body):
        depth = np.maximum(body.radius - body.position[1], 0.0)
        return np.array([0.0, self.ground * depth**2])

    def loads(self):
        force = [body.mass * self.gravity - self.drag * body.velocity + self.ground_force(body) for body in self.bodies]
        torque = [-self.drag * body.spin for body in self.bodies]
        for spring in self.springs:
            for k, pull, at in spring.forces(self.bodies):
                arm = at - self.bodies[k].position
                force[k] = force[k] + pull
                torque[k] = torque[k] + arm[0] * pull[1] - arm[1] * pull[0]
        return force, torque

    def step(self, dt):
        before = sum(body.energy for body in self.bodies)
        for body, force, torque in zip(self.bodies, *self.loads()):
            body.velocity = body.velocity + dt * force / body.mass
            body.spin = body.spin + dt * torque / body.inertia
            body.position = body.position + dt * body.velocity
            body.angle += dt * body.spin
        self.lost += before - sum(body.energy for body in self.bodies)
        self.time += dt


def program(world, target, steps, dt):
    for _ in range(steps):
        world.step(dt)
    last = world.bodies[-1]
    miss = last.anchor((0.1, 0.1)) - target
    return miss @ miss + 0.01 * world.lost + 1e-3 * world.time


def arguments(rng):
    bodies = [
        Body(1.0 + rng.random(), np.array([k, 0.6 + 0.3 * k]), 0.5 * rng.standard_normal(2), 0.1 * k) for k in range(3)
    ]
    springs = [Spring(0, 1, 4.0, 0.7), Spring(1, 2, 3.0, 0.8, ((0.0, 0.1), (0.0, -0.1)))]
    return World(bodies, springs, 0.1, 50.0), np.array([1.5, 0.8]), 30, 0.02
