"""Targets: code for the machines that programs run on."""
