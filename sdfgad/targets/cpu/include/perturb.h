// Where optimised code may round otherwise than plain code: sums of loops that become vectors, whose terms are added in
// another order, and elementary functions, which come for whole vectors with other roundings. Nothing else differs.
//
// Plain code (SDFGAD_PLAIN) can perturb these two by as much as that may be, with random signs. How far its results move
// shows how far those of optimised code may be off.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include "vector_functions.h"

namespace sdfgad {

#ifndef SDFGAD_PLAIN

namespace math = ::std;
#define SDFGAD_SUM(type, sum, ...) type sum = __VA_ARGS__
#define SDFGAD_ADD(sum, ...) sum = (sum + __VA_ARGS__)
#define SDFGAD_TOTAL(sum) (sum)

#else

// 0: nothing is perturbed.
[[gnu::visibility("hidden")]] inline uint64_t perturbation = 0;
extern "C" [[gnu::weak]] void sdfgad_perturb(uint64_t seed) { perturbation = seed; }

// 1 or -1, by splitmix64.
inline int random_sign() {
    static thread_local uint64_t state = 0;
    uint64_t x = perturbation ^ (state += 0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return (x >> 63) ? 1 : -1;
}

template <typename T> inline T perturbed(T value, T bound) {
    if constexpr (std::is_floating_point_v<T>) {
        if (perturbation != 0 && std::isfinite(value)) return value + T(random_sign()) * bound;
    }
    return value;
}

// The terms of a sum. Two orders of n terms differ by at most n * eps * (sum of their magnitudes) to first order (Higham,
// Accuracy and Stability of Numerical Algorithms, 2002, section 4.2).
template <typename T> struct Terms {
    T size;
    int64_t count = 1;
    explicit Terms(T first) : size(first < T(0) ? -first : first) {}
    T term(T value) {
        size += value < T(0) ? -value : value;
        ++count;
        return value;
    }
    T total(T sum) const {
        if constexpr (!std::is_floating_point_v<T>) return sum;
        return perturbed(sum, T(count) * std::numeric_limits<T>::epsilon() * size);
    }
};
#define SDFGAD_SUM(type, sum, ...) \
    type sum = __VA_ARGS__;        \
    sdfgad::Terms<type> sum##terms_(sum)
#define SDFGAD_ADD(sum, ...) sum = (sum + sum##terms_.term(__VA_ARGS__))
#define SDFGAD_TOTAL(sum) sum##terms_.total(sum)

namespace math {

// glibc's functions for vectors are within 4 ulp, those for single numbers within 1.
template <typename T> inline T rounded(T value) {
    return perturbed(value, 5 * std::numeric_limits<T>::epsilon() * (value < T(0) ? -value : value));
}
#define SDFGAD_ONE(name) \
    template <typename T> inline auto name(T a) { return rounded(::std::name(a)); }
#define SDFGAD_TWO(name) \
    template <typename T, typename U> inline auto name(T a, U b) { return rounded(::std::name(a, b)); }
SDFGAD_FUNCTIONS_2_22(SDFGAD_ONE, SDFGAD_TWO)
SDFGAD_FUNCTIONS_2_35(SDFGAD_ONE, SDFGAD_TWO)
#undef SDFGAD_ONE
#undef SDFGAD_TWO
}  // namespace math

#endif
}  // namespace sdfgad
