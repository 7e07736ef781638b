"""GPU runtime: the device through the CUDA driver API, and its arrays, those of other libraries too."""
