"""Finite elements on triangles: a mesh class, materials by name, sparse assembly and solver, and a compliance."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import spsolve

MATERIALS = {"steel": (210.0, 0.3), "rubber": (1.5, 0.45)}


@dataclass
class Mesh:
    nodes: np.ndarray
    triangles: np.ndarray
    kinds: list

    @classmethod
    def rectangle(cls, nx, ny, heights):
        """A strip whose upper rim has the given heights."""
        x, s = np.meshgrid(np.linspace(0.0, 2.0, nx), np.linspace(0.0, 1.0, ny), indexing="ij")
        nodes = np.stack([x, s * heights[:, None]], axis=-1).reshape(-1, 2)
        corner = (np.arange(nx - 1)[:, None] * ny + np.arange(ny - 1)).ravel()
        lower = np.stack([corner, corner + ny, corner + 1], axis=1)
        upper = np.stack([corner + ny, corner + ny + 1, corner + 1], axis=1)
        return cls(nodes, np.concatenate([lower, upper]), ["steel", "rubber"])

    @property
    def size(self):
        return 2 * len(self.nodes)

    def edges(self):
        p = self.nodes[self.triangles]
        return p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]

    def areas(self):
        a, b = self.edges()
        return 0.5 * (a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])

    def dofs(self):
        return (2 * self.triangles[:, :, None] + np.arange(2)).reshape(len(self.triangles), 6)


def elasticity(young, poisson):
    """Plane stress."""
    factor = young / (1.0 - poisson**2)
    return factor * np.array([[1.0, poisson, 0.0], [poisson, 1.0, 0.0], [0.0, 0.0, 0.5 * (1.0 - poisson)]])


def strain_matrices(mesh):
    a, b = mesh.edges()
    twice = 2.0 * mesh.areas()
    dx = np.stack([a[:, 1] - b[:, 1], b[:, 1], -a[:, 1]], axis=1) / twice[:, None]
    dy = np.stack([b[:, 0] - a[:, 0], -b[:, 0], a[:, 0]], axis=1) / twice[:, None]
    matrices = np.zeros((len(mesh.triangles), 3, 6))
    matrices[:, 0, 0::2] = dx
    matrices[:, 1, 1::2] = dy
    matrices[:, 2, 0::2] = dy
    matrices[:, 2, 1::2] = dx
    return matrices


class Problem:
    def __init__(self, mesh, density, thickness):
        self.mesh, self.density, self.thickness = mesh, density, thickness
        self.log = []

    def stiffness(self):
        mesh = self.mesh
        strains, areas = strain_matrices(mesh), mesh.areas()
        dofs = mesh.dofs()
        rows, columns = np.repeat(dofs, 6, axis=1).ravel(), np.tile(dofs, 6).ravel()
        total = sp.csr_matrix((mesh.size, mesh.size))
        for number, kind in enumerate(mesh.kinds):
            share = self.density if number == 0 else 1.0 - self.density
            weight = (0.01 + share**3) * areas * self.thickness
            local = np.einsum("eki,kl,elj,e->eij", strains, elasticity(*MATERIALS[kind]), strains, weight)
            total = total + sp.coo_matrix((local.ravel(), (rows, columns)), shape=total.shape)
        return total.tocsr()

    def solve(self, load, fixed):
        """With the displacements of the fixed nodes left out."""
        free = np.setdiff1d(np.arange(self.mesh.size), fixed)
        displacement = np.zeros(self.mesh.size)
        displacement[free] = spsolve(self.stiffness()[free][:, free], load[free])
        self.log.append(displacement @ load)
        return displacement


def program(heights, density, load, settings):
    mesh = Mesh.rectangle(len(heights), settings["ny"], heights)
    problem = Problem(mesh, density, settings["thickness"])
    fixed = np.arange(2 * settings["ny"])
    forces = np.zeros(mesh.size)
    forces[-2 * settings["ny"] :] = load
    displacement = problem.solve(forces, fixed)
    volume = np.sum(mesh.areas() * density)
    tip = displacement.reshape(-1, 2)[-1]
    return problem.log[-1] + settings["cost"] * volume + 0.1 * tip @ tip


def arguments(rng):
    nx, ny = 5, 3
    density = 0.4 + 0.2 * rng.random(2 * (nx - 1) * (ny - 1))
    settings = {"ny": ny, "thickness": 0.1, "cost": 0.3}
    return 1.0 + 0.1 * rng.random(nx), density, 0.1 * rng.standard_normal(2 * ny), settings
