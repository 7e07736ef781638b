"""Runtime: compiles SDFGs to shared libraries, caches these in the user's cache folder, and calls them."""
