"""Sharpening of a blurred image, in JAX, to time gradients of. The expert form is a scan with real transforms."""

import jax.numpy as jnp
from jax import lax


def port_convolve(image, transfer):
    """A product of transforms, as the program has it."""
    return jnp.fft.irfft2(jnp.fft.rfft2(image) * transfer, s=image.shape)


def port(image, psf, truth, iterations):
    """The program, statement by statement."""
    psf = psf / jnp.sum(psf)
    transfer = jnp.fft.rfft2(jnp.fft.ifftshift(psf))

    def iteration(k, estimate):
        blurred = port_convolve(estimate, transfer)
        ratio = image / jnp.maximum(blurred, 1e-12)
        return estimate * port_convolve(ratio, jnp.conj(transfer))

    estimate = lax.fori_loop(0, iterations, iteration, jnp.full(image.shape, jnp.mean(image)))
    return jnp.mean((estimate - truth) ** 2)


def expert(image, psf, truth, iterations):
    """One scan; the constant first estimate needs no transform to be blurred."""
    transfer = jnp.fft.rfft2(jnp.fft.ifftshift(psf / jnp.sum(psf)))
    back = jnp.conj(transfer)
    shape = image.shape

    def corrected(estimate, blurred):
        ratio = image / jnp.maximum(blurred, 1e-12)
        return estimate * jnp.fft.irfft2(jnp.fft.rfft2(ratio) * back, s=shape)

    def iteration(estimate, _):
        return corrected(estimate, jnp.fft.irfft2(jnp.fft.rfft2(estimate) * transfer, s=shape)), None

    # The spread sums to 1.
    mean = jnp.mean(image)
    estimate, _ = lax.scan(iteration, corrected(mean, mean), None, length=iterations - 1)
    return jnp.mean((estimate - truth) ** 2)
