// Reductions in a block, in the dialect of `dialect.h` and `emulated.h`, one of which includes this.
#pragma once

namespace sdfgad {

// The total of what the threads of a block, or of each group of them, have, the same for each of the group: a tree, whose
// shape depends on their number. Between two totals of a block there is a barrier.
template <int threads, int group = threads, typename T, typename Combine>
SDFGAD_FUNCTION T block_total(T value, Combine combine) {
    SDFGAD_SHARED(T, totals, threads);
    store(totals, lane(), value);
    barrier();
    for (int half = group / 2; half > 0; half /= 2) {
        if (lane() % group < half) store(totals, lane(), combine(load(totals, lane()), load(totals, lane() + half)));
        barrier();
    }
    return load(totals, lane() - lane() % group);
}

}  // namespace sdfgad
