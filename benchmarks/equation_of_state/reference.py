"""The density of sea water in JAX: the terms of both polynomials in a table of powers."""

import jax.numpy as jnp

# By the powers of the root of the salinity and of the pressure: the coefficients of the powers of the temperature.
NUMERATOR = {
    (0, 0): (9.998e02, 7.21, -5.32e-02, 3.05e-04, -1.12e-06),
    (2, 0): (2.61, -6.4e-03, 1.53e-04, -8.2e-07),
    (3, 0): (1.37e-03, 4.9e-05, -3.3e-07),
    (4, 0): (1.91e-03, -2.7e-06, 3.9e-08),
    (0, 1): (1.12e-02, 2.6e-05, 1.07e-07, -1.4e-09),
    (2, 1): (5.4e-06, -3.2e-08),
    (0, 2): (-2.3e-08, -1.24e-10, 3.1e-13),
    (2, 2): (2.2e-12,),
}
DENOMINATOR = {
    (0, 0): (1.0, 7.12e-03, -4.6e-05, 4.1e-07, 1.6e-10),
    (2, 0): (1.83e-03, -8.9e-06, 2.1e-08, -1.7e-10),
    (3, 0): (4.7e-06, 1.3e-08, 1.6e-09),
    (4, 0): (1.24e-06, -2.2e-09, 1.9e-11),
    (0, 1): (5.2e-06, 2.9e-08, -1.3e-10, 1.1e-12),
    (2, 1): (-1.7e-09, 4.3e-12),
    (0, 2): (-3.1e-12, -1.7e-14, 5.8e-17),
    (0, 3): (-1.2e-17, -9.6e-19),
}


def reference(S, T, p):
    def polynomial(table):
        return sum(
            c * jnp.sqrt(S) ** i * p**j * T**k
            for (i, j), coefficients in table.items()
            for k, c in enumerate(coefficients)
        )

    return {"return": polynomial(NUMERATOR) / polynomial(DENOMINATOR)}
