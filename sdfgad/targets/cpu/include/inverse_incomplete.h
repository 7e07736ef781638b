// Inverses of the regularised incomplete gamma and beta functions.
//
// The logarithm of a distribution function is a concave function of log x, or of log(x / (1 - x)), so that Newton's method
// on it converges from anywhere; where it steps too far, bisection takes over.
#pragma once
#include <cmath>
#include <limits>
#include <utility>
#include "incomplete.h"

namespace sdfgad {

// The root of an increasing function, which gives its value and its slope, in an interval.
template <typename F> inline double root_between(F f, double low, double high, double t) {
    for (int step = 0; step < 200; ++step) {
        Dual found = f(t);
        (found.value < 0 ? low : high) = t;
        double next = t - found.value / found.slope;
        if (!(next >= low && next <= high)) next = 0.5 * (low + high);
        if (!(std::fabs(next - t) > 4e-16 * (1 + std::fabs(t)))) return next;
        t = next;
    }
    return t;
}

// x where the lower (or upper) incomplete gamma function is p <= 1/2.
inline double gamma_quantile(double a, double p, bool is_upper) {
    double goal = math::log(p), low = (is_upper ? math::log(0.5) : goal) + gammaln(a + 1);
    auto miss = [=](double t) {
        double x = math::exp(t), first = a * t - gammaln(a + 1), reached = is_upper ? gammaincc(a, x) : gammainc(a, x);
        double slope = x * gamma_density(a, x) / reached;
        // the first term of the series, where x underflows
        if (t < -600) {
            if (!is_upper) return Dual(first - goal, a);
            reached = -std::expm1(first);
            slope = a * (1 - reached) / reached;
        }
        return is_upper ? Dual(goal - math::log(reached), slope) : Dual(math::log(reached) - goal, slope);
    };
    low /= a;
    double high = math::log(2 * a + 1500), t = is_upper ? math::log(a) : low;
    double x = math::exp(root_between(miss, std::fmin(low, high), high, std::fmax(t, low)));
    double density = gamma_density(a, x), rest = (is_upper ? gammaincc(a, x) : gammainc(a, x)) - p;
    double better = x + (is_upper ? rest : -rest) / density;
    return std::fabs(better - x) < 1e-8 * x ? better : x;
}
inline double gamma_inverse(double a, double p, bool is_upper) {
    if (!(a > 0) || !(p >= 0 && p <= 1)) return std::numeric_limits<double>::quiet_NaN();
    if (p == 0 || p == 1) return (p == 1) == is_upper ? 0 : std::numeric_limits<double>::infinity();
    return p <= 0.5 ? gamma_quantile(a, p, is_upper) : gamma_quantile(a, 1 - p, !is_upper);
}
inline double gammaincinv(double a, double p) { return gamma_inverse(a, p, false); }
inline double gammainccinv(double a, double p) { return gamma_inverse(a, p, true); }

// The incomplete beta function, y = 1 - x.
inline double beta_up_to(double a, double b, double x, double y) {
    if (x == 0 || y == 0) return y == 0;
    return is_lower_beta(a, b, x) ? lower_beta(a, b, x, y) : 1 - lower_beta(b, a, y, x);
}
// log(x / (1 - x)) where the incomplete beta function is p <= 1/2.
inline double beta_log_odds(double a, double b, double p) {
    double goal = math::log(p);
    auto miss = [=](double t) {
        double x = expit(t), y = expit(-t), reached = beta_up_to(a, b, x, y);
        return Dual(math::log(reached) - goal, beta_factor(a, b, x, y) / reached);
    };
    return root_between(miss, -745, 745, math::log(a / b));
}
inline double beta_inverse(double a, double b, double p, bool is_upper) {
    if (!(a > 0 && b > 0) || !(p >= 0 && p <= 1)) return std::numeric_limits<double>::quiet_NaN();
    if (p == 0 || p == 1) return (p == 1) != is_upper;
    if (is_upper) return p <= 0.5 ? expit(-beta_log_odds(b, a, p)) : expit(beta_log_odds(a, b, 1 - p));
    return p <= 0.5 ? expit(beta_log_odds(a, b, p)) : expit(-beta_log_odds(b, a, 1 - p));
}
inline double betaincinv(double a, double b, double p) { return beta_inverse(a, b, p, false); }
inline double betainccinv(double a, double b, double p) { return beta_inverse(a, b, p, true); }

// In single precision, computed in double precision.
inline float gammaincinv(float a, float p) { return float(gammaincinv(double(a), double(p))); }
inline float gammainccinv(float a, float p) { return float(gammainccinv(double(a), double(p))); }
inline float betaincinv(float a, float b, float p) { return float(betaincinv(double(a), double(b), double(p))); }
inline float betainccinv(float a, float b, float p) { return float(betainccinv(double(a), double(b), double(p))); }

}  // namespace sdfgad
