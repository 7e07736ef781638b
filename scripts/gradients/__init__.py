"""The gradient benchmark: what each framework runs, in processes of their own, timed in turn; see npbench_gradients."""
