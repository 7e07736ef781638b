// The beta function and the regularised incomplete gamma and beta functions, with derivatives by their shapes.
//
// Series and continued fractions are written once, for numbers and for dual numbers: forward-mode differentiation gives
// the derivative by a shape, which has no closed form. Formulas 8.x.y are those of the NIST Digital Library of
// Mathematical Functions.
#pragma once
#include <cmath>
#include <limits>
#include <utility>
#include "special.h"

namespace sdfgad {

// A number and its derivative by one variable.
struct Dual {
    double value, slope;
    Dual(double value, double slope = 0) : value(value), slope(slope) {}
};
inline Dual operator+(Dual a, Dual b) { return {a.value + b.value, a.slope + b.slope}; }
inline Dual operator-(Dual a, Dual b) { return {a.value - b.value, a.slope - b.slope}; }
inline Dual operator*(Dual a, Dual b) { return {a.value * b.value, a.slope * b.value + a.value * b.slope}; }
inline Dual operator/(Dual a, Dual b) {
    double quotient = a.value / b.value;
    return {quotient, (a.slope - quotient * b.slope) / b.value};
}
inline bool is_small(double term, double sum) { return !(std::fabs(term) > 1e-17 * std::fabs(sum)); }
inline bool is_small(Dual term, Dual sum) {
    return is_small(term.value, sum.value) && is_small(term.slope, sum.slope);
}
inline bool is_one(double ratio) { return !(std::fabs(ratio - 1) > 2e-16); }
inline bool is_one(Dual ratio) { return is_one(ratio.value) && !(std::fabs(ratio.slope) > 1e-16); }
inline double away_from_zero(double a) { return a == 0 ? 1e-300 : a; }
inline Dual away_from_zero(Dual a) { return {away_from_zero(a.value), a.slope}; }

// a - log(1 + a), without cancellation near 0: log(1 + a) is 2 artanh(r), r = a / (2 + a).
inline double excess_over_log(double a) {
    if (a < -0.6 || a > 1.5) return a - math::log1p(a);
    double r = a / (2 + a), square = r * r, sum = 0;
    double term = 1;
    for (int k = 3; k < 60 && term > 1e-18; k += 2) {
        sum += term / k;
        term *= square;
    }
    return 2 * square * (1 / (1 - r) - r * sum);
}

// The same of a quotient less 1, which may be so small that the difference is rounded.
inline double excess_of_quotient(double quotient, double less_one) {
    return quotient < 0.4 ? less_one - math::log(quotient) : excess_over_log(less_one);
}

// The error of Stirling's formula for log Gamma(a), a >= 8 (5.11.1).
inline double stirling_error(double a) {
    double w = 1 / (a * a);
    return (1.0 / 12 - w * (1.0 / 360 - w * (1.0 / 1260 - w * (1.0 / 1680 - w * (1.0 / 1188
            - w * (691.0 / 360360 - w * (1.0 / 156 - w * 3617.0 / 122400))))))) / a;
}

// log B(a, b); of large numbers by differences of Stirling's formula that are free of cancellation.
inline double betaln(double a, double b) {
    if (a > b) std::swap(a, b);
    if (!(a > 0) || b < 8) return gammaln(a) + gammaln(b) - gammaln(a + b);
    double sum = a + b, ratio = a / b;
    double correction = stirling_error(b) - stirling_error(sum);
    if (a < 8) return gammaln(a) - (sum - 0.5) * math::log1p(ratio) - a * (math::log(b) - 1) + correction;
    return 0.91893853320467274178 - 0.5 * math::log(b) + (a - 0.5) * math::log(a / sum) - b * math::log1p(ratio)
           + stirling_error(a) + correction;
}
inline double beta(double a, double b) {
    if (a + b < 170 && std::fabs(a) < 170 && std::fabs(b) < 170) {
        return std::tgamma(a) / std::tgamma(a + b) * std::tgamma(b);
    }
    return math::exp(betaln(a, b));
}

// x^a exp(-x) / Gamma(a + 1).
inline double gamma_factor(double a, double x) {
    if (a < 10 && x < 700) return std::pow(x, a) * math::exp(-x) / std::tgamma(a + 1);
    if (a < 10) return math::exp(a * math::log(x) - x - gammaln(a + 1));
    return math::exp(-a * excess_of_quotient(x / a, (x - a) / a) - stirling_error(a)) / std::sqrt(2 * pi * a);
}
inline double gamma_factor_of(double a, double x) { return gamma_factor(a, x); }
inline Dual gamma_factor_of(Dual a, double x) {
    double factor = gamma_factor(a.value, x);
    return {factor, factor == 0 ? 0 : factor * (math::log(x) - digamma(a.value + 1)) * a.slope};
}

// The lower one by its series (8.7.1), for x < a + 1.
template <typename S> inline S lower_gamma(S a, double x) {
    S term = S(1), sum = S(1), count = a;
    do {
        count = count + S(1);
        term = term * S(x) / count;
        sum = sum + term;
    } while (!is_small(term, sum));
    return gamma_factor_of(a, x) * sum;
}

// The upper one by its continued fraction (8.9.2), evaluated by Lentz's method as modified by Thompson and Barnett.
template <typename S> inline S upper_gamma(S a, double x) {
    S b = S(x + 1) - a, c = S(1e300), d = S(1) / away_from_zero(b), h = d;
    for (int k = 1; k < 1000000; ++k) {
        S numerator = S(-k) * (S(k) - a);
        b = b + S(2);
        d = S(1) / away_from_zero(numerator * d + b);
        c = away_from_zero(b + numerator / c);
        S ratio = c * d;
        h = h * ratio;
        if (is_one(ratio)) break;
    }
    return gamma_factor_of(a, x) * a * h;
}

inline bool is_outside_gamma(double a, double x) { return !(a > 0) || !(x >= 0); }
inline double gammainc(double a, double x) {
    if (is_outside_gamma(a, x)) return a == 0 && x > 0 ? 1 : std::numeric_limits<double>::quiet_NaN();
    if (x == 0 || std::isinf(x)) return x == 0 ? 0 : 1;
    return x < a + 1 ? lower_gamma(a, x) : 1 - upper_gamma(a, x);
}
inline double gammaincc(double a, double x) {
    if (is_outside_gamma(a, x)) return a == 0 && x > 0 ? 0 : std::numeric_limits<double>::quiet_NaN();
    if (x == 0 || std::isinf(x)) return x == 0 ? 1 : 0;
    return x < a + 1 ? 1 - lower_gamma(a, x) : upper_gamma(a, x);
}
// The derivative of gammainc by a.
inline double gammainc_by_shape(double a, double x) {
    if (is_outside_gamma(a, x)) return std::numeric_limits<double>::quiet_NaN();
    if (x == 0 || std::isinf(x)) return 0;
    return x < a + 1 ? lower_gamma(Dual(a, 1), x).slope : -upper_gamma(Dual(a, 1), x).slope;
}
// The derivative of gammainc by x: x^(a - 1) exp(-x) / Gamma(a).
inline double gamma_density(double a, double x) {
    if (is_outside_gamma(a, x)) return std::numeric_limits<double>::quiet_NaN();
    if (x == 0) return a > 1 ? 0 : a == 1 ? 1 : std::numeric_limits<double>::infinity();
    return std::isinf(x) ? 0 : gamma_factor(a, x) * (a / x);
}

// x^a (1 - x)^b / B(a, b), y = 1 - x; of large a and b as by DiDonato and Morris, ACM TOMS 18 (1992), 360.
inline double beta_factor(double a, double b, double x, double y) {
    if (a < 8 || b < 8) {
        double power = std::pow(x, a) * std::pow(y, b);
        if (a + b < 170 && power > 1e-280) return power / beta(a, b);
        return math::exp(a * math::log(x) + b * math::log(y) - betaln(a, b));
    }
    double distance = a <= b ? a - (a + b) * x : (a + b) * y - b;
    double exponent = a * excess_of_quotient(x / a * (a + b), -distance / a);
    exponent += b * excess_of_quotient(y / b * (a + b), distance / b);
    double correction = stirling_error(a) + stirling_error(b) - stirling_error(a + b);
    return std::sqrt(a * (b / (a + b)) / (2 * pi)) * math::exp(-exponent - correction);
}
inline double beta_factor_of(double a, double b, double x, double y) { return beta_factor(a, b, x, y); }
inline Dual beta_factor_of(Dual a, Dual b, double x, double y) {
    double factor = beta_factor(a.value, b.value, x, y), both = digamma(a.value + b.value);
    double by_a = math::log(x) + both - digamma(a.value), by_b = math::log(y) + both - digamma(b.value);
    return {factor, factor == 0 ? 0 : factor * (by_a * a.slope + by_b * b.slope)};
}

// The continued fraction (8.17.22), for x < (a + 1) / (a + b + 2).
template <typename S> inline S lower_beta(S a, S b, double x, double y) {
    S c = S(1), d = S(1) / away_from_zero(S(1) - (a + b) * S(x) / (a + S(1))), h = d;
    for (int m = 1; m < 1000000; ++m) {
        S twice = a + S(2 * m);
        S even = S(m) * (b - S(m)) * S(x) / ((twice - S(1)) * twice);
        d = S(1) / away_from_zero(S(1) + even * d);
        c = away_from_zero(S(1) + even / c);
        h = h * c * d;
        S odd = S(-x) * (a + S(m)) * (a + b + S(m)) / (twice * (twice + S(1)));
        d = S(1) / away_from_zero(S(1) + odd * d);
        c = away_from_zero(S(1) + odd / c);
        S ratio = c * d;
        h = h * ratio;
        if (is_one(ratio)) break;
    }
    return beta_factor_of(a, b, x, y) * h / a;
}

inline bool is_outside_beta(double a, double b, double x) { return !(a > 0 && b > 0) || !(x >= 0 && x <= 1); }
inline bool is_lower_beta(double a, double b, double x) { return x < (a + 1) / (a + b + 2); }
inline double betainc(double a, double b, double x) {
    if (is_outside_beta(a, b, x)) return std::numeric_limits<double>::quiet_NaN();
    if (x == 0 || x == 1) return x;
    return is_lower_beta(a, b, x) ? lower_beta(a, b, x, 1 - x) : 1 - lower_beta(b, a, 1 - x, x);
}
inline double betaincc(double a, double b, double x) {
    if (is_outside_beta(a, b, x)) return std::numeric_limits<double>::quiet_NaN();
    if (x == 0 || x == 1) return 1 - x;
    return is_lower_beta(a, b, x) ? 1 - lower_beta(a, b, x, 1 - x) : lower_beta(b, a, 1 - x, x);
}
// The derivative of betainc by a. That by b is the negative one by the first shape for b, a and 1 - x.
inline double betainc_by_shape(double a, double b, double x) {
    if (is_outside_beta(a, b, x)) return std::numeric_limits<double>::quiet_NaN();
    if (x == 0 || x == 1) return 0;
    if (is_lower_beta(a, b, x)) return lower_beta(Dual(a, 1), Dual(b), x, 1 - x).slope;
    return -lower_beta(Dual(b), Dual(a, 1), 1 - x, x).slope;
}
inline double betainc_by_second(double a, double b, double x) { return -betainc_by_shape(b, a, 1 - x); }
// The derivative of betainc by x: x^(a - 1) (1 - x)^(b - 1) / B(a, b).
inline double beta_density(double a, double b, double x) {
    if (is_outside_beta(a, b, x)) return std::numeric_limits<double>::quiet_NaN();
    if (x == 0) return a > 1 ? 0 : a == 1 ? b : std::numeric_limits<double>::infinity();
    if (x == 1) return b > 1 ? 0 : b == 1 ? a : std::numeric_limits<double>::infinity();
    return beta_factor(a, b, x, 1 - x) / (x * (1 - x));
}

// The distribution function of Student's t distribution: by the incomplete beta function of which there is no
// cancellation.
inline double stdtr(double df, double t) {
    if (!(df > 0) || std::isnan(t)) return std::numeric_limits<double>::quiet_NaN();
    double square = t * t, tail;
    if (std::isinf(square)) return t > 0;
    if (square < df) tail = 0.5 * betaincc(0.5, 0.5 * df, square / (df + square));
    else tail = 0.5 * betainc(0.5 * df, 0.5, df / (df + square));
    return t > 0 ? 1 - tail : tail;
}
// Its derivative by the degrees of freedom.
inline double stdtr_by_shape(double df, double t) {
    double square = t * t, sum = df + square, x = df / sum;
    if (t == 0 || std::isinf(square)) return 0;
    double by_shape = square < df ? betainc_by_second(0.5, 0.5 * df, square / sum) : -betainc_by_shape(0.5 * df, 0.5, x);
    double slope = 0.5 * by_shape - beta_density(0.5 * df, 0.5, x) * (square / sum) / sum;
    return t > 0 ? 0.5 * slope : -0.5 * slope;
}

// In single precision, computed in double precision.
inline float beta(float a, float b) { return float(beta(double(a), double(b))); }
inline float betaln(float a, float b) { return float(betaln(double(a), double(b))); }
inline float gammainc(float a, float b) { return float(gammainc(double(a), double(b))); }
inline float gammaincc(float a, float b) { return float(gammaincc(double(a), double(b))); }
inline float gammainc_by_shape(float a, float b) { return float(gammainc_by_shape(double(a), double(b))); }
inline float gamma_density(float a, float b) { return float(gamma_density(double(a), double(b))); }
inline float stdtr(float a, float b) { return float(stdtr(double(a), double(b))); }
inline float stdtr_by_shape(float a, float b) { return float(stdtr_by_shape(double(a), double(b))); }
inline float betainc(float a, float b, float x) { return float(betainc(double(a), double(b), double(x))); }
inline float betaincc(float a, float b, float x) { return float(betaincc(double(a), double(b), double(x))); }
inline float betainc_by_shape(float a, float b, float x) { return float(betainc_by_shape(double(a), double(b), double(x))); }
inline float beta_density(float a, float b, float x) { return float(beta_density(double(a), double(b), double(x))); }

}  // namespace sdfgad
