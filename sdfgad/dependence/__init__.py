"""Data dependence analysis, which every pass asks: which accesses meet, and what may therefore change places.

| question | answered by |
|---|---|
| what does a statement access? | `uses.uses_of`, `uses.conflict` |
| may two accesses meet at all? | `aliasing.are_disjoint` |
| may they meet in different trips of a loop? | `aliasing.is_same_trip`, `order.are_independent`, `order.Trips.meet` |
| how many trips apart can they meet? | `distance.dependence_distance` |
| may two statements change places, or run trip by trip? | `order.commute`, `order.run_in_step` |
| may the points of one statement run in any order? | `hazards.is_hazard` |
| does an index select each element once? | `hazards.is_once`, `hazards.is_injective` |
| which elements does a statement write, and is that all of them? | `regions` |
| is a value carried from one run of a block to the next? | `private.carries_no_value` |

Answers are one-sided: yes is certain. Affine shortcuts come first (`intervals`, `mixed_radix`), then Presburger sets
(`exact`, by isl), which are exact for indices that are linear in counters, quotients and remainders included.
"""
