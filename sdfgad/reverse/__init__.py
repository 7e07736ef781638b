"""Reverse: the adjoint of every statement, and the forward values (residuals) that it needs."""
