"""The references compute in double precision, and are compiled for one evaluation each."""

import jax

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_disable_most_optimizations", True)
