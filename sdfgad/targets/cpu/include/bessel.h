// Bessel functions and polygamma functions of real numbers, in double precision.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include "special.h"

namespace sdfgad {

// The modified Bessel functions of orders 0 and 1, times exp(-|a|): the power series, or the asymptotic one.
inline double scaled_bessel_i(int order, double a) {
    double x = std::fabs(a), sign = order && a < 0 ? -1 : 1;
    if (x <= 40) {
        double term = order ? x / 2 : 1, sum = term;
        for (int k = 1; term > sum * 1e-18; ++k) {
            term *= x * x / 4 / (double(k) * (k + order));
            sum += term;
        }
        return sign * sum * math::exp(-x) + (a - a);
    }
    if (std::isinf(x)) return 0;
    double term = 1, sum = 1;
    for (int k = 1; k < 30; ++k) {
        term *= ((2 * k - 1) * (2 * k - 1) - 4 * order) / (8 * x * k);
        sum += term;
    }
    return sign / std::sqrt(2 * pi * x) * sum;
}
template <typename T> inline T i0e(T a) { return T(scaled_bessel_i(0, a)); }
template <typename T> inline T i1e(T a) { return T(scaled_bessel_i(1, a)); }

// The Bessel function of the first kind of an integer order.
template <typename T> inline T bessel_j(T a, int64_t order) { return T(::jn(int(order), double(a))); }
template <typename T> inline T j0(T a) { return T(::j0(double(a))); }
template <typename T> inline T j1(T a) { return T(::j1(double(a))); }

// Bessel functions of a real order >= 0 of positive numbers; NaN of negative ones. The library throws where its continued
// fractions do not converge, which the bounds exclude.
template <typename T> inline T bessel_jv(T a, T order) {
    double x(a), nu(order);
    if (nu == std::floor(nu)) return T(::jn(int(nu), x));
    if (std::isinf(x) && x > 0) return T(0);
    return x >= 0 ? T(std::cyl_bessel_j(nu, x)) : std::numeric_limits<T>::quiet_NaN();
}
// Below this, series of the standard library overflow, and it throws.
constexpr double least_of_bessel = 1e-300;

// The first terms of K at such numbers (10.27.4, 10.31.2), and of pi / 2 Y, times -1 (10.2.3).
inline double singular_part(double x, double nu, double second) {
    if (nu == 0) return -math::log(x) + 0.11593151565841245;
    double power = std::pow(x, nu) * std::pow(2.0, -nu);
    double rest = nu == std::floor(nu) ? 0 : second * std::tgamma(-nu) / 2 * power;
    return std::tgamma(nu) / 2 * std::pow(x, -nu) * std::pow(2.0, nu) + rest;
}

template <typename T> inline T bessel_y(T a, T order) {
    double x(a), nu(order);
    if (!(x >= 0)) return std::numeric_limits<T>::quiet_NaN();
    if (x == 0) return -std::numeric_limits<T>::infinity();
    if (std::isinf(x)) return T(0);
    if (x < least_of_bessel && nu != std::floor(nu)) return T(-2 / pi * singular_part(x, nu, math::cos(pi * nu)));
    return nu == std::floor(nu) ? T(::yn(int(nu), x)) : T(std::cyl_neumann(nu, x));
}
template <typename T> inline T bessel_i(T a, T order) {
    double x(a), nu(order);
    if (!(x >= 0)) {
        bool is_even = std::fmod(nu, 2) == 0, is_known = nu == std::floor(nu) && x < 0;
        return is_known ? (is_even ? T(1) : T(-1)) * bessel_i(-a, order) : std::numeric_limits<T>::quiet_NaN();
    }
    return x > 1e4 ? std::numeric_limits<T>::infinity() : T(std::cyl_bessel_i(nu, x));
}
template <typename T> inline T bessel_k(T a, T order) {
    double x(a);
    if (!(x >= 0)) return std::numeric_limits<T>::quiet_NaN();
    if (x == 0) return std::numeric_limits<T>::infinity();
    if (x < least_of_bessel) return T(singular_part(x, double(order), 1));
    return x > 1e4 ? T(0) : T(std::cyl_bessel_k(double(order), x));
}

// The Hurwitz zeta function of s > 1 and a > 0: its first terms, and the rest by the formula of Euler and Maclaurin (NIST
// Digital Library of Mathematical Functions, 25.11.5).
inline double positive_zeta(double s, double a) {
    constexpr double bernoulli[] = {1.0 / 6, -1.0 / 30, 1.0 / 42, -1.0 / 30, 5.0 / 66, -691.0 / 2730, 7.0 / 6,
                                    -3617.0 / 510, 43867.0 / 798, -174611.0 / 330};
    double sum = 0;
    for (; a < s + 10; a += 1) {
        double term = std::pow(a, -s);
        sum += term;
        if (term < sum * 1e-18) return sum;
    }
    double power = std::pow(a, -s), tail = power * a / (s - 1) + 0.5 * power;
    double factor = s * power / a / 2;  // s (s + 1) … (s + 2j - 2) a^(1 - s - 2j) / (2j)!
    for (int j = 1; j <= 10; ++j) {
        tail += bernoulli[j - 1] * factor;
        factor *= (s + 2 * j - 1) * (s + 2 * j) / (a * a) / ((2 * j + 1) * (2 * j + 2));
    }
    return sum + tail;
}
// Of negative numbers, where s is an integer, by the part of the sum over those.
template <typename T> inline T hurwitz_zeta(T a, T order) {
    double x(a), s(order), whole = std::floor(x);
    if (std::isinf(x) && x > 0) return T(0);
    if (!(x <= 0)) return T(positive_zeta(s, x));
    if (x == whole) return std::numeric_limits<T>::infinity();
    if (s != std::floor(s)) return std::numeric_limits<T>::quiet_NaN();
    double sign = std::fmod(s, 2) == 0 ? 1 : -1, below = positive_zeta(s, whole + 1 - x) - positive_zeta(s, 1 - x);
    return T(positive_zeta(s, x - whole) + sign * below);
}

// The derivative of digamma of an order.
inline double polygamma_of(double a, int64_t order) {
    if (order == 0) return digamma(a);
    if (order == 1) return trigamma(a);
    if (order < 0) return std::numeric_limits<double>::quiet_NaN();
    double sign = order % 2 ? 1 : -1;
    return sign * std::tgamma(double(order) + 1) * hurwitz_zeta(a, double(order) + 1);
}
inline float polygamma_of(float a, int64_t order) { return float(polygamma_of(double(a), order)); }

}  // namespace sdfgad
