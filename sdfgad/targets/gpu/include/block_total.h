// Reductions in a block, in the dialect of `dialect.h` and `emulated.h`, one of which includes this.
#pragma once

namespace sdfgad {

// The total of what the threads of a block have, the same for each of them: a tree, whose shape depends on their number.
template <int threads, typename T, typename Combine> SDFGAD_FUNCTION T block_total(T value, Combine combine) {
    SDFGAD_SHARED(T, totals, threads);
    store(totals, lane(), value);
    barrier();
    for (int half = threads / 2; half > 0; half /= 2) {
        if (lane() < half) store(totals, lane(), combine(load(totals, lane()), load(totals, lane() + half)));
        barrier();
    }
    return load(totals, 0);
}

}  // namespace sdfgad
