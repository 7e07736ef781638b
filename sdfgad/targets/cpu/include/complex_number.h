// Complex numbers for generated code: a pair of real numbers.
//
// std::complex is one value to GCC, and GCC 12 gets conjugates and quotients of such values wrong where it vectorises
// loops; plain pairs it gets right, and faster. The layout is that of std::complex, and both name the same memory: so
// accesses of a pair may alias all others.
#pragma once
#include <bit>
#include <cmath>
#ifndef SDFGAD_REAL_ONLY
#include <complex>
#endif
#include <cstdint>
#include <limits>
#include <type_traits>
#include "perturb.h"

#ifdef SDFGAD_REAL_ONLY
// Programs of real numbers alone (sdfgad/runtime/headers.py) use no function that needs more of it.
namespace std {
template <typename T> class complex;
}
#endif

namespace sdfgad {

// A product that is rounded before it is added: GCC 12 makes vfmaddsub of the sums and differences of products below,
// although -ffp-contract=off forbids that.
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
template <typename R> constexpr R product(R a, R b) { return __builtin_assoc_barrier(a * b); }
#else
template <typename R> constexpr R product(R a, R b) { return a * b; }
#endif

template <typename R> struct [[gnu::may_alias]] complex {
    R re, im;

    complex() = default;
    constexpr complex(R re, R im = R(0)) : re(re), im(im) {}
    // Part by part: a copy of a whole pair would be no vector.
    constexpr complex(const complex& z) : re(z.re), im(z.im) {}
    constexpr complex& operator=(const complex& z) {
        re = z.re;
        im = z.im;
        return *this;
    }
    constexpr complex(std::complex<R> z) : re(z.real()), im(z.imag()) {}
    template <typename S> constexpr explicit(sizeof(S) > sizeof(R)) complex(complex<S> z) : re(R(z.re)), im(R(z.im)) {}
    constexpr operator std::complex<R>() const { return {re, im}; }

    // NumPy's products do not look for infinities as C's do.
    friend constexpr complex operator+(complex a, complex b) { return {a.re + b.re, a.im + b.im}; }
    friend constexpr complex operator-(complex a, complex b) { return {a.re - b.re, a.im - b.im}; }
    friend constexpr complex operator*(complex a, complex b) {
        return {product(a.re, b.re) - product(a.im, b.im), product(a.re, b.im) + product(a.im, b.re)};
    }
    friend constexpr complex operator*(complex a, R b) { return {a.re * b, a.im * b}; }
    friend constexpr complex operator/(complex a, R b) { return {a.re / b, a.im / b}; }
    friend constexpr complex operator-(complex a) { return {-a.re, -a.im}; }
    friend constexpr bool operator==(complex a, complex b) { return (a.re == b.re) & (a.im == b.im); }
    friend constexpr bool operator!=(complex a, complex b) { return !(a == b); }
    complex& operator+=(complex b) { return *this = *this + b; }
    complex& operator*=(complex b) { return *this = *this * b; }

    // Scaled by the larger part of the divisor, as NumPy does it; without branches, for vectors.
    friend complex operator/(complex a, complex b) {
        const R x = std::fabs(b.re), y = std::fabs(b.im);
        const bool is_real = x >= y, is_zero = x == 0 && y == 0;
        const R ratio = is_real ? b.im / b.re : b.re / b.im;
        const R scale = R(1) / (is_zero ? x : is_real ? b.re + b.im * ratio : b.im + b.re * ratio);
        const R re = is_zero ? R(0) : (is_real ? a.im : a.re) * ratio;
        const R im = is_zero ? R(0) : (is_real ? a.re : a.im) * ratio;
        return {((is_real ? a.re : a.im) + re) * scale, (is_real ? a.im - im : im - a.re) * scale};
    }
};

#ifndef SDFGAD_REAL_ONLY
static_assert(sizeof(complex<double>) == sizeof(std::complex<double>));
#endif

// The same numbers as an array of pairs; real ones are what they are.
template <typename T> inline T* own(T* x) { return x; }
template <typename R> inline complex<R>* own(std::complex<R>* z) { return reinterpret_cast<complex<R>*>(z); }
template <typename R> inline const complex<R>* own(const std::complex<R>* z) {
    return reinterpret_cast<const complex<R>*>(z);
}

// For functions of numbers of either kind.
inline double real(double x) { return x; }
inline float conj(float x) { return x; }
inline double conj(double x) { return x; }
template <typename R> inline R real(complex<R> z) { return z.re; }
template <typename R> inline complex<R> conj(complex<R> z) { return {z.re, -z.im}; }

// Without branches, for vectors: scaled by a power of 2 where squares would be out of range; at most 1 ulp from hypot.
template <typename R> inline R absolute(complex<R> z) {
    constexpr bool is_double = sizeof(R) == 8;
    constexpr R far = is_double ? R(0x1p+500) : R(0x1p+60), near = 1 / far;
    constexpr R up = is_double ? R(0x1p+600) : R(0x1p+100), down = 1 / up;
    const R x = std::fabs(z.re), y = std::fabs(z.im), most = x > y ? x : y;
    const R scale = most > far ? down : most < near ? up : R(1), back = most > far ? up : most < near ? down : R(1);
    // Where one part is infinite, the other one may even be NaN.
    constexpr R infinity = std::numeric_limits<R>::infinity();
    const R a = (y == infinity ? y : x) * scale, b = (x == infinity ? x : y) * scale;
    return std::sqrt(a * a + b * b) * back;
}

template <typename R> inline complex<R> reciprocal(complex<R> z) { return complex<R>(1) / z; }

// A choice by bits. Of `condition ? a : b` GCC makes a branch into which it moves the load of what is chosen; parts of
// pairs it cannot load by a mask, and so the loop around would be no vector.
template <typename R> inline R chosen(bool condition, R a, R b) {
    using Bits = std::conditional_t<sizeof(R) == 8, uint64_t, uint32_t>;
    const Bits mask = Bits(0) - Bits(condition);
    return std::bit_cast<R>((std::bit_cast<Bits>(a) & mask) | (std::bit_cast<Bits>(b) & ~mask));
}

// By a real number, as by a complex one whose imaginary part is 0: GCC makes no vectors of the choices of that, where the
// divisor is the same in all trips of a loop.
template <typename R> inline complex<R> over_real(complex<R> a, R b) {
    const bool is_zero = b == R(0);
    const R scale = R(1) / chosen(is_zero, std::fabs(b), b);
    const R re = chosen(is_zero, R(0), a.im * R(0)), im = chosen(is_zero, R(0), a.re * R(0));
    return {(a.re + re) * scale, (a.im - im) * scale};
}

// Without branches, for vectors: by halves of the exponent where it could be out of range, and with the zeros,
// infinities and NaNs of C.
template <typename R> inline complex<R> exp(complex<R> z) {
    constexpr R infinity = std::numeric_limits<R>::infinity(), most = sizeof(R) == 8 ? R(700) : R(80);
    const bool is_far = !(std::fabs(z.re) <= most), is_nowhere = !(std::fabs(z.im) < infinity);
    const R part = math::exp(chosen(is_far, z.re * R(0.5), z.re)), rest = chosen(is_far, part, R(1));
    const R c = math::cos(z.im) * part * rest, s = math::sin(z.im) * part * rest;
    // The direction of an infinity may be unknown; then so is that of its inverse, which is zero.
    const bool is_zero = is_nowhere & (z.re == -infinity), is_infinite = is_nowhere & (z.re == infinity);
    const R re = chosen(is_zero, R(0), chosen(is_infinite, infinity, c));
    return {re, chosen(is_zero, R(0), chosen(z.im == R(0), z.im, s))};
}

// What is rare or long is left to the standard library.
template <typename R> inline complex<R> log(complex<R> z) { return std::log(std::complex<R>(z)); }
template <typename R> inline complex<R> log10(complex<R> z) { return std::log10(std::complex<R>(z)); }
template <typename R> inline complex<R> sqrt(complex<R> z) { return std::sqrt(std::complex<R>(z)); }
template <typename R> inline complex<R> sin(complex<R> z) { return std::sin(std::complex<R>(z)); }
template <typename R> inline complex<R> cos(complex<R> z) { return std::cos(std::complex<R>(z)); }
template <typename R> inline complex<R> tan(complex<R> z) { return std::tan(std::complex<R>(z)); }
template <typename R> inline complex<R> asin(complex<R> z) { return std::asin(std::complex<R>(z)); }
template <typename R> inline complex<R> acos(complex<R> z) { return std::acos(std::complex<R>(z)); }
template <typename R> inline complex<R> atan(complex<R> z) { return std::atan(std::complex<R>(z)); }
template <typename R> inline complex<R> sinh(complex<R> z) { return std::sinh(std::complex<R>(z)); }
template <typename R> inline complex<R> cosh(complex<R> z) { return std::cosh(std::complex<R>(z)); }
template <typename R> inline complex<R> tanh(complex<R> z) { return std::tanh(std::complex<R>(z)); }
template <typename R> inline complex<R> asinh(complex<R> z) { return std::asinh(std::complex<R>(z)); }
template <typename R> inline complex<R> acosh(complex<R> z) { return std::acosh(std::complex<R>(z)); }
template <typename R> inline complex<R> atanh(complex<R> z) { return std::atanh(std::complex<R>(z)); }

// base^n, by squares; what the lowest bits of n have contributed is in `result`.
template <int n, typename R> inline complex<R> times_power(complex<R> result, complex<R> base) {
    if constexpr (n == 0) return result;
    else return times_power<n / 2>(n % 2 ? result * base : result, base * base);
}

// A power whose exponent is known, without branches.
template <int n, typename R> inline complex<R> power(complex<R> base) {
    if constexpr (n < 0) return reciprocal(power<-n>(base));
    else if constexpr (n == 0) return R(1);
    else if constexpr (n % 2 == 0) return power<n / 2>(base * base);
    else return times_power<n / 2>(base, base * base);
}

// Small integer powers are products, as in NumPy; 0 to a power with a positive real part is 0.
template <typename R> inline complex<R> power(complex<R> base, complex<R> exponent) {
    if (exponent == R(0)) return R(1);
    if (base == R(0) && exponent.re > 0) return R(0);
    const int64_t whole = int64_t(exponent.re);
    if (exponent.im == 0 && R(whole) == exponent.re && whole > -100 && whole < 100) {
        complex<R> result = R(1), square = base;
        for (int64_t n = whole < 0 ? -whole : whole; n > 0; n >>= 1, square = square * square)
            if (n & 1) result = result * square;
        return whole < 0 ? reciprocal(result) : result;
    }
    return std::pow(std::complex<R>(base), std::complex<R>(exponent));
}

template <typename R> inline complex<R> exp2(complex<R> z) { return exp(z * math::log(R(2))); }
template <typename R> inline complex<R> log2(complex<R> z) { return log(z) / math::log(R(2)); }

template <typename R> inline complex<R> expm1(complex<R> z) {
    const R s = math::sin(z.im / 2);
    return {math::expm1(z.re) * math::cos(z.im) - 2 * s * s, math::exp(z.re) * math::sin(z.im)};
}

template <typename R> inline complex<R> log1p(complex<R> z) {
    const R x = z.re, y = z.im;
    return {math::log1p(x * (2 + x) + y * y) / 2, math::atan2(y, 1 + x)};
}

template <typename R> inline bool is_nan(complex<R> z) { return std::isnan(z.re) || std::isnan(z.im); }
template <typename R> inline bool is_inf(complex<R> z) { return std::isinf(z.re) || std::isinf(z.im); }
template <typename R> inline bool is_finite(complex<R> z) { return std::isfinite(z.re) && std::isfinite(z.im); }

}  // namespace sdfgad
