// Bessel functions and modified Bessel functions of real orders >= 0 and of positive numbers, in double precision.
//
// At an order in [-1/2, 1/2], or near the argument, from Temme's series or a continued fraction; from there by
// recurrence. N. M. Temme, J. Comput. Phys. 19 (1975), 324 and 21 (1976), 343; A. R. Barnett et al., Comput. Phys.
// Commun. 8 (1974), 377. Formulas 10.x.y are those of the NIST Digital Library of Mathematical Functions.
#pragma once
#include <cmath>
#include <limits>

namespace sdfgad::cylinder {

constexpr double half_turn = 3.14159265358979323846, precision = 2e-16, tiny = 1e-280;
// Recurrences take a step for each order.
constexpr double most = 1e6;

// Two solutions of an equation, or one at two orders.
struct Pair {
    double first, second;
};

// (1 / Gamma(1 - m) - 1 / Gamma(1 + m)) / (2 m), and half of the sum of the two: by the series of 1 / Gamma(1 + m).
inline Pair gamma_parts(double m) {
    constexpr double series[] = {
        1.0, 0.5772156649015328606, -0.6558780715202538811, -0.04200263503409523553, 0.1665386113822914895,
        -0.04219773455554433675, -0.009621971527876973562, 0.007218943246663099542, -0.001165167591859065112,
        -0.0002152416741149509728, 0.0001280502823881161862, -0.00002013485478078823866, -1.250493482142670657e-6,
        1.133027231981695882e-6, -2.056338416977607103e-7, 6.116095104481415818e-9, 5.00200764446922293e-9,
        -1.181274570487020145e-9, 1.04342671169110051e-10, 7.782263439905071254e-12, -3.696805618642205708e-12,
        5.100370287454475979e-13,
    };
    double odd = 0, even = 0, square = m * m;
    for (int k = 20; k >= 0; k -= 2) {
        even = even * square + series[k];
        odd = odd * square + series[k + 1];
    }
    return {-odd, even};
}

// What both of Temme's series begin with: f without its leading factor, (x / 2)^m, 1 / Gamma(1 + m), 1 / Gamma(1 - m).
struct Start {
    double f, power, upper, lower;
};
inline Start start_of_series(double x, double m) {
    const Pair parts = gamma_parts(m);
    const double turn = half_turn * m, scale = turn == 0 ? 1 : turn / std::sin(turn);
    const double l = -std::log(0.5 * x), s = m * l, ratio = s == 0 ? 1 : std::sinh(s) / s;
    const double f = scale * (std::cosh(s) * parts.first + ratio * l * parts.second);
    return {f, std::exp(-s), parts.second - m * parts.first, parts.second + m * parts.first};
}

// Y of the orders m and m + 1, for x < 2.
inline Pair second_kind_series(double x, double m) {
    const Start start = start_of_series(x, m);
    const double sine = std::sin(0.5 * half_turn * m), share = m == 0 ? 0 : 2 / m * sine * sine;
    double f = 2 / half_turn * start.f, p = 1 / (half_turn * start.power * start.upper);
    double q = start.power / (half_turn * start.lower), c = 1, g = f + share * q, sum = g, next = p;
    for (int k = 1; k < 100; ++k) {
        f = (k * f + p + q) / (k * k - m * m);
        p /= k - m;
        q /= k + m;
        c *= -0.25 * x * x / k;
        g = f + share * q;
        sum += c * g;
        next += c * (p - k * g);
        if (std::fabs(c * g) < 1e-18 * (1 + std::fabs(sum)) && std::fabs(c * k * g) < 1e-18 * std::fabs(next)) break;
    }
    return {-sum, -2 / x * next};
}

// K of the orders m and m + 1, for x < 2.
inline Pair modified_second_series(double x, double m) {
    const Start start = start_of_series(x, m);
    double f = start.f, p = 0.5 / (start.power * start.upper), q = 0.5 * start.power / start.lower;
    double c = 1, sum = f, next = p;
    for (int k = 1; k < 100; ++k) {
        f = (k * f + p + q) / (k * k - m * m);
        p /= k - m;
        q /= k + m;
        c *= 0.25 * x * x / k;
        sum += c * f;
        next += c * (p - k * f);
        if (c * f < 1e-18 * sum) break;
    }
    return {sum, 2 / x * next};
}

// The logarithmic derivative of J (sign -1) or I (sign 1) of an order: a continued fraction (10.10.1, 10.33.1), by
// Lentz's method. `second` is the sign of the function, from those of the denominators.
inline Pair logarithmic_derivative(double x, double order, int sign) {
    double h = order / x, c, d = 0, side = 1;
    if (std::fabs(h) < tiny) h = tiny;
    c = h;
    for (int k = 1; k < 1000000; ++k) {
        const double b = 2 * (order + k) / x;
        d = b + sign * d;
        if (std::fabs(d) < tiny) d = tiny;
        c = b + sign / c;
        if (std::fabs(c) < tiny) c = tiny;
        d = 1 / d;
        if (d < 0) side = -side;
        h *= c * d;
        if (!(std::fabs(c * d - 1) > precision)) break;
    }
    return {h, side};
}

// p + iq, the logarithmic derivative of J + iY, for x >= 2: a continued fraction, by Steed's method in complex numbers.
inline Pair outgoing_derivative(double x, double m) {
    // The fraction a1 / (b1 + a2 / (b2 + …)), a = (k - 1/2)^2 - m^2, b = 2 (x + ik): a sum of steps, one for each k.
    double a = 0.25 - m * m, re = 2 * x, im = 2, size = re * re + im * im;
    double d_re = re / size, d_im = -im / size, step_re = a * d_re, step_im = a * d_im;
    double sum_re = step_re, sum_im = step_im;
    for (int k = 2; k < 10000; ++k) {
        a += 2 * (k - 1);
        im += 2;
        const double to_re = re + a * d_re, to_im = im + a * d_im;
        size = to_re * to_re + to_im * to_im;
        d_re = to_re / size;
        d_im = -to_im / size;
        const double by_re = re * d_re - im * d_im - 1, by_im = re * d_im + im * d_re;
        const double last = step_re;
        step_re = step_re * by_re - step_im * by_im;
        step_im = last * by_im + step_im * by_re;
        sum_re += step_re;
        sum_im += step_im;
        if (!(std::fabs(step_re) + std::fabs(step_im) > 1e-17 * (std::fabs(sum_re) + std::fabs(sum_im)))) break;
    }
    // i / x times the sum.
    return {-0.5 / x - sum_im / x, 1 + sum_re / x};
}

// K of the orders m and m + 1 times exp(x), for x >= 2: Temme's sum with Steed's method for the continued fraction.
inline Pair scaled_second_fraction(double x, double m) {
    double b = 2 * (1 + x), d = 1 / b, step = d, h = d, a = m * m - 0.25;
    double before = 0, now = 1, c = -a, q = c, sum = 1 + q * step;
    for (int k = 2; k < 100000; ++k) {
        a -= 2 * (k - 1);
        c *= -a / k;
        const double after = (before - b * now) / a;
        before = now;
        now = after;
        q += c * after;
        b += 2;
        d = 1 / (b + a * d);
        step *= b * d - 1;
        h += step;
        sum += q * step;
        if (!(std::fabs(q * step) > precision * std::fabs(sum))) break;
    }
    const double k = std::sqrt(half_turn / (2 * x)) / sum;
    return {k, k * (m + x + 0.5 + (m * m - 0.25) * h) / x};
}

// J and Y by Hankel's expansions (10.17.3, 10.17.4), for x that is large beside the square of the order.
inline Pair far_away(double x, double order) {
    double even = 1, odd = 0, term = 1;
    for (int k = 1; k < 2 * x; ++k) {
        const double double_order = 2 * order, step = 2 * k - 1;
        term *= (double_order - step) * (double_order + step) / (8 * x * k);
        (k % 2 ? odd : even) += k % 4 < 2 ? term : -term;
        if (!(std::fabs(term) > 1e-18)) break;
    }
    // The phase x - (order / 2 + 1 / 4) pi: the multiple of pi is reduced before, not with x.
    const double phase = half_turn * std::fmod(0.5 * order + 0.25, 2), s = std::sin(phase), c = std::cos(phase);
    const double sine = std::sin(x) * c - std::cos(x) * s, cosine = std::cos(x) * c + std::sin(x) * s;
    const double scale = std::sqrt(2 / (half_turn * x));
    return {scale * (cosine * even - sine * odd), scale * (sine * even + cosine * odd)};
}

// J by its power series (10.2.2), for x < 2.
inline double first_kind_series(double x, double order) {
    double term = std::pow(0.5 * x, order) / std::tgamma(order + 1), sum = term;
    for (int k = 1; std::fabs(term) > 1e-18 * std::fabs(sum); ++k) {
        term *= -0.25 * x * x / (k * (k + order));
        sum += term;
    }
    return sum;
}

// A solution and its derivative at an order, but for a factor, from those at a higher one; `scale` is what those were
// multiplied by.
struct Lowered {
    double value, slope, scale;
};
inline Lowered lowered(Pair given, double x, double order, int steps) {
    Lowered now = {given.first, given.second, 1};
    for (int k = 0; k < steps; ++k) {
        const double l = order - k, below = l / x * now.value + now.slope;
        now.slope = (l - 1) / x * below - now.value;
        now.value = below;
        if (std::fabs(below) > 1e250) now = {below * 1e-250, now.slope * 1e-250, now.scale * 1e-250};
    }
    return now;
}

// Y of an order that is `steps` above m, from those of m and m + 1.
inline double raised(Pair y, double x, double m, int steps) {
    for (int k = 1; k <= steps; ++k) y = {y.second, 2 * (m + k) / x * y.second - y.first};
    return y.first == y.first ? y.first : -std::numeric_limits<double>::infinity();
}

// J and Y for x >= 2: from the logarithmic derivatives of J and of J + iY, and Wronski's determinant.
inline Pair steed(double x, double order) {
    const int steps = order > x - 1.5 ? int(order - x + 1.5) : 0;
    const double m = order - steps;
    const Pair own = logarithmic_derivative(x, order, -1), outgoing = outgoing_derivative(x, m);
    const double start = own.second * tiny;
    Lowered low = lowered({start, own.first * start}, x, order, steps);
    if (low.value == 0) low.value = tiny;
    const double miss = outgoing.first - low.slope / low.value, ratio = miss / outgoing.second;
    const double size = std::sqrt(2 / (half_turn * x) / (miss * ratio + outgoing.second));
    const double j = std::copysign(size, low.value), y = ratio * j;
    const double next = m / x * y - (outgoing.first * y + outgoing.second * j);
    return {j * (start * low.scale / low.value), raised({y, next}, x, m, steps)};
}

// J and Y of an order >= 0.
inline Pair oscillating(double x, double order) {
    if (!(x >= 0) || !(order >= 0 && order < most)) return {x - x + NAN, x - x + NAN};
    if (x == 0) return {order == 0 ? 1.0 : 0.0, -std::numeric_limits<double>::infinity()};
    if (x > 25 && x > 0.5 * order * order) return far_away(x, order);
    if (x >= 2) return steed(x, order);
    const int steps = int(order + 0.5);
    const double m = order - steps;
    return {first_kind_series(x, order), raised(second_kind_series(x, m), x, m, steps)};
}

// K of an order >= 0 and of the next one, times exp(x).
inline Pair scaled_second(double x, double order) {
    const int steps = int(order + 0.5);
    const double m = order - steps;
    Pair k = x < 2 ? modified_second_series(x, m) : scaled_second_fraction(x, m);
    if (x < 2) {
        k.first *= std::exp(x);
        k.second *= std::exp(x);
    }
    for (int l = 1; l <= steps; ++l) k = {k.second, 2 * (m + l) / x * k.second + k.first};
    return k;
}
inline double modified_second(double x, double order) {
    if (!(x >= 0) || !(order >= 0 && order < most)) return x - x + NAN;
    return x == 0 ? std::numeric_limits<double>::infinity() : scaled_second(x, order).first * std::exp(-x);
}

// I of an order >= 0: by Wronski's determinant with K (10.28.2), which does not cancel.
inline double modified_first(double x, double order) {
    if (!(x >= 0) || !(order >= 0 && order < most)) return x - x + NAN;
    if (x == 0) return order == 0 ? 1 : 0;
    const Pair k = scaled_second(x, order);
    const double slope = logarithmic_derivative(x, order, 1).first, root = std::exp(0.5 * x);
    const double scaled = 1 / (x * (slope * k.first - (order / x * k.first - k.second)));
    return scaled * root * root;
}

}  // namespace sdfgad::cylinder
