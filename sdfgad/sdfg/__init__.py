"""SDFG: conversion of programs into the dataflow graphs that DaCe compiles, and back; one state for each statement."""
