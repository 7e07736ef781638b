// Special functions of real numbers, in double precision.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include "perturb.h"
#ifdef __CUDACC_RTC__
#include "decimals.h"
#else
#include <cstdio>
#include <cstdlib>
#endif

namespace sdfgad {

constexpr double pi = 3.14159265358979323846;

// sin(pi a) / (pi a).
template <typename T> inline T sinc(T a) {
    T y = T(pi) * a;
    return y == 0 ? T(1) : math::sin(y) / y;
}

// The derivative of sinc of an order: by the derivatives of y sinc(y) = sin(y), or a series where that cancels.
template <typename T> inline T sinc_derivative(T a, int64_t order) {
    double y = pi * double(a), scale = std::pow(pi, double(order));
    if (!(std::fabs(y) < double(order) || std::fabs(y) < 1)) {
        double sine = math::sin(y), cosine = math::cos(y), result = sine / y;
        for (int64_t k = 1; k <= order; ++k) {
            double wave = k % 2 ? cosine : sine;
            result = ((k % 4 >= 2 ? -wave : wave) - double(k) * result) / y;
        }
        return T(scale * result);
    }
    double sum = 0, power = order % 2 ? y : 1;  // power: y^j / j!
    for (int64_t j = order % 2; j < order + 40; j += 2) {
        sum += ((order + j) % 4 ? -power : power) / double(order + j + 1);
        power *= y * y / double((j + 1) * (j + 2));
    }
    return T(scale * sum);
}

// Reentrant, unlike std::lgamma, which notes the sign in a global variable.
inline double gammaln(double a) {
    int sign;
    return ::lgamma_r(a, &sign);
}
inline float gammaln(float a) { return float(gammaln(double(a))); }

// The logarithmic derivative of the gamma function. Beside its positive root: the Taylor series about that root.
inline double digamma(double a) {
    if (a == 0) return std::copysign(std::numeric_limits<double>::infinity(), -a);
    double result = 0;
    if (a < 0) {
        double rest = a - std::rint(a);
        if (rest == 0) return std::numeric_limits<double>::quiet_NaN();
        result = -pi / math::tan(pi * rest);
        a = 1 - a;
    }
    constexpr double series[] = {
        0.9676722454476212, -0.4427631689835921, 0.258499760955651, -0.16394270544240652,
        0.10782405069126237, -0.07219956125645471, 0.04880428816414311, -0.03316112647484736,
        0.022597648232218104, -0.01542476590494896, 0.010538791616612175, -0.007204534386356869,
        0.004926781395729853, -0.003369801655439328, 0.002305126326734928, -0.0015769367714301972,
        0.0010788252019162967, -0.0007380709389960052, 0.000504953265834602, -0.0003454680251063077,
        0.00023635601564027053, -0.00016170622091974803, 0.0001106337276874741, -7.569179582195066e-05,
        5.178575795222081e-05, -3.5430070947659604e-05,
    };
    double from_root = (a - 1.4616321449683622) - 9.549995429965697e-17;
    if (std::fabs(from_root) < 0.35) {
        double sum = 0;
        for (int k = sizeof(series) / sizeof(double) - 1; k >= 0; --k) sum = sum * from_root + series[k];
        return result + from_root * sum;
    }
    for (; a < 12; a += 1) result -= 1 / a;
    double w = 1 / (a * a);
    double tail = w * (1.0 / 12 - w * (1.0 / 120 - w * (1.0 / 252 - w * (1.0 / 240 - w * (1.0 / 132
                  - w * (691.0 / 32760 - w / 12))))));
    return result + (math::log(a) - 0.5 / a - tail);
}
inline float digamma(float a) { return float(digamma(double(a))); }

// The derivative of digamma.
inline double trigamma(double a) {
    double sign = 1, result = 0;
    if (a <= 0) {
        double rest = a - std::rint(a), s = math::sin(pi * rest);
        if (rest == 0) return std::numeric_limits<double>::infinity();
        result = pi / s * (pi / s);
        a = 1 - a;
        sign = -1;
    }
    for (; a < 15; a += 1) result += sign / (a * a);
    double w = 1 / (a * a);
    double tail = w * (1.0 / 6 - w * (1.0 / 30 - w * (1.0 / 42 - w * (1.0 / 30 - w * (5.0 / 66
                  - w * (691.0 / 2730 - w * 7 / 6))))));
    return result + sign * (1 + 0.5 / a + tail) / a;
}
inline float trigamma(float a) { return float(trigamma(double(a))); }

// The inverse of erf: an approximation, then Halley's iteration on erf, or on erfc where erf is close to 1.
inline double erfinv(double a) {
    double x = std::fabs(a);
    if (!(x < 1)) return x == 1 ? std::copysign(std::numeric_limits<double>::infinity(), a) : a - a + NAN;
    double y;
    if (x < 0.3) {
        y = x * (0.88622692545275801365 + 0.23201366653465444 * x * x);
    } else {
        double l = math::log1p(-x * x), t = 2 / (pi * 0.147) + l / 2;
        y = std::sqrt(std::sqrt(t * t - l / 0.147) - t);
    }
    for (int k = 0; k < 3; ++k) {
        double miss = x < 0.5 ? math::erf(y) - x : (1 - x) - math::erfc(y);
        double step = miss * 0.88622692545275801365 * math::exp(y * y);
        y -= step / (1 + y * step);
    }
    return std::copysign(y, a);
}
inline float erfinv(float a) { return float(erfinv(double(a))); }

// 1 / (1 + exp(-a)), its logarithm and its inverse.
template <typename T> inline T expit(T a) {
    if (a >= 0) return 1 / (1 + math::exp(-a));
    T e = math::exp(a);
    return e / (1 + e);
}
template <typename T> inline T log_expit(T a) {
    return a < 0 ? a - math::log1p(math::exp(a)) : -math::log1p(math::exp(-a));
}
template <typename T> inline T logit(T a) {
    T twice = 2 * (a - T(0.5));
    return a < T(0.3) || a > T(0.65) ? math::log(a / (1 - a)) : math::log1p(twice) - math::log1p(-twice);
}

// a log(b) and a log(1 + b), which are 0 where a is.
template <typename T> inline T xlogy(T a, T b) { return a == 0 && b == b ? T(0) : a * math::log(b); }
template <typename T> inline T xlog1py(T a, T b) { return a == 0 && b == b ? T(0) : a * math::log1p(b); }

// The modified Bessel functions of orders 0 and 1: the power series, or the asymptotic one.
inline double modified_bessel(int order, double a) {
    double x = std::fabs(a), sign = order && a < 0 ? -1 : 1;
    if (x <= 40) {
        double term = order ? x / 2 : 1, sum = term;
        for (int k = 1; term > sum * 1e-18; ++k) {
            term *= x * x / 4 / (double(k) * (k + order));
            sum += term;
        }
        return sign * sum + (a - a);
    }
    double term = 1, sum = 1;
    for (int k = 1; k < 30; ++k) {
        term *= ((2 * k - 1) * (2 * k - 1) - 4 * order) / (8 * x * k);
        sum += term;
    }
    return sign * math::exp(x) / (std::sqrt(2 * pi) * std::sqrt(x)) * sum;
}
template <typename T> inline T i0(T a) { return T(modified_bessel(0, a)); }
template <typename T> inline T i1(T a) { return T(modified_bessel(1, a)); }

// Python's round of a float to decimal places: the number nearest to it, halves exactly in between to even.
inline double round_decimals(double a, int64_t places) {
    if (!std::isfinite(a) || places > 323) return a;
    if (places < -308) return std::copysign(0.0, a);
    if (places <= 0) {
        double unit = std::pow(10.0, double(-places)), rest = std::fmod(a, unit), whole = a - rest;
        double twice = 2 * std::fabs(rest);
        bool up = twice > unit || (twice == unit && std::fmod(whole, 2 * unit) != 0);
        double rounded = up ? whole + std::copysign(unit, a) : whole;
        return std::copysign(rounded, a);
    }
#ifdef __CUDACC_RTC__
    return nearest_decimal(a, int(places));
#else
    char text[768];
    std::snprintf(text, sizeof(text), "%.*f", int(places), a);
    return std::strtod(text, nullptr);
#endif
}

}  // namespace sdfgad
