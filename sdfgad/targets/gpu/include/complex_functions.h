// Elementary functions of complex numbers in double precision, which CUDA does not have.
//
// Inverse functions by the formulas of W. Kahan, "Branch cuts for complex elementary functions" (1987), which cancel
// nowhere and have the branch cuts of C. Of zeros and infinities, not all have the signs that C asks for.
#pragma once
#include <cmath>
#include <limits>

namespace sdfgad::complex_functions {

struct Number {
    double re, im;
};

inline Number conjugate(Number z) { return {z.re, -z.im}; }
// i times z, and z / i.
inline Number turned(Number z) { return {-z.im, z.re}; }
inline Number turned_back(Number z) { return {z.im, -z.re}; }

// exp(z) times `scale`: by halves, where the exponential is out of range and the result need not be.
inline Number scaled_exp(Number z, double scale) {
    const bool is_far = std::fabs(z.re) > 700;
    const double part = std::exp(is_far ? 0.5 * z.re : z.re), rest = is_far ? part * scale : scale;
    return {std::cos(z.im) * part * rest, std::sin(z.im) * part * rest};
}
inline Number exp(Number z) {
    if (z.im == 0) return {std::exp(z.re), z.im};
    return z.re == -std::numeric_limits<double>::infinity() ? Number{0, 0} : scaled_exp(z, 1);
}

// log |z|: where that is about 1, by the excess of the square, the parts of which are exact products.
inline double log_absolute(Number z) {
    const double x = std::fmax(std::fabs(z.re), std::fabs(z.im)), y = std::fmin(std::fabs(z.re), std::fabs(z.im));
    if (x > 1e300) return std::log(std::hypot(0.5 * z.re, 0.5 * z.im)) + std::log(2.0);
    if (!(x > 0.5 && x < 2) || z.re != z.re || z.im != z.im) return std::log(std::hypot(z.re, z.im));
    const double xx = x * x, yy = y * y, rest = std::fma(x, x, -xx) + std::fma(y, y, -yy);
    const double excess = xx - 1, sum = excess + yy, part = sum - excess;
    return 0.5 * std::log1p(sum + ((excess - (sum - part)) + (yy - part) + rest));
}
inline Number log(Number z) { return {log_absolute(z), std::atan2(z.im, z.re)}; }
inline Number log10(Number z) {
    const Number l = log(z);
    return {l.re / std::log(10.0), l.im / std::log(10.0)};
}

inline Number sqrt(Number z) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (z.re == 0 && z.im == 0) return {0, z.im};
    if (std::isinf(z.im)) return {infinity, z.im};
    double x = std::fabs(z.re), y = std::fabs(z.im), back = 1;
    if (x > 1e300 || y > 1e300) {
        x *= 0.0625;
        y *= 0.0625;
        back = 4;
    } else if (x < 1e-290 && y < 1e-290) {
        x *= 0x1p108;
        y *= 0x1p108;
        back = 0x1p-54;
    }
    const double root = std::sqrt(0.5 * (x + std::hypot(x, y)));
    const double larger = root * back, less = std::isinf(x) ? (y == y ? 0 : y) : 0.5 * y / root * back;
    if (z.re < 0) return {less, std::copysign(larger, z.im)};
    return {larger, std::copysign(less, z.im)};
}

inline Number sinh(Number z) {
    if (z.im == 0) return {std::sinh(z.re), z.im};
    if (z.re == 0) return {z.re * std::cos(z.im), std::sin(z.im)};
    if (std::fabs(z.re) <= 700) return {std::sinh(z.re) * std::cos(z.im), std::cosh(z.re) * std::sin(z.im)};
    const Number e = scaled_exp({std::fabs(z.re), z.im}, 0.5);
    return {std::copysign(1.0, z.re) * e.re, e.im};
}
inline Number cosh(Number z) {
    if (z.im == 0) return {std::cosh(z.re), std::copysign(0.0, z.re) * z.im};
    if (std::fabs(z.re) <= 700) return {std::cosh(z.re) * std::cos(z.im), std::sinh(z.re) * std::sin(z.im)};
    const Number e = scaled_exp({std::fabs(z.re), z.im}, 0.5);
    return {e.re, std::copysign(1.0, z.re) * e.im};
}
inline Number tanh(Number z) {
    if (z.im == 0) return {std::tanh(z.re), z.im};
    if (std::fabs(z.re) > 20) {
        return {std::copysign(1.0, z.re), 4 * std::exp(-2 * std::fabs(z.re)) * (std::sin(z.im) * std::cos(z.im))};
    }
    const double t = std::tan(z.im), s = std::sinh(z.re), root = std::sqrt(1 + s * s);
    if (std::isinf(t)) return {root / s, 1 / t};
    const double beta = 1 + t * t, below = 1 + beta * s * s;
    return {beta * root * s / below, t / below};
}
inline Number sin(Number z) { return turned_back(sinh(turned(z))); }
inline Number cos(Number z) { return cosh(turned(z)); }
inline Number tan(Number z) { return turned_back(tanh(turned(z))); }

// The square roots of 1 - z and 1 + z.
struct Roots {
    Number minus, plus;
};
inline Roots roots_of(Number z) { return {sqrt({1 - z.re, -z.im}), sqrt({1 + z.re, z.im})}; }

inline Number asin(Number z) {
    const Roots r = roots_of(z);
    const double re = r.minus.re * r.plus.re - r.minus.im * r.plus.im;
    return {std::atan2(z.re, re), std::asinh(r.minus.re * r.plus.im - r.minus.im * r.plus.re)};
}
inline Number acos(Number z) {
    const Roots r = roots_of(z);
    const double im = r.plus.re * r.minus.im - r.plus.im * r.minus.re;
    return {2 * std::atan2(r.minus.re, r.plus.re), std::asinh(im)};
}
inline Number acosh(Number z) {
    const Number minus = sqrt({z.re - 1, z.im}), plus = sqrt({z.re + 1, z.im});
    return {std::asinh(minus.re * plus.re + minus.im * plus.im), 2 * std::atan2(minus.im, plus.re)};
}
inline Number atanh(Number z) {
    constexpr double quarter_turn = 1.57079632679489661923, far = 1e150;
    // Of a real part >= 0; the function is odd.
    const double side = std::copysign(1.0, z.re), x = std::fabs(z.re), size = std::fabs(z.im), square = size * size;
    double re, im;
    if (x > far || size > far) {
        const double r = std::hypot(x, size);
        re = std::isinf(r) ? 0 : x / r / r;
        im = quarter_turn;
    } else if (x == 1) {
        re = std::log(std::sqrt(std::sqrt(4 + square)) / std::sqrt(size));
        im = size == 0 ? 0 : 0.5 * (quarter_turn + std::atan(0.5 * size));
    } else {
        re = 0.25 * std::log1p(4 * x / ((1 - x) * (1 - x) + square));
        im = 0.5 * std::atan2(2 * size, (1 - x) * (1 + x) - square);
    }
    return {side * re, std::copysign(im, z.im)};
}
inline Number asinh(Number z) { return turned_back(asin(turned(z))); }
inline Number atan(Number z) { return turned_back(atanh(turned(z))); }

inline Number pow(Number base, Number exponent) {
    const Number l = log(base);
    return exp({exponent.re * l.re - exponent.im * l.im, exponent.re * l.im + exponent.im * l.re});
}

}  // namespace sdfgad::complex_functions
