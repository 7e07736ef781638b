"""Schedule: how statements will run, as far as optimiser, memory accounts and code generators must agree on it."""
