// Modified Bessel functions that are scaled by an exponential, and spherical Bessel functions, of real numbers. Formulas
// 10.x.y are those of the NIST Digital Library of Mathematical Functions.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include "bessel.h"

namespace sdfgad {

// Hankel's expansion (10.40.1, 10.40.2) without its leading factor, for large numbers; sign: 1 of K, -1 of I.
inline double hankel_sum(double x, double order, int sign) {
    double term = 1, sum = 1;
    for (int k = 1; k < 2 * x && !(std::fabs(term) < 1e-18 * std::fabs(sum)); ++k) {
        double odd = 2 * k - 1;
        term *= sign * (2 * order - odd) * (2 * order + odd) / (8 * x * k);
        sum += term;
    }
    return sum;
}

// Above this, Bessel functions without a scale may overflow or underflow.
constexpr double scaled_from = 500;

// K of an order >= 0, times exp(a).
inline double scaled_k(double x, double order) {
    if (!(x >= 0)) return std::numeric_limits<double>::quiet_NaN();
    if (x == 0 || std::isinf(x)) return x == 0 ? std::numeric_limits<double>::infinity() : 0;
    if (x <= scaled_from) return bessel_k(x, order) * math::exp(x);
    return std::sqrt(pi / (2 * x)) * hankel_sum(x, order, 1);
}

// The quotient of I of the next order and of this one: its continued fraction (10.33.1), by Lentz's method.
inline double ratio_of_i(double x, double order) {
    double h = 1e-300, c = h, d = 0;
    for (int k = 1; k < 10000000; ++k) {
        double b = 2 * (order + k) / x;
        d = 1 / (b + d);
        c = b + 1 / c;
        h *= c * d;
        if (std::fabs(c * d - 1) < 2e-16) break;
    }
    return h;
}

// I of an order >= 0, times exp(-|a|); by Wronski's determinant (10.28.2) where Hankel's expansion cancels.
inline double scaled_i(double a, double order) {
    double x = std::fabs(a), is_odd = std::fmod(order, 2);
    if (a < 0 && is_odd != 0 && is_odd != 1) return std::numeric_limits<double>::quiet_NaN();
    double sign = a < 0 && is_odd == 1 ? -1 : 1;
    if (std::isinf(x)) return sign * 0.0;
    if (!(x > scaled_from)) return x == x ? sign * std::cyl_bessel_i(order, x) * math::exp(-x) : a;
    if (order * order < x) return sign / std::sqrt(2 * pi * x) * hankel_sum(x, order, -1);
    return sign / (x * (scaled_k(x, order + 1) + ratio_of_i(x, order) * scaled_k(x, order)));
}
template <typename T> inline T bessel_ie(T a, T order) { return T(scaled_i(double(a), double(order))); }
template <typename T> inline T bessel_ke(T a, T order) { return T(scaled_k(double(a), double(order))); }

// Bessel functions J, I, and I times exp(-|a|), of an integer order n >= 1, over a^n; of small numbers by the power series
// (10.2.2, 10.25.2), whose sign is that of its terms.
inline double bessel_series(double x, int64_t order, int sign) {
    double term = 1, sum = 0;
    for (int64_t k = 1; k <= order; ++k) term /= 2.0 * double(k);
    for (int64_t k = 1; k < 14; ++k) {
        sum += term;
        term *= sign * x * x / (4.0 * double(k) * double(k + order));
    }
    return sum;
}
template <typename T> inline T bessel_j_quotient(T a, int64_t order) {
    double x(a);
    if (std::fabs(x) < 1) return T(bessel_series(x, order, -1));
    return T(bessel_j(x, order) / std::pow(x, double(order)));
}
template <typename T> inline T bessel_i_quotient(T a, int64_t order) {
    double x(a);
    if (std::fabs(x) < 1) return T(bessel_series(x, order, 1));
    return T((order == 1 ? i1(x) : bessel_i(x, double(order))) / std::pow(x, double(order)));
}
template <typename T> inline T bessel_ie_quotient(T a, int64_t order) {
    double x(a);
    if (std::fabs(x) < 1) return T(bessel_series(x, order, 1) * math::exp(-std::fabs(x)));
    return T((order == 1 ? i1e(x) : scaled_i(x, double(order))) / std::pow(x, double(order)));
}

// The power series of j (sign -1) and i (sign 1), whose order is an integer >= 0 (10.53.1, 10.53.3).
inline double spherical_series(double x, int64_t order, int sign) {
    double term = 1, sum = 1, power = 1;
    for (int64_t k = 1; k <= order; ++k) power *= x / double(2 * k + 1);
    for (int k = 1; std::fabs(term) > 1e-18 * std::fabs(sum); ++k) {
        term *= sign * x * x / (2.0 * k * double(2 * order + 2 * k + 1));
        sum += term;
    }
    return power * sum;
}

// j for x <= order: Miller's algorithm, backward recurrence from an order where the function is negligible.
inline double spherical_j_backward(double x, int64_t order) {
    double after = 0, last = 1e-250, found = 0;
    for (int64_t k = order + 20 + int64_t(std::sqrt(60.0 * double(order))); k > 0; --k) {
        double before = double(2 * k + 1) / x * last - after;
        after = last;
        last = before;
        if (k - 1 == order) found = last;
        if (std::fabs(last) > 1e250) {
            after *= 1e-250;
            last *= 1e-250;
            found *= 1e-250;
        }
    }
    double zeroth = math::sin(x) / x, first = (zeroth - math::cos(x)) / x;
    return std::fabs(zeroth) > std::fabs(first) ? found / last * zeroth : found / after * first;
}

// Upward recurrence from orders 0 and 1 (10.51.1); sign: -1 of j and y, 1 of k.
inline double spherical_forward(double x, int64_t order, double zeroth, double first, int sign) {
    if (order == 0) return zeroth;
    for (int64_t k = 1; k < order && !std::isinf(first); ++k) {
        double next = double(2 * k + 1) / x * first + sign * zeroth;
        zeroth = first;
        first = next;
    }
    return first;
}

inline double spherical_j(double a, int64_t order) {
    double x = std::fabs(a), sign = a < 0 && order % 2 ? -1 : 1;
    if (std::isinf(x)) return 0;
    if (x * x < double(2 * order + 3)) return sign * spherical_series(x, order, -1);
    if (x <= double(order)) return sign * spherical_j_backward(x, order);
    double zeroth = math::sin(x) / x;
    return sign * spherical_forward(x, order, zeroth, (zeroth - math::cos(x)) / x, -1);
}
inline double spherical_y(double a, int64_t order) {
    double x = std::fabs(a), sign = a < 0 && order % 2 == 0 ? -1 : 1;
    if (x == 0) return -std::numeric_limits<double>::infinity();
    if (std::isinf(x)) return 0;
    double zeroth = -math::cos(x) / x;
    return sign * spherical_forward(x, order, zeroth, (zeroth - math::sin(x)) / x, -1);
}
inline double spherical_i(double a, int64_t order) {
    double x = std::fabs(a), sign = a < 0 && order % 2 ? -1 : 1;
    if (std::isinf(x)) return sign * x;
    if (!(x > 20)) return sign * spherical_series(x, order, 1);
    double root = math::exp(0.5 * x);
    return sign * std::sqrt(0.5 * pi / x) * scaled_i(x, double(order) + 0.5) * root * root;
}
inline double spherical_k(double a, int64_t order) {
    if (a == 0) return std::numeric_limits<double>::infinity();
    double zeroth = 0.5 * pi * math::exp(-a) / a;
    return spherical_forward(a, order, zeroth, zeroth + zeroth / a, 1);
}
inline float spherical_j(float a, int64_t order) { return float(spherical_j(double(a), order)); }
inline float spherical_y(float a, int64_t order) { return float(spherical_y(double(a), order)); }
inline float spherical_i(float a, int64_t order) { return float(spherical_i(double(a), order)); }
inline float spherical_k(float a, int64_t order) { return float(spherical_k(double(a), order)); }

}  // namespace sdfgad
