// Exponential integrals, Dawson's integral, the imaginary error function and Owen's T function, in double precision.
// Formulas x.y.z are those of the NIST Digital Library of Mathematical Functions.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include "special.h"

namespace sdfgad {

constexpr double eulers_constant = 0.57721566490153286061, two_over_root_pi = 1.12837916709551257390;

// E of an order >= 1 by its series (8.19.8), for 0 < x <= 1.
inline double exponential_integral_series(double x, int64_t order) {
    double harmonic = -eulers_constant, power = 1, sum = 0, term = 1;
    for (int64_t k = 1; k < order; ++k) {
        harmonic += 1.0 / double(k);
        power *= -x / double(k);
    }
    for (int64_t k = 0; k == 0 || std::fabs(term) > 1e-18 * std::fabs(sum) || k < order; ++k) {
        if (k != order - 1) sum -= term / double(1 - order + k);
        term *= -x / double(k + 1);
        if (term == 0) break;
    }
    return power * (harmonic - math::log(x)) + sum;
}

// By its continued fraction (8.19.17), Lentz's method, for x > 1.
inline double exponential_integral_fraction(double x, int64_t order) {
    double n = double(order), b = x + n, c = 1e300, d = 1 / b, h = d;
    for (int k = 1; k < 10000; ++k) {
        double numerator = -k * (n - 1 + k);
        b += 2;
        d = 1 / (numerator * d + b);
        c = b + numerator / c;
        h *= c * d;
        if (std::fabs(c * d - 1) < 2e-16) break;
    }
    return h * math::exp(-x);
}

inline double expn_of(double x, int64_t order) {
    if (!(x >= 0) || std::isinf(x)) return x > 0 ? 0 : std::numeric_limits<double>::quiet_NaN();
    if (x == 0) return order > 1 ? 1.0 / double(order - 1) : std::numeric_limits<double>::infinity();
    if (order == 0) return math::exp(-x) / x;
    return x <= 1 ? exponential_integral_series(x, order) : exponential_integral_fraction(x, order);
}
inline double exp1(double x) { return expn_of(x, 1); }

// Ei: its series (6.6.1), or the asymptotic one (6.12.2).
inline double expi(double x) {
    if (x < 0) return -exp1(-x);
    if (x == 0 || !std::isfinite(x)) return x == 0 ? -std::numeric_limits<double>::infinity() : x;
    double term = 1, sum = 0;
    if (x <= 40) {
        for (int k = 1; k < 3 || term > 1e-18 * sum; ++k) {
            term *= x / k;
            sum += term / k;
        }
        return eulers_constant + math::log(x) + sum;
    }
    for (int k = 1; k < 40 && term > 1e-18; ++k) {
        sum += term;
        term *= k / x;
    }
    double root = math::exp(0.5 * x);
    return root * (sum / x) * root;
}

// The exponential of a square, with the rounding error of that.
inline double exp_of_square(double a, double sign) {
    double square = a * a, rest = std::fma(a, a, -square);
    return math::exp(sign * square) * (1 + sign * rest);
}
// The sum of x^(2k + 1) / (k! (2k + 1)): the imaginary error function but for its factor.
inline double square_exponential_series(double x) {
    double term = x, sum = x;
    for (int k = 1; std::fabs(term) > 1e-18 * std::fabs(sum); ++k) {
        term *= x * x / k;
        sum += term / (2 * k + 1);
    }
    return sum;
}
// From here on Dawson's integral is given by its asymptotic series: the sum of (2k - 1)!! / (2 x^2)^k, from k = first.
constexpr double dawson_from = 6.5;
inline double dawson_series(double x, int first) {
    double ratio = 0.5 / (x * x), term = 1, sum = first == 0;
    for (int k = 1; k < 42 && term > 1e-18 * sum; ++k) {
        term *= (2 * k - 1) * ratio;
        sum += term;
    }
    return sum;
}
inline double dawsn(double a) {
    if (std::isinf(a)) return std::copysign(0.0, a);
    if (std::fabs(a) >= dawson_from) return 0.5 / a * dawson_series(a, 0);
    return exp_of_square(a, -1) * square_exponential_series(a);
}
// Its derivative, 1 - 2 a D(a), without cancellation.
inline double dawsn_slope(double a) {
    if (std::isinf(a)) return 0;
    return std::fabs(a) >= dawson_from ? -dawson_series(a, 1) : 1 - 2 * a * dawsn(a);
}
inline double erfi(double a) {
    if (std::fabs(a) < dawson_from) return two_over_root_pi * square_exponential_series(a);
    if (std::fabs(a) > 27) return std::copysign(std::numeric_limits<double>::infinity(), a);
    double power = exp_of_square(a, 1);
    return std::isinf(power) ? std::copysign(power, a) : a == a ? two_over_root_pi * power * dawsn(a) : a;
}

// The integral of exp(-h^2 (1 + x^2) / 2) / (1 + x^2) from `low`, `half` being half of the length: by Gauss and Legendre.
inline double owens_panel(double h, double low, double half) {
    constexpr double nodes[] = {
        0.0765265211334973338, 0.227785851141645078, 0.373706088715419561, 0.510867001950827098,
        0.636053680726515025, 0.746331906460150793, 0.839116971822218823, 0.912234428251325906,
        0.963971927277913791, 0.993128599185094925,
    };
    constexpr double weights[] = {
        0.152753387130725851, 0.149172986472603747, 0.142096109318382051, 0.131688638449176627,
        0.118194531961518417, 0.101930119817240435, 0.0832767415767047487, 0.0626720483341090636,
        0.0406014298003869413, 0.0176140071391521183,
    };
    double sum = 0;
    for (int k = 0; k < 10; ++k) {
        for (int sign = -1; sign < 2; sign += 2) {
            double x = low + half * (1 + sign * nodes[k]), square = 1 + x * x;
            sum += weights[k] * math::exp(-0.5 * h * h * square) / square;
        }
    }
    return half * sum;
}
// Of h >= 0 and 0 <= a <= 1, up to where the integrand is negligible.
inline double owens_t_of_unit(double h, double a) {
    double end = h * a > 9 ? 9 / h : a, sum = 0;
    for (int k = 0; k < 4; ++k) sum += owens_panel(h, 0.25 * k * end, 0.125 * end);
    return sum / (2 * pi);
}
inline double owens_t(double h, double a) {
    if (h != h || a != a) return h + a;
    double x = std::fabs(h), slope = std::fabs(a), value;
    if (std::isinf(x)) return 0;
    if (slope <= 1) {
        value = owens_t_of_unit(x, slope);
    } else {
        double upper = 0.5 * math::erfc(x * 0.70710678118654752440);
        double product = x == 0 ? 0 : x * slope;
        double far = 0.5 * math::erfc(product * 0.70710678118654752440);
        value = 0.5 * (upper + far) - upper * far - (std::isinf(product) ? 0 : owens_t_of_unit(product, 1 / slope));
    }
    return std::copysign(value, a);
}

inline float expn_of(float a, int64_t order) { return float(expn_of(double(a), order)); }
inline float exp1(float a) { return float(exp1(double(a))); }
inline float expi(float a) { return float(expi(double(a))); }
inline float dawsn(float a) { return float(dawsn(double(a))); }
inline float dawsn_slope(float a) { return float(dawsn_slope(double(a))); }
inline float erfi(float a) { return float(erfi(double(a))); }
inline float owens_t(float a, float b) { return float(owens_t(double(a), double(b))); }

}  // namespace sdfgad
