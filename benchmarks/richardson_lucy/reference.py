"""Sharpening of a blurred image in JAX: with complex transforms, and the mirrored spread for its correlation."""

import jax.numpy as jnp


def reference(image, psf, truth, iterations):
    height, width = image.shape
    spread = jnp.roll(psf / psf.sum(), (-(height // 2), -(width // 2)), (0, 1))
    mirrored = jnp.roll(spread[::-1, ::-1], (1, 1), (0, 1))

    def convolved(a, b):
        return jnp.real(jnp.fft.ifft2(jnp.fft.fft2(a) * jnp.fft.fft2(b)))

    estimate = jnp.ones_like(image) * image.sum() / image.size
    for _ in range(iterations):
        estimate = estimate * convolved(image / convolved(estimate, spread), mirrored)
    return {"return": jnp.mean(jnp.square(estimate - truth))}
