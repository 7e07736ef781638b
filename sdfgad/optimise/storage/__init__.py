"""Storage: layout, contraction, and sharing of the memory of temporaries."""
