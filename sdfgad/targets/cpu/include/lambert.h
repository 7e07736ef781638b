// The real branches of Lambert's W function, and Airy functions, in double precision.
#pragma once
#include <cmath>
#include <limits>
#include "bessel.h"

namespace sdfgad {

// 1 + W near the branch point, where it is small: u of 1 + (u - 1) exp(u) = p^2 / 2, by Newton's method.
inline double lambert_near_branch(double p) {
    double u = p - p * p / 3;
    for (int step = 0; step < 6 && u != 0; ++step) {
        double power = 0.5 * u * u, sum = 0;  // u^k / k!
        for (int k = 2; k < 40; ++k) {
            sum += power * (k - 1);
            power *= u / (k + 1);
        }
        u -= (sum - 0.5 * p * p) / (u * math::exp(u));
    }
    return u;
}
// W of large a by w + log w = log a.
inline double lambert_large(double a) {
    double l = math::log(a), w = l - math::log(l);
    for (int step = 0; step < 6; ++step) w -= (w + math::log(w) - l) / (1 + 1 / w);
    return w;
}
// The lower branch away from the branch point: v - log v = -log(-a), v = -W.
inline double lambert_lower(double a) {
    double l = -math::log(-a), v = l + math::log(l + 1);
    for (int step = 0; step < 8; ++step) v -= (v - math::log(v) - l) / (1 - 1 / v);
    return -v;
}
// The principal branch (order 0) or the lower one (-1); NaN where they are not real.
inline double lambert_w_of(double a, double order) {
    constexpr double e = 2.71828182845904523536, rest = 1.4456468917292502e-16;
    double distance = std::fma(e, a, 1.0) + rest * a;
    if (order < 0 && a >= 0) return a == 0 ? -std::numeric_limits<double>::infinity() : NAN;
    // 1 / e itself is rounded
    if (std::fabs(distance) < 2e-16) distance = 0;
    if (!(distance >= 0) || std::isinf(a)) return a > 0 ? a : NAN;
    if (distance < 0.2) return lambert_near_branch((order < 0 ? -1 : 1) * std::sqrt(2 * distance)) - 1;
    if (order < 0) return lambert_lower(a);
    if (a > 3) return lambert_large(a);
    double w = math::log1p(a) * (a > 0 ? 0.8 : 1);
    for (int step = 0; step < 6; ++step) {
        double power = math::exp(w), miss = w * power - a;
        w -= miss / (power * (w + 1) - 0.5 * (w + 2) * miss / (w + 1));
    }
    return w;
}

// Airy functions: by their power series, or Bessel functions of one and two thirds (NIST Digital Library of Mathematical
// Functions, 9.4 and 9.6).
constexpr double airy_zero = 0.35502805388781723926, airy_slope = -0.25881940379280679841;
constexpr double third = 1.0 / 3, root_three = 1.73205080756887729353;

// A sum of terms, each x^3 / ((3k + low) (3k + high)) times that before it.
inline double airy_series(double first, double cube, int low, int high) {
    double term = first, sum = first;
    for (int k = 1; k < 30; ++k) {
        term *= cube / ((3 * k + low) * (3 * k + high));
        sum += term;
    }
    return sum;
}
// `even` and `odd` combined as in Ai (is_second false) or Bi.
inline double airy_sum(double even, double odd, bool is_second) {
    double sum = airy_zero * even + (is_second ? -1 : 1) * airy_slope * odd;
    return is_second ? root_three * sum : sum;
}
inline double airy_of(double x, bool is_second) {
    double size = std::fabs(x), zeta = 2 * third * size * std::sqrt(size);
    if (size < 1) {
        double cube = x * x * x;
        return airy_sum(airy_series(1, cube, -1, 0), airy_series(x, cube, 0, 1), is_second);
    }
    if (std::isinf(x) && x > 0) return is_second ? x : 0;
    if (x > 0 && !is_second) return std::sqrt(x / 3) / pi * bessel_k(zeta, third);
    if (x > 0) return std::sqrt(x / 3) * (2 * bessel_i(zeta, third) + root_three / pi * bessel_k(zeta, third));
    double j = bessel_jv(zeta, third), y = bessel_y(zeta, third);
    return 0.5 * std::sqrt(size) * (is_second ? -(j / root_three + y) : j - y / root_three);
}
inline double airy_slope_of(double x, bool is_second) {
    double size = std::fabs(x), zeta = 2 * third * size * std::sqrt(size);
    if (size < 1) {
        double cube = x * x * x;
        return airy_sum(airy_series(0.5 * x * x, cube, 0, 2), airy_series(1, cube, -2, 0), is_second);
    }
    double k = x > 0 ? bessel_k(zeta, 2 * third) : 0;
    if (x > 0 && !is_second) return k == 0 ? -0.0 : -x / (pi * root_three) * k;
    if (x > 0) return x / root_three * (2 * bessel_i(zeta, 2 * third) + root_three / pi * k);
    double j = bessel_jv(zeta, 2 * third), y = bessel_y(zeta, 2 * third);
    return 0.5 * size * (is_second ? j / root_three - y : j + y / root_three);
}

template <typename T> inline T lambert_w(T a, T order) { return T(lambert_w_of(double(a), double(order))); }
template <typename T> inline T airy_ai(T a) { return T(airy_of(double(a), false)); }
template <typename T> inline T airy_bi(T a) { return T(airy_of(double(a), true)); }
template <typename T> inline T airy_ai_slope(T a) { return T(airy_slope_of(double(a), false)); }
template <typename T> inline T airy_bi_slope(T a) { return T(airy_slope_of(double(a), true)); }

}  // namespace sdfgad
