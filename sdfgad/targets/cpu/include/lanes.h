// Vectors of the machine's width, each lane of which has another line of an array: what one line needs is written once.
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>

namespace sdfgad {
namespace lanes {

#if defined(__AVX512F__)
constexpr int bytes = 64;
#elif defined(__AVX__)
constexpr int bytes = 32;
#else
constexpr int bytes = 16;
#endif

template <typename R> constexpr int count = bytes / int(sizeof(R));
template <typename R> struct Of {
    using Integer = std::conditional_t<sizeof(R) == 8, int64_t, int32_t>;
    typedef R Vector __attribute__((vector_size(bytes)));
    typedef Integer Index __attribute__((vector_size(bytes)));
    typedef R Anywhere __attribute__((vector_size(bytes), aligned(alignof(R)), may_alias));
};
template <typename R> using Vector = typename Of<R>::Vector;

template <typename R> inline Vector<R> load(const R* from) {
    return *reinterpret_cast<const typename Of<R>::Anywhere*>(from);
}
template <typename R> inline void store(R* to, Vector<R> value) {
    *reinterpret_cast<typename Of<R>::Anywhere*>(to) = value;
}

// Shuffle: lane i of the result is element place(i) of both vectors, one after the other.
template <typename R, auto place> inline Vector<R> shuffle(Vector<R> a, Vector<R> b) {
    return [=]<size_t... i>(std::index_sequence<i...>) {
#if defined(__clang__)
        return __builtin_shufflevector(a, b, place(int(i))...);
#else
        return __builtin_shuffle(a, b, typename Of<R>::Index{place(int(i))...});
#endif
    }(std::make_index_sequence<count<R>>());
}

// The first (second) values of the pairs that two vectors hold.
template <typename R> inline Vector<R> evens(Vector<R> a, Vector<R> b) {
    return shuffle<R, [](int i) { return 2 * i; }>(a, b);
}
template <typename R> inline Vector<R> odds(Vector<R> a, Vector<R> b) {
    return shuffle<R, [](int i) { return 2 * i + 1; }>(a, b);
}

// The first (second) half of the pairs (a[i], b[i]).
template <typename R> inline Vector<R> lower_pairs(Vector<R> a, Vector<R> b) {
    return shuffle<R, [](int i) { return i / 2 + i % 2 * count<R>; }>(a, b);
}
template <typename R> inline Vector<R> upper_pairs(Vector<R> a, Vector<R> b) {
    return shuffle<R, [](int i) { return (i + count<R>) / 2 + i % 2 * count<R>; }>(a, b);
}

// Transposition of a square matrix, by blocks of 1, 2, 4, ... rows.
template <typename R, int block = 1> inline void transpose(Vector<R> (&rows)[count<R>]) {
    if constexpr (block < count<R>) {
        for (int i = 0; i < count<R>; i++) {
            if (i & block) continue;
            const Vector<R> a = rows[i], b = rows[i | block];
            rows[i] = shuffle<R, [](int l) { return l & block ? count<R> + l - block : l; }>(a, b);
            rows[i | block] = shuffle<R, [](int l) { return l & block ? count<R> + l : l + block; }>(a, b);
        }
        transpose<R, 2 * block>(rows);
    }
}

}  // namespace lanes
}  // namespace sdfgad
