"""The density of sea water, in JAX, to time gradients of.

The expert form is by Horner's rule in all variables; XLA makes one loop of it.
"""

import jax.numpy as jnp


def port(S, T, p):
    """The program, statement by statement."""
    root = jnp.sqrt(S)
    numerator = (
        9.998e02
        + T * (7.21e00 + T * (-5.32e-02 + T * (3.05e-04 + -1.12e-06 * T)))
        + S * (2.61e00 + T * (-6.4e-03 + T * (1.53e-04 + -8.2e-07 * T)))
        + S * root * (1.37e-03 + T * (4.9e-05 + -3.3e-07 * T))
        + S**2 * (1.91e-03 + T * (-2.7e-06 + 3.9e-08 * T))
        + p * (1.12e-02 + T * (2.6e-05 + T * (1.07e-07 + -1.4e-09 * T)) + S * (5.4e-06 + -3.2e-08 * T))
        + p**2 * (-2.3e-08 + T * (-1.24e-10 + 3.1e-13 * T) + 2.2e-12 * S)
    )
    denominator = (
        1.0
        + T * (7.12e-03 + T * (-4.6e-05 + T * (4.1e-07 + 1.6e-10 * T)))
        + S * (1.83e-03 + T * (-8.9e-06 + T * (2.1e-08 + -1.7e-10 * T)))
        + S * root * (4.7e-06 + T * (1.3e-08 + 1.6e-09 * T))
        + S**2 * (1.24e-06 + T * (-2.2e-09 + 1.9e-11 * T))
        + p * (5.2e-06 + T * (2.9e-08 + T * (-1.3e-10 + 1.1e-12 * T)) + S * (-1.7e-09 + 4.3e-12 * T))
        + p**2 * (-3.1e-12 + T * (-1.7e-14 + 5.8e-17 * T))
        + p**3 * (-1.2e-17 + -9.6e-19 * T)
    )
    return numerator / denominator


def in_powers(x, *coefficients):
    """A polynomial, from the constant on."""
    value = coefficients[-1]
    for coefficient in reversed(coefficients[:-1]):
        value = coefficient + x * value
    return value


def expert(S, T, p):
    """Horner's rule: in the temperature, then the root of the salinity, then the pressure."""
    root = jnp.sqrt(S)
    numerator = in_powers(
        p,
        in_powers(T, 9.998e02, 7.21, -5.32e-02, 3.05e-04, -1.12e-06)
        + S
        * in_powers(
            root,
            in_powers(T, 2.61, -6.4e-03, 1.53e-04, -8.2e-07),
            in_powers(T, 1.37e-03, 4.9e-05, -3.3e-07),
            in_powers(T, 1.91e-03, -2.7e-06, 3.9e-08),
        ),
        in_powers(T, 1.12e-02, 2.6e-05, 1.07e-07, -1.4e-09) + S * in_powers(T, 5.4e-06, -3.2e-08),
        in_powers(T, -2.3e-08, -1.24e-10, 3.1e-13) + 2.2e-12 * S,
    )
    denominator = in_powers(
        p,
        in_powers(T, 1.0, 7.12e-03, -4.6e-05, 4.1e-07, 1.6e-10)
        + S
        * in_powers(
            root,
            in_powers(T, 1.83e-03, -8.9e-06, 2.1e-08, -1.7e-10),
            in_powers(T, 4.7e-06, 1.3e-08, 1.6e-09),
            in_powers(T, 1.24e-06, -2.2e-09, 1.9e-11),
        ),
        in_powers(T, 5.2e-06, 2.9e-08, -1.3e-10, 1.1e-12) + S * in_powers(T, -1.7e-09, 4.3e-12),
        in_powers(T, -3.1e-12, -1.7e-14, 5.8e-17),
        in_powers(T, -1.2e-17, -9.6e-19),
    )
    return numerator / denominator
