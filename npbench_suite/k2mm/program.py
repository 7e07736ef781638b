"""Two matrix products: D becomes alpha A B C + beta D."""


def initialize(NI, NJ, NK, NL, rng):
    return {
        "alpha": 1.5,
        "beta": 1.2,
        "A": rng.uniform(-1, 1, (NI, NK)),
        "B": rng.uniform(-1, 1, (NK, NJ)),
        "C": rng.uniform(-1, 1, (NJ, NL)),
        "D": rng.uniform(-1, 1, (NI, NL)),
    }


def k2mm(alpha, beta, A, B, C, D):
    D[:] = alpha * A @ B @ C + beta * D
