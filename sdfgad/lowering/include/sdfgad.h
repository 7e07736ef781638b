// Scalar functions for generated code, where C++ and NumPy differ.
#pragma once
#include <cmath>
#include <cstdint>
#include <type_traits>

namespace sdfgad {

constexpr double radians_per_degree = 0.017453292519943295769;
constexpr double degrees_per_radian = 57.295779513082320877;

template <typename T> inline T power(T base, T exponent) {
    if constexpr (std::is_integral_v<T>) {
        T result = 1;
        for (; exponent > 0; exponent >>= 1, base *= base)
            if (exponent & 1) result *= base;
        return result;
    } else {
        return std::pow(base, exponent);
    }
}

// Python's floor division and remainder: the remainder has the divisor's sign; an integer divided by 0 is 0.
template <typename T> inline T floor_divide(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
        if (b == 0) return 0;
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
        if (b == 0) return 0;
        T m = a % b;
        return (m != 0 && ((m < 0) != (b < 0))) ? m + b : m;
    } else {
        T m = std::fmod(a, b);
        if (m != 0) return ((b < 0) != (m < 0)) ? m + b : m;
        return std::copysign(T(0), b);
    }
}

template <typename T> inline T absolute(T a) {
    if constexpr (std::is_floating_point_v<T>) return std::fabs(a);
    else return a < 0 ? -a : a;
}

// NaN stays NaN; the sign of 0 is 0.
template <typename T> inline T sign(T a) { return a > 0 ? T(1) : a < 0 ? T(-1) : a == 0 ? T(0) : a; }

template <typename T> inline T maximum(T a, T b) { return (a >= b || a != a) ? a : b; }
template <typename T> inline T minimum(T a, T b) { return (a <= b || a != a) ? a : b; }

template <typename T> inline T heaviside(T a, T at_zero) {
    return a != a ? a : a < 0 ? T(0) : a > 0 ? T(1) : at_zero;
}

template <typename T> inline T logaddexp(T a, T b) {
    if (a == b) return a + std::log(T(2));
    T d = a - b;
    return d > 0 ? a + std::log1p(std::exp(-d)) : d <= 0 ? b + std::log1p(std::exp(d)) : d;
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
