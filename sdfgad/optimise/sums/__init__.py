"""Sums of products: their normal form, and the order in which they are multiplied and summed."""
