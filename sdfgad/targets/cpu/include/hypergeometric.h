// Confluent hypergeometric functions of a real number; formulas are those of the NIST Digital Library of Mathematical
// Functions.
#pragma once
#include <cmath>
#include <limits>
#include "bessel.h"

namespace sdfgad {

// The series whose terms' quotients are x / ((b + k) (k + 1)), times a + k where `has_upper`.
inline double confluent_series(double x, double a, double b, double first, bool has_upper) {
    double term = first, sum = first;
    for (int k = 0; k < 100000 && term != 0 && std::isfinite(sum); ++k) {
        double factor = (has_upper ? a + k : 1) * x / ((b + k) * (k + 1));
        term *= factor;
        sum += term;
        if (std::fabs(term) < 1e-17 * std::fabs(sum) && std::fabs(factor) < 0.5) break;
    }
    return sum;
}

// 0F1: of negative numbers by a Bessel function (10.16.9), whose order the recurrence raises if need be.
inline double hyp0f1_of(double x, double b) {
    if (std::isinf(x)) return x > 0 ? x : std::numeric_limits<double>::quiet_NaN();
    if (!(x < -1) || -x < b) return confluent_series(x, 0, b, 1, false);
    if (b < 1) return hyp0f1_of(x, b + 1) + x / (b * (b + 1)) * hyp0f1_of(x, b + 2);
    double root = std::sqrt(-x), factor = std::tgamma(b) * std::pow(root, 1 - b);
    if (b > 100) factor = math::exp(gammaln(b) + (1 - b) * math::log(root));
    return factor * bessel_jv(2 * root, b - 1);
}

// The expansion for large negative numbers (13.7.2).
inline double hyp1f1_far(double x, double a, double b) {
    double term = 1, sum = 1;
    for (int k = 0; k < 60 && std::fabs(term) > 1e-18 * std::fabs(sum); ++k) {
        term *= (a + k) * (a - b + 1 + k) / (-x * (k + 1));
        sum += term;
    }
    return std::tgamma(b) / std::tgamma(b - a) * std::pow(-x, -a) * sum;
}
// 1F1 of b > 0: of negative numbers by Kummer's transformation (13.2.39). The terms of large -a, or a - b, cancel.
inline double hyp1f1_of(double x, double a, double b) {
    bool is_polynomial = a <= 0 && a == std::floor(a), is_short = b - a <= 0 && b - a == std::floor(b - a);
    if (std::isnan(x) || a == b) return math::exp(x);
    if (!(x < -1) || is_polynomial) return confluent_series(x, a, b, 1, true);
    double size = std::fmax(std::fmax(std::fabs(a), std::fabs(b)), std::fabs(b - a));
    if (!is_short && -x > 60 + 4 * size * size && size < 100) return hyp1f1_far(x, a, b);
    double half = math::exp(0.5 * x);
    return half * confluent_series(-x, b - a, b, half, true);
}

template <typename T> inline T hyp0f1(T a, T b) { return T(hyp0f1_of(double(a), double(b))); }
template <typename T> inline T hyp1f1(T x, T a, T b) { return T(hyp1f1_of(double(x), double(a), double(b))); }

}  // namespace sdfgad
