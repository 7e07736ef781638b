"""An energy-balance model of latitudes with a carbon cycle: parameters in nested dicts, states in named tuples."""

from typing import NamedTuple

import numpy as np

DEFAULTS = {"solar": 340.0, "emissivity": 0.61, "steps": 40, "years": 0.5}
SIGMA = 5.67e-8


class State(NamedTuple):
    temperature: np.ndarray
    carbon: np.ndarray
    ice: np.ndarray
    time: float


class Forcing:
    """Emissions by sector, as curves through a few points."""

    def __init__(self, years, sectors):
        self.years = years
        self.sectors = sectors

    def total(self, time):
        return sum(scale * np.interp(time, self.years, curve) for scale, curve in self.sectors.values())


def insolation(latitudes, solar):
    return solar * (1.0 - 0.48 * (3.0 * np.sin(latitudes) ** 2 - 1.0) / 2.0)


def diffused(temperature, latitudes, coefficient):
    x = np.sin(latitudes)
    middle = 0.5 * (x[1:] + x[:-1])
    flux = coefficient * (1.0 - middle**2) * np.diff(temperature) / np.diff(x)
    flux = np.concatenate(([0.0], flux, [0.0]))
    return np.diff(flux) / np.gradient(x)


def albedo(ice, physics):
    return physics["albedo"]["ocean"] * (1.0 - ice) + physics["albedo"]["ice"] * ice


def exchanged(carbon, rates):
    """The flows between air, upper and deep ocean."""
    down = rates["air"] * (carbon[0] - rates["balance"] * carbon[1])
    deep = rates["ocean"] * (carbon[1] - 0.1 * carbon[2])
    return np.stack([-down, down - deep, deep])


def advanced(state, physics, forcing, latitudes, settings):
    dt = settings["years"]
    greenhouse = physics["sensitivity"] * np.log(state.carbon[0] / 280.0)
    absorbed = insolation(latitudes, settings["solar"]) * (1.0 - albedo(state.ice, physics))
    emitted = settings["emissivity"] * SIGMA * (state.temperature + 273.15) ** 4
    heating = absorbed + greenhouse - emitted + diffused(state.temperature, latitudes, physics["diffusion"])
    temperature = state.temperature + dt * heating / physics["capacity"]
    ice = state.ice + dt * (1.0 / (1.0 + np.exp(0.5 * (temperature + 10.0))) - state.ice) / physics["memory"]
    carbon = state.carbon + dt * exchanged(state.carbon, physics["rates"])
    carbon[0] += dt * forcing.total(state.time)
    return State(temperature, carbon, ice, state.time + dt)


def program(initial, physics, sectors, years, **options):
    settings = {**DEFAULTS, **options}
    latitudes = np.linspace(-1.4, 1.4, len(initial.temperature))
    forcing = Forcing(years, sectors)
    weights = np.cos(latitudes) / np.sum(np.cos(latitudes))
    state, damage = initial, 0.0
    for _ in range(settings["steps"]):
        state = advanced(state, physics, forcing, latitudes, settings)
        warming = weights @ (state.temperature - initial.temperature)
        damage += settings["years"] * warming**2
    return damage + 1e-3 * weights @ state.ice + 1e-6 * state.carbon[0]


def arguments(rng):
    n = 12
    initial = State(
        20.0 * np.cos(np.linspace(-1.4, 1.4, n)), np.array([400.0, 500.0, 3000.0]), 0.3 * rng.random(n), 0.37
    )
    physics = {
        "albedo": {"ocean": 0.25, "ice": 0.6},
        "rates": {"air": 0.02, "ocean": 0.01, "balance": 0.7},
        "sensitivity": 5.0,
        "diffusion": 0.6,
        "capacity": 20.0,
        "memory": 3.0,
    }
    sectors = {"energy": (1.5, rng.random(4)), "land": (0.5, rng.random(4))}
    return initial, physics, sectors, np.array([0.0, 5.1, 10.3, 25.0])
