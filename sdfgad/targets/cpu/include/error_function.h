// Scaled complement of the error function, its inverse, and the logarithm of the normal distribution function.
#pragma once
#include <cmath>
#include <limits>
#include "special.h"

namespace sdfgad {

// exp(a^2) erfc(a): with the rounding error of a^2, or by the asymptotic series (NIST Digital Library of Mathematical
// Functions, 7.12.1).
inline double erfcx(double a) {
    if (a < 25) {
        double square = a * a, rest = std::fma(a, a, -square);
        double power = math::exp(square);
        return std::isinf(power) ? 2 * power : power * (1 + rest) * math::erfc(a);
    }
    double w = 0.5 / (a * a);
    double series = 1 - w * (1 - 3 * w * (1 - 5 * w * (1 - 7 * w * (1 - 9 * w))));
    return 0.56418958354775628695 / a * series;
}
inline float erfcx(float a) { return float(erfcx(double(a))); }

// The inverse of erfc: of small numbers by Newton's iteration on the logarithm, else by that of erf.
inline double erfcinv(double a) {
    if (a > 1) return -erfcinv(2 - a);
    if (!(a >= 0)) return std::numeric_limits<double>::quiet_NaN();
    if (a == 0) return std::numeric_limits<double>::infinity();
    if (a > 0.3) return erfinv(1 - a);
    double l = math::log(a * (2 - a)), t = 2 / (pi * 0.147) + l / 2;
    double y = std::sqrt(std::sqrt(t * t - l / 0.147) - t), wanted = math::log(a);
    for (int k = 0; k < 4; ++k) {
        double scaled = erfcx(y);
        y += (math::log(scaled) - y * y - wanted) * 0.88622692545275801365 * scaled;
    }
    return y;
}
inline float erfcinv(float a) { return float(erfcinv(double(a))); }

// The logarithm of the standard normal distribution function.
inline double log_ndtr(double a) {
    double scaled = a * 0.70710678118654752440;
    if (a >= -1) return math::log1p(-0.5 * math::erfc(scaled));
    return math::log(0.5 * erfcx(-scaled)) - 0.5 * a * a;
}
inline float log_ndtr(float a) { return float(log_ndtr(double(a))); }

}  // namespace sdfgad
