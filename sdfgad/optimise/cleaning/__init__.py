"""Cleaning: copies, views, checks and statements that nothing needs are removed, and index arithmetic is simplified."""
