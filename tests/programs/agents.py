"""An agent-based model with lists: households trade, save and are taxed; the result is a measure of inequality."""

from types import SimpleNamespace

import numpy as np

PERIODS = 6


class Household:
    def __init__(self, wealth, skill, patience):
        self.wealth = wealth
        self.skill = skill
        self.patience = patience
        self.record = []

    def earn(self, wage):
        income = wage * self.skill / (1.0 + np.exp(-self.wealth))
        self.wealth = self.wealth + income
        return income

    def consume(self, price):
        share = 1.0 / (1.0 + self.patience)
        spent = share * self.wealth
        self.wealth = self.wealth - spent
        self.record.append(np.log(1.0 + spent / price))
        return spent


class Government:
    def __init__(self, rate, allowance):
        self.rate, self.allowance = rate, allowance
        self.budget = 0.0

    def tax(self, household):
        base = household.wealth - self.allowance
        due = self.rate * np.where(base > 0.0, base, 0.0)
        household.wealth = household.wealth - due
        self.budget += due

    def redistribute(self, households):
        each = self.budget / len(households)
        for household in households:
            household.wealth = household.wealth + each
        self.budget = 0.0


class Market:
    def __init__(self, supply):
        self.supply = supply
        self.price = 1.0
        self.prices = []

    def clear(self, demand):
        self.price = 0.5 * self.price + 0.5 * demand / self.supply
        self.prices.append(self.price)


def inequality(values):
    values = np.array(values)
    differences = np.sqrt((values[:, None] - values[None, :]) ** 2 + 1e-6)
    return np.sum(differences) / (2.0 * len(values) * np.sum(values))


def program(population, policy, supply, wage):
    households = [Household(w, s, p) for w, s, p in zip(*(population[k] for k in ("wealth", "skill", "patience")))]
    government = Government(policy.rate, policy.allowance)
    market = Market(supply)
    for period in range(PERIODS):
        incomes = [household.earn(wage * (1.0 + policy.growth) ** period) for household in households]
        market.clear(sum(household.consume(market.price) for household in households))
        for household, income in zip(households, incomes):
            if income > 0.0:
                government.tax(household)
        government.redistribute(households)
    welfare = sum(np.mean(np.stack(household.record)) for household in households)
    return (
        welfare
        - policy.weight * inequality([household.wealth for household in households])
        + np.sum(np.diff(np.array(market.prices)) ** 2)
    )


def arguments(rng):
    n = 7
    population = {
        "wealth": 1.0 + rng.random(n),
        "skill": 0.5 + rng.random(n),
        "patience": 1.0 + rng.random(n),
    }
    return population, SimpleNamespace(rate=0.3, allowance=0.4, growth=0.02, weight=2.0), 5.0, 1.2
