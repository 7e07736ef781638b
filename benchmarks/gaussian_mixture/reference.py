"""Log-likelihood of a mixture of Gaussians in JAX: the normal densities of all clusters, from their covariances."""

import jax
import jax.numpy as jnp
from jax.scipy.special import logsumexp, multigammaln
from jax.scipy.stats import multivariate_normal


def reference(alphas, means, factors, x, gamma, m):
    d = means.shape[1]

    def precision(packed):
        rows, columns = jnp.tril_indices(d, -1)
        Q = jnp.zeros((d, d)).at[rows, columns].set(packed[d:]) + jnp.diag(jnp.exp(packed[:d]))
        return Q.T @ Q

    precisions = jax.vmap(precision)(factors)
    densities = jax.vmap(lambda mean, P: multivariate_normal.logpdf(x, mean, jnp.linalg.inv(P)))(means, precisions)
    likelihood = jnp.sum(logsumexp(jax.nn.log_softmax(alphas)[:, None] + densities, axis=0))

    degrees = d + m + 1
    half_logdets = 0.5 * jnp.linalg.slogdet(precisions)[1]
    traces = jnp.trace(precisions, axis1=1, axis2=2)
    constant = degrees * d * jnp.log(gamma / jnp.sqrt(2.0)) - multigammaln(0.5 * degrees, d)
    return {"return": likelihood + jnp.sum(constant + m * half_logdets - 0.5 * gamma**2 * traces)}
