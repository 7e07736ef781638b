"""A Kalman filter of a moving target with dataclasses, and the likelihood of what two sensors have measured."""

from dataclasses import dataclass, field, replace

import numpy as np


@dataclass(frozen=True)
class Gaussian:
    mean: np.ndarray
    cov: np.ndarray

    def log_density(self, x):
        d = x - self.mean
        _, logdet = np.linalg.slogdet(self.cov)
        return -0.5 * (d @ np.linalg.solve(self.cov, d) + logdet + len(d) * np.log(2.0 * np.pi))

    def transformed(self, matrix, noise):
        return Gaussian(matrix @ self.mean, matrix @ self.cov @ matrix.T + noise)


@dataclass
class Sensor:
    matrix: np.ndarray
    noise: np.ndarray
    name: str = "radar"
    weight: float = 1.0

    def predicted(self, state):
        return state.transformed(self.matrix, self.noise)


@dataclass
class Model:
    dt: float
    accelerations: np.ndarray
    sensors: list
    history: list = field(default_factory=list)

    @property
    def transition(self):
        f = np.eye(4)
        f[0, 2] = f[1, 3] = self.dt
        return f

    @property
    def process_noise(self):
        g = np.array([[0.5 * self.dt**2, 0.0], [0.0, 0.5 * self.dt**2], [self.dt, 0.0], [0.0, self.dt]])
        return g @ np.diag(self.accelerations**2) @ g.T + 1e-9 * np.eye(4)


def updated(state, sensor, measured):
    """The state after a measurement, and its log-likelihood."""
    expected = sensor.predicted(state)
    gain = np.linalg.solve(expected.cov, sensor.matrix @ state.cov).T
    mean = state.mean + gain @ (measured - expected.mean)
    left = np.eye(len(mean)) - gain @ sensor.matrix
    # Joseph's form stays symmetric.
    cov = left @ state.cov @ left.T + gain @ sensor.noise @ gain.T
    return replace(state, mean=mean, cov=cov), expected.log_density(measured)


def program(model, start, measured):
    state = Gaussian(start["mean"], start["cov"])
    total = {sensor.name: 0.0 for sensor in model.sensors}
    f, q = model.transition, model.process_noise
    for step in range(measured.shape[0]):
        state = state.transformed(f, q)
        for number, sensor in enumerate(model.sensors):
            state, likelihood = updated(state, sensor, measured[step, number])
            total[sensor.name] += sensor.weight * likelihood
    return sum(total.values()) / len(measured) + 0.01 * np.trace(state.cov)


def arguments(rng):
    h = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]])
    sensors = [Sensor(h, 0.3 * np.eye(2)), Sensor(h + 0.1 * rng.random((2, 4)), 0.5 * np.eye(2), "camera", 0.7)]
    model = Model(0.2, np.array([0.5, 0.8]), sensors)
    start = {"mean": rng.standard_normal(4), "cov": np.eye(4) + 0.1}
    return model, start, rng.standard_normal((12, 2, 2))
