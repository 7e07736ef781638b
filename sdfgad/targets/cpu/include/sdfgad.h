// Scalar functions for generated code, where C++ and NumPy differ.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <type_traits>
#include "complex_number.h"
#include "error_function.h"
#include "incomplete.h"
#include "integrals.h"
#include "inverse_incomplete.h"
#include "perturb.h"
#include "special.h"
#include "vector_math.h"
#ifndef SDFGAD_REAL_ONLY
#include "bessel.h"
#include "hypergeometric.h"
#include "lambert.h"
#include "scaled_bessel.h"
#endif

namespace sdfgad {

template <typename T> inline T radians(T a) { return a * (T(pi) / T(180)); }
template <typename T> inline T degrees(T a) { return a * (T(180) / T(pi)); }

template <typename T> inline T power(T base, T exponent) {
    if constexpr (std::is_integral_v<T>) {
        T result = 1;
        for (; exponent > 0; exponent >>= 1, base *= base)
            if (exponent & 1) result *= base;
        return result;
    } else {
        return math::pow(base, exponent);
    }
}

// Integers that wrap around, as NumPy's do: in C++ signed ones must not overflow.
template <typename T>
using Wrapping = std::conditional_t<(sizeof(T) < sizeof(unsigned)), unsigned, std::make_unsigned_t<T>>;
template <typename T> inline T plus(T a, T b) { return T(Wrapping<T>(a) + Wrapping<T>(b)); }
template <typename T> inline T minus(T a, T b) { return T(Wrapping<T>(a) - Wrapping<T>(b)); }
template <typename T> inline T times(T a, T b) { return T(Wrapping<T>(a) * Wrapping<T>(b)); }
template <typename T> inline T squared(T a) { return times(a, a); }
template <typename T> inline T negated(T a) { return T(std::make_unsigned_t<T>(0) - std::make_unsigned_t<T>(a)); }

// Python's floor division and remainder: the remainder has the divisor's sign; an integer divided by 0 is 0.
template <typename T> inline T floor_divide(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
        if (b == 0) return 0;
        if (std::is_signed_v<T> && b == T(-1)) return negated(a);
        T q = a / b;
        return (a % b != 0 && ((a < 0) != (b < 0))) ? q - 1 : q;
    } else {
        if (b == 0) return a / b;
        T m = std::fmod(a, b), q = (a - m) / b;
        if (m != 0 && ((b < 0) != (m < 0))) q -= 1;
        if (q == 0) return std::copysign(T(0), a / b);
        T f = std::floor(q);
        return q - f > T(0.5) ? f + 1 : f;
    }
}

template <typename T> inline T remainder(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
        if (b == 0 || (std::is_signed_v<T> && b == T(-1))) return 0;
        T m = a % b;
        return (m != 0 && ((m < 0) != (b < 0))) ? m + b : m;
    } else {
        T m = std::fmod(a, b);
        if (m != 0) return ((b < 0) != (m < 0)) ? m + b : m;
        return std::copysign(T(0), b);
    }
}

// An integer as a double, rounded once, in steps that AVX2 has for vectors: without AVX-512 there is no instruction for it.
// The halves are put into the mantissas of 2^52 and 2^84, whose sum is taken off again.
inline double number(int64_t a) {
#if defined(__AVX2__) && !defined(__AVX512DQ__)
    const double low = std::bit_cast<double>((uint64_t(a) & 0xffffffff) | 0x4330000000000000);
    const double high = std::bit_cast<double>((uint64_t(a) >> 32) ^ 0x4530000080000000);
    return (high - (0x1p84 + 0x1p63 + 0x1p52)) + low;
#else
    return double(a);
#endif
}

// The remainder with the dividend's sign; an integer's by 0 is 0.
template <typename T> inline T fmod(T a, T b) {
    if constexpr (std::is_integral_v<T>) return b == 0 || (std::is_signed_v<T> && b == T(-1)) ? T(0) : T(a % b);
    else return std::fmod(a, b);
}

// The part after the point, with the sign of the whole.
template <typename T> inline T fractional(T a) {
    return std::copysign(std::isinf(a) ? T(0) : a - std::trunc(a), a);
}

template <typename T> inline T reciprocal(T a) {
    if constexpr (std::is_integral_v<T>) return a != 0 ? T(1 / a) : sizeof(T) < 4 ? T(0) : std::numeric_limits<T>::min();
    else return 1 / a;
}

template <typename T, typename N> inline T ldexp(T a, N n) {
    return std::ldexp(a, n > 100000 ? 100000 : n < -100000 ? -100000 : int(n));
}

template <typename T> inline T absolute(T a) {
    if constexpr (std::is_floating_point_v<T>) return std::fabs(a);
    else if constexpr (std::is_signed_v<T>) return a < 0 ? negated(a) : a;
    else return a;
}

// Integers are whole already.
template <typename T> inline T floor(T a) {
    if constexpr (std::is_integral_v<T>) return a;
    else return std::floor(a);
}
template <typename T> inline T ceil(T a) {
    if constexpr (std::is_integral_v<T>) return a;
    else return std::ceil(a);
}
template <typename T> inline T trunc(T a) {
    if constexpr (std::is_integral_v<T>) return a;
    else return std::trunc(a);
}

// Both arguments have been computed.
template <typename T> inline T select(bool condition, T a, T b) {
    if constexpr (std::is_same_v<T, bool>) return (condition & a) | (!condition & b);
    else if constexpr (std::is_floating_point_v<T>) return chosen(condition, a, b);
    else if constexpr (std::is_arithmetic_v<T>) return condition ? a : b;
    else return {chosen(condition, a.re, b.re), chosen(condition, a.im, b.im)};
}
inline bool both(bool a, bool b) { return a & b; }
inline bool either(bool a, bool b) { return a | b; }

// An element of an array of booleans, read and written as what it is in memory: of what is chosen by a boolean that comes
// right from memory, GCC 12 makes no vectors.
inline bool is_set(const bool& element) { return reinterpret_cast<const uint8_t&>(element) != 0; }
inline uint8_t& byte(bool& element) { return reinterpret_cast<uint8_t&>(element); }

// The first element from `at` on that is set; `end` if there is none before. Eight at a time, but for one that is set
// where the last one was: the processor guesses it.
inline int64_t next_set(const bool* mask, int64_t at, int64_t end) {
    const uint8_t* bytes = reinterpret_cast<const uint8_t*>(mask);
    if (at < end && bytes[at]) return at;
    for (uint64_t word; at + 8 <= end; at += 8) {
        std::memcpy(&word, bytes + at, 8);
        if (word != 0) break;
    }
    while (at < end && !bytes[at]) ++at;
    return at < end ? at : end;
}

// The last element down from `at` that is set; one less than `start` if there is none after that.
inline int64_t previous_set(const bool* mask, int64_t at, int64_t start) {
    const uint8_t* bytes = reinterpret_cast<const uint8_t*>(mask);
    if (at >= start && bytes[at]) return at;
    for (uint64_t word; at - 7 >= start; at -= 8) {
        std::memcpy(&word, bytes + at - 7, 8);
        if (word != 0) break;
    }
    while (at >= start && !bytes[at]) --at;
    return at >= start ? at : start - 1;
}

// The distance to the next number away from 0.
template <typename T> inline T spacing(T a) {
    constexpr T inf = std::numeric_limits<T>::infinity();
    if (a == 0) return std::numeric_limits<T>::denorm_min();
    return std::isinf(a) ? std::numeric_limits<T>::quiet_NaN() : std::nextafter(a, std::copysign(inf, a)) - a;
}

// Shifts by the width or more, or by a negative count, move all bits out.
template <typename T> inline T left_shift(T a, T n) {
    return std::make_unsigned_t<T>(n) < sizeof(T) * 8 ? T(std::make_unsigned_t<T>(a) << n) : T(0);
}
template <typename T> inline T right_shift(T a, T n) {
    return std::make_unsigned_t<T>(n) < sizeof(T) * 8 ? T(a >> n) : a < 0 ? T(-1) : T(0);
}

// NaN stays NaN; the sign of 0 is 0.
template <typename T> inline T sign(T a) {
    if constexpr (std::is_floating_point_v<T>) return chosen(a > 0, T(1), chosen(a < 0, T(-1), chosen(a == 0, T(0), a)));
    else return a > 0 ? T(1) : a < 0 ? T(-1) : T(0);
}

template <typename T> inline T maximum(T a, T b) { return (a >= b || a != a) ? a : b; }
template <typename T> inline T minimum(T a, T b) { return (a <= b || a != a) ? a : b; }
// In C++ `&`, `|` and `^` of two bools are an int.
template <typename T, typename I, typename = std::enable_if_t<std::is_same_v<T, bool> && std::is_same_v<I, int>>>
inline bool maximum(T a, I b) { return a || b != 0; }
template <typename T, typename I, typename = std::enable_if_t<std::is_same_v<T, bool> && std::is_same_v<I, int>>>
inline bool minimum(T a, I b) { return a && b != 0; }

// NaN only where both are.
template <typename T> inline T fmax(T a, T b) { return (a >= b || b != b) ? a : b; }
template <typename T> inline T fmin(T a, T b) { return (a <= b || b != b) ? a : b; }

// Python's max and min: the first unless the second is beyond it.
template <typename T> inline T later_if_greater(T a, T b) { return b > a ? b : a; }
template <typename T> inline T later_if_less(T a, T b) { return b < a ? b : a; }

template <typename T> inline T heaviside(T a, T at_zero) {
    return a != a ? a : a < 0 ? T(0) : a > 0 ? T(1) : at_zero;
}

template <typename T> inline T logaddexp(T a, T b) {
    if (a == b) return a + math::log(T(2));
    T d = a - b;
    return d > 0 ? a + math::log1p(math::exp(-d)) : d <= 0 ? b + math::log1p(math::exp(d)) : d;
}

template <typename T> inline T logaddexp2(T a, T b) {
    if (a == b) return a + 1;
    T d = a - b, per_log = T(1.4426950408889634074);
    return d > 0    ? a + per_log * math::log1p(math::exp2(-d))
           : d <= 0 ? b + per_log * math::log1p(math::exp2(d))
                    : d;
}

template <typename T> inline T invert(T a) {
    if constexpr (std::is_same_v<T, bool>) return !a;
    else return ~a;
}

// An index as Python reads it, kept inside the array: out of range it is reported by a check, never followed.
inline int64_t wrap(int64_t index, int64_t extent) {
    int64_t i = index < 0 ? index + extent : index;
    return i < 0 ? 0 : i >= extent ? extent - 1 : i;
}

}  // namespace sdfgad
