// Bessel functions of integer orders with the signs of glibc's: CUDA's give NaN for negative orders.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include "cylinder_functions.h"

namespace sdfgad::cylinder {

// From orders 0 and 1 up (NIST Digital Library of Mathematical Functions, 10.6.1).
inline double upward(double x, int order, double zeroth, double first) {
    if (order == 0) return zeroth;
    for (int k = 1; k < order; ++k) {
        const double next = 2.0 * k / x * first - zeroth;
        zeroth = first;
        first = next;
    }
    return first;
}

inline double integer_first_kind(int order, double x) {
    const double size = std::fabs(x);
    const int n = order < 0 ? -order : order;
    const double sign = n % 2 == 1 && (order < 0) != (x < 0) ? -1 : 1;
    if (x != x) return x;
    if (std::isinf(x)) return 0;
    if (size > n || n < 2) return sign * upward(size, n, ::j0(size), ::j1(size));
    return sign * (size == 0 ? 0 : oscillating(size, n).first);
}

inline double integer_second_kind(int order, double x) {
    const int n = order < 0 ? -order : order;
    const double sign = order < 0 && n % 2 == 1 ? -1 : 1;
    if (!(x >= 0)) return NAN;
    if (x == 0) return sign * -std::numeric_limits<double>::infinity();
    return std::isinf(x) ? 0 : sign * raised({::y0(x), ::y1(x)}, x, 0, n);
}

}  // namespace sdfgad::cylinder

// The names of the C library, under which special functions call them; `kernel.h` takes them away again.
inline double sdfgad_jn(int order, double x) { return sdfgad::cylinder::integer_first_kind(order, x); }
inline double sdfgad_yn(int order, double x) { return sdfgad::cylinder::integer_second_kind(order, x); }
#define jn(order, x) sdfgad_jn(order, x)
#define yn(order, x) sdfgad_yn(order, x)
