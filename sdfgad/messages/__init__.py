"""Messages between processes: what compiled programs call to communicate by mpi4py, and the transposes of that.

| module | what it has |
|---|---|
| `host` | the function that compiled code calls, and the table of a process's messages |
| `point_to_point` | sends, receives, requests |
| `collective` | sums, broadcasts, gathers |
| `recording` | communication once, for several runs of one call |
"""
