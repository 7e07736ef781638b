"""Loop schedules: fusion, interchange, tiling, strip-mining, unroll-and-jam, and what leaves or changes in loops."""
