"""Faults for the fuzzer to find; a worker calls one of these before it checks anything."""

import os
import time

import numpy as np

from scripts.fuzzing.check import Check
from sdfgad.parse.registry import FUNCTIONS
from sdfgad.rules import elementary
from sdfgad.rules.algebra import call, mul


def wrong_rule():
    """The derivative of the arctangent is a cosine."""
    elementary.ELEMENTARY["arctan"] = lambda t, y, a: (mul(t, call("cos", a)),)


def wrong_rule_and_value():
    """And what rounds towards zero rounds down."""
    wrong_rule()
    FUNCTIONS[np.fix] = FUNCTIONS[np.floor]


def crash():
    """A program that mentions the arctangent kills the process."""
    _at_arctan(os.abort)


def hang():
    """A program that mentions the arctangent never ends."""
    _at_arctan(lambda: time.sleep(1000))


def _at_arctan(action):
    prepare = Check.prepare

    def planted(self):
        if "arctan" in self.case.text:
            action()
        prepare(self)

    Check.prepare = planted
