// Reductions in a block, in the dialect of `dialect.h` and `emulated.h`, one of which includes this.
#pragma once

namespace sdfgad {

// The total of what the threads of a block, or of each group of them, have, the same for each of the group: trees in warps,
// whose totals are added up in order. All threads of the block call it, and wait for each other before they do so again.
template <int threads, int group = threads, typename T, typename Combine>
SDFGAD_FUNCTION T block_total(T value, Combine combine) {
    constexpr int warp = 32;
    constexpr int near = group < warp ? group : warp;
    for (int half = near / 2; half > 0; half /= 2) value = combine(value, from_lane(value, lane() + half));
    const int first = int(lane()) - int(lane()) % group;
    if constexpr (group <= warp) return from_lane(value, first);
    SDFGAD_SHARED(T, totals, threads / warp);
    if (lane() % warp == 0) store(totals, lane() / warp, value);
    barrier();
    T total = load(totals, first / warp);
    for (int other = 1; other < group / warp; other++) total = combine(total, load(totals, first / warp + other));
    return total;
}

}  // namespace sdfgad
