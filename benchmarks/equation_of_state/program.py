"""The density of sea water from salinity, temperature and pressure: a ratio of polynomials, at each point of a grid.

The coefficients are invented. They give plausible densities, no more.
"""

import numpy as np

# Numerator: powers of the temperature, then what multiplies the salinity, its power 3/2 and its square, then the
# pressure and its square.
A00 = 9.998e02
A01 = 7.21e00
A02 = -5.32e-02
A03 = 3.05e-04
A04 = -1.12e-06
A10 = 2.61e00
A11 = -6.4e-03
A12 = 1.53e-04
A13 = -8.2e-07
A20 = 1.37e-03
A21 = 4.9e-05
A22 = -3.3e-07
A30 = 1.91e-03
A31 = -2.7e-06
A32 = 3.9e-08
A40 = 1.12e-02
A41 = 2.6e-05
A42 = 1.07e-07
A43 = -1.4e-09
A44 = 5.4e-06
A45 = -3.2e-08
A50 = -2.3e-08
A51 = -1.24e-10
A52 = 3.1e-13
A53 = 2.2e-12

# Denominator: the same, and a product with the pressure's third power.
B00 = 1.0
B01 = 7.12e-03
B02 = -4.6e-05
B03 = 4.1e-07
B04 = 1.6e-10
B10 = 1.83e-03
B11 = -8.9e-06
B12 = 2.1e-08
B13 = -1.7e-10
B20 = 4.7e-06
B21 = 1.3e-08
B22 = 1.6e-09
B30 = 1.24e-06
B31 = -2.2e-09
B32 = 1.9e-11
B40 = 5.2e-06
B41 = 2.9e-08
B42 = -1.3e-10
B43 = 1.1e-12
B44 = -1.7e-09
B45 = 4.3e-12
B50 = -3.1e-12
B51 = -1.7e-14
B52 = 5.8e-17
B60 = -1.2e-17
B61 = -9.6e-19


def initialize(nx, ny, nz, rng):
    shape = (nx, ny, nz)
    depth = np.arange(nz) / nz
    return {
        "S": 34.0 + 2.0 * depth + rng.uniform(-2, 2, shape),
        "T": 24.0 * np.exp(-3.0 * depth) + rng.uniform(0, 2, shape),
        "p": 4000.0 * depth + rng.uniform(5, 50, shape),
    }


def equation_of_state(S, T, p):
    root = np.sqrt(S)

    numerator = (
        A00
        + T * (A01 + T * (A02 + T * (A03 + A04 * T)))
        + S * (A10 + T * (A11 + T * (A12 + A13 * T)))
        + S * root * (A20 + T * (A21 + A22 * T))
        + S**2 * (A30 + T * (A31 + A32 * T))
        + p * (A40 + T * (A41 + T * (A42 + A43 * T)) + S * (A44 + A45 * T))
        + p**2 * (A50 + T * (A51 + A52 * T) + A53 * S)
    )

    denominator = (
        B00
        + T * (B01 + T * (B02 + T * (B03 + B04 * T)))
        + S * (B10 + T * (B11 + T * (B12 + B13 * T)))
        + S * root * (B20 + T * (B21 + B22 * T))
        + S**2 * (B30 + T * (B31 + B32 * T))
        + p * (B40 + T * (B41 + T * (B42 + B43 * T)) + S * (B44 + B45 * T))
        + p**2 * (B50 + T * (B51 + B52 * T))
        + p**3 * (B60 + B61 * T)
    )

    return numerator / denominator
