"""Three matrix products: (A B) (C D)."""


def initialize(NI, NJ, NK, NL, NM, rng):
    return {
        "A": rng.uniform(-1, 1, (NI, NK)),
        "B": rng.uniform(-1, 1, (NK, NJ)),
        "C": rng.uniform(-1, 1, (NJ, NM)),
        "D": rng.uniform(-1, 1, (NM, NL)),
    }


def k3mm(A, B, C, D):
    return A @ B @ C @ D
