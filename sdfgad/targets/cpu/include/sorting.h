// Sorting and searching as NumPy does them: NaN comes after everything else.
#pragma once
#include <algorithm>
#include <cstdint>

#include "arrays.h"

namespace sdfgad {
namespace sorting {

template <typename T> inline bool is_less(T a, T b) { return a < b || (b != b && a == a); }

// A value beside its place: to look values up through sorted places would miss the cache.
template <typename T> struct Entry {
    T value;
    int64_t place;
};

}  // namespace sorting

// The places of each row's values in ascending order; equal values keep their order.
template <typename T> inline int argsort(const T* in, int64_t* out, int64_t batch, int64_t n) {
    auto entries = array<sorting::Entry<T>>(n);
    // std::stable_sort copies half of the entries.
    memory::Foreign copies((n + 1) / 2 * sizeof(sorting::Entry<T>));
    for (int64_t row = 0; row < batch; row++, in += n, out += n) {
        for (int64_t i = 0; i < n; i++) entries[i] = {in[i], i};
        std::stable_sort(entries.get(), entries.get() + n, [](const auto& a, const auto& b) {
            return sorting::is_less(a.value, b.value);
        });
        for (int64_t i = 0; i < n; i++) out[i] = entries[i].place;
    }
    return 0;
}

// The places of true elements, in order; `count` of them, and 0 after them.
inline int nonzero(const bool* mask, int64_t* positions, int64_t* count, int64_t n) {
    int64_t found = 0;
    for (int64_t i = 0; i < n; i++) {
        // Written without a branch: what is no true element is written over.
        positions[found] = i;
        found += mask[i];
    }
    std::fill(positions + found, positions + n, 0);
    *count = found;
    return 0;
}

// Where each value goes in a sorted array: before equal ones, or after them if `right`.
template <typename T>
inline int searchsorted(const T* sorted, const T* values, int64_t* out, int64_t n, int64_t m, int64_t right) {
    for (int64_t i = 0; i < m; i++) {
        const T* place = right ? std::upper_bound(sorted, sorted + n, values[i], sorting::is_less<T>)
                               : std::lower_bound(sorted, sorted + n, values[i], sorting::is_less<T>);
        out[i] = place - sorted;
    }
    return 0;
}

}  // namespace sdfgad
