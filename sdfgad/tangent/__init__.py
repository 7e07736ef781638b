"""Forward mode: programs that carry tangents, the derivatives of values in a direction, beside the values."""
