// Discrete Fourier transforms of as many lines at once as a vector has lanes.
//
// Stockham's algorithm, with a pass for each factor of the length.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "arrays.h"
#include "complex_number.h"
#include "lanes.h"

namespace sdfgad {
namespace dft {

// exp(-2 pi i index / n). The angle is brought into the first eighth of the circle, where it is most accurate.
inline complex<double> root(int64_t index, int64_t n) {
    constexpr double pi = 3.14159265358979323846;
    int64_t eighths = 8 * (index % n), octant = eighths / n;
    int64_t rest = octant % 2 ? n - eighths % n : eighths % n;
    double angle = pi / 4 * (double(rest) / double(n)), c = std::cos(angle), s = std::sin(angle);
    if ((octant + 1) / 2 % 2) std::swap(c, s);
    return {octant < 2 || octant > 5 ? c : -c, octant < 4 ? -s : s};
}

// A complex number in each lane of two vectors; with numbers for vectors, one complex number.
template <typename V> struct Pair {
    V re, im;

    friend Pair operator+(Pair a, Pair b) { return {a.re + b.re, a.im + b.im}; }
    friend Pair operator-(Pair a, Pair b) { return {a.re - b.re, a.im - b.im}; }
    template <typename R> friend Pair operator*(Pair a, complex<R> w) {
        return {a.re * w.re - a.im * w.im, a.re * w.im + a.im * w.re};
    }
    template <typename R> Pair scaled(R s) const { return {re * s, im * s}; }
    Pair times_i() const { return {-im, re}; }
    Pair conjugate() const { return {re, -im}; }
    Pair swapped() const { return {im, re}; }
};

template <typename R> using Lanes = Pair<lanes::Vector<R>>;

// The transform of P values. For an odd P, those at distance k and P - k from the first are taken together.
template <int P, typename V, typename R> inline void butterfly(Pair<V> (&x)[P], const complex<R> (&roots)[P]) {
    constexpr int half = P / 2;
    Pair<V> sums[half], differences[half], first = x[0];
    for (int j = 0; j < half; j++) {
        sums[j] = x[j + 1] + x[P - 1 - j];
        differences[j] = x[j + 1] - x[P - 1 - j];
        x[0] = x[0] + sums[j];
    }
    for (int k = 1; k <= half; k++) {
        Pair<V> even = first + sums[0].scaled(roots[k].re), odd = differences[0].scaled(roots[k].im);
        for (int j = 1; j < half; j++) {
            const complex<R> w = roots[k * (j + 1) % P];
            even = even + sums[j].scaled(w.re);
            odd = odd + differences[j].scaled(w.im);
        }
        x[k] = even + odd.times_i();
        x[P - k] = even - odd.times_i();
    }
}

template <typename V, typename R> inline void butterfly(Pair<V> (&x)[2], const complex<R> (&)[2]) {
    const Pair<V> first = x[0];
    x[0] = first + x[1];
    x[1] = first - x[1];
}

template <typename V, typename R> inline void butterfly(Pair<V> (&x)[4], const complex<R> (&)[4]) {
    const Pair<V> a = x[0] + x[2], b = x[0] - x[2], c = x[1] + x[3], d = (x[1] - x[3]).times_i();
    x[0] = a + c;
    x[1] = b - d;
    x[2] = a - c;
    x[3] = b + d;
}

constexpr int largest_factor = 7;

// Transforms of `factor` values each; `stride` of them are interleaved, for each of `count` groups.
template <typename R> struct Pass {
    Pass(int factor, int64_t count, int64_t stride) : factor(factor), count(count), stride(stride) {
        for (int j = 0; j < factor; j++) roots[j] = complex<R>(root(j, factor));
        twiddles.reserve(count * factor);
        for (int64_t k = 0; k < count; k++)
            for (int j = 0; j < factor; j++) twiddles.emplace_back(root(j * k, count * factor));
    }

    int factor;
    int64_t count, stride;
    complex<R> roots[largest_factor];
    Vector<complex<R>> twiddles;

    template <int P, typename V> void run(const Pair<V>* in, Pair<V>* out) const {
        complex<R> roots[P];
        std::copy_n(this->roots, P, roots);
        // The first group's twiddles are 1; in the last pass it is the only one.
        group<P, false>(in, out, roots, nullptr);
        for (int64_t k = 1; k < count; k++)
            group<P, true>(in + stride * k, out + stride * P * k, roots, &twiddles[k * P]);
    }

    template <int P, bool is_twisted, typename V>
    [[gnu::always_inline]] void group(
        const Pair<V>* __restrict in, Pair<V>* __restrict out, const complex<R> (&roots)[P], const complex<R>* w
    ) const {
        for (int64_t q = 0; q < stride; q++) {
            Pair<V> x[P];
            for (int j = 0; j < P; j++) x[j] = in[q + stride * count * j];
            butterfly(x, roots);
            out[q] = x[0];
            for (int j = 1; j < P; j++) out[q + stride * j] = is_twisted ? x[j] * w[j] : x[j];
        }
    }

    template <typename V> void operator()(const Pair<V>* in, Pair<V>* out) const {
        switch (factor) {
            case 2: return run<2>(in, out);
            case 3: return run<3>(in, out);
            case 4: return run<4>(in, out);
            case 5: return run<5>(in, out);
            case 7: return run<7>(in, out);
        }
    }
};

constexpr int factors[] = {4, 2, 3, 5, 7};

inline int number_of_factors(int64_t n) {
    int number = 0;
    for (int factor : factors)
        for (; n % factor == 0; n /= factor) number++;
    return number;
}

// The transform of a length whose prime factors are at most 7.
template <typename R> class Smooth {
public:
    explicit Smooth(int64_t n) {
        passes.reserve(number_of_factors(n));
        int64_t count = n, stride = 1;
        for (int factor : factors)
            for (; count % factor == 0; stride *= factor) {
                count /= factor;
                passes.emplace_back(factor, count, stride);
            }
    }

    static int64_t scratch_size() { return 0; }

    // Transforms `values`, with `other` as the second buffer; the result is in the one that is returned.
    template <typename V> Pair<V>* operator()(Pair<V>* values, Pair<V>* other, Pair<V>* = nullptr) const {
        for (const Pass<R>& pass : passes) {
            pass(values, other);
            std::swap(values, other);
        }
        return values;
    }

private:
    Vector<Pass<R>> passes;
};

inline bool is_smooth(int64_t n) {
    for (int factor : {2, 3, 5, 7})
        while (n % factor == 0) n /= factor;
    return n == 1;
}

inline int64_t next_smooth(int64_t n) {
    while (!is_smooth(n)) n++;
    return n;
}

// What a length needs, kept for later calls. A program with ever new lengths must not fill the memory.
// Internal linkage: each library counts its own plans.
template <typename Made> static std::shared_ptr<const Made> plan_of(int64_t n) {
    static std::mutex mutex;
    static std::unordered_map<int64_t, std::shared_ptr<const Made>> plans;
    std::lock_guard<std::mutex> guard(mutex);
    std::shared_ptr<const Made>& plan = plans[n];
    if (plan) return plan;
    auto made = std::make_shared<const Made>(n);
    if (plans.size() > 64) plans.clear();
    return plans[n] = made;
}

}  // namespace dft
}  // namespace sdfgad
