// Discrete Fourier transforms of any length.
//
// Stockham's algorithm, with a pass for each factor of the length; a length with a large prime factor becomes a
// convolution of a smooth length (Bluestein).
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "complex_number.h"
#include "memory.h"

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

// The transform of P values. For an odd P, those at distance k and P - k from the first are taken together.
template <int P, typename R> inline void butterfly(complex<R> (&x)[P], const complex<R> (&roots)[P]) {
    constexpr int half = P / 2;
    complex<R> sums[half], differences[half], first = x[0];
    for (int j = 0; j < half; j++) {
        sums[j] = x[j + 1] + x[P - 1 - j];
        differences[j] = x[j + 1] - x[P - 1 - j];
        x[0] += sums[j];
    }
    for (int k = 1; k <= half; k++) {
        complex<R> even = first + sums[0] * roots[k].re, odd = differences[0] * roots[k].im;
        for (int j = 1; j < half; j++) {
            complex<R> w = roots[k * (j + 1) % P];
            even += sums[j] * w.re;
            odd += differences[j] * w.im;
        }
        x[k] = {even.re - odd.im, even.im + odd.re};
        x[P - k] = {even.re + odd.im, even.im - odd.re};
    }
}

template <typename R> inline void butterfly(complex<R> (&x)[2], const complex<R> (&)[2]) {
    complex<R> first = x[0];
    x[0] = first + x[1];
    x[1] = first - x[1];
}

template <typename R> inline void butterfly(complex<R> (&x)[4], const complex<R> (&)[4]) {
    complex<R> a = x[0] + x[2], b = x[0] - x[2], c = x[1] + x[3], d = x[1] - x[3];
    x[0] = a + c;
    x[2] = a - c;
    x[1] = {b.re + d.im, b.im - d.re};
    x[3] = {b.re - d.im, b.im + d.re};
}

// Transforms of `factor` values each; `stride` of them are interleaved, for each of `count` groups.
template <typename R> struct Pass {
    int factor;
    int64_t count, stride;
    Vector<complex<R>> twiddles;

    template <int P> void run(const complex<R>* in, complex<R>* out) const {
        complex<R> roots[P];
        for (int j = 0; j < P; j++) roots[j] = complex<R>(root(j, P));
        // The first group's twiddles are 1; in the last pass it is the only one.
        group<P, false>(in, out, roots, nullptr);
        for (int64_t k = 1; k < count; k++)
            group<P, true>(in + stride * k, out + stride * P * k, roots, &twiddles[k * P]);
    }

    template <int P, bool is_twisted>
    void group(
        const complex<R>* __restrict in, complex<R>* __restrict out, const complex<R> (&roots)[P],
        const complex<R>* w
    ) const {
        for (int64_t q = 0; q < stride; q++) {
            complex<R> x[P];
            for (int j = 0; j < P; j++) x[j] = in[q + stride * count * j];
            butterfly(x, roots);
            out[q] = x[0];
            for (int j = 1; j < P; j++) out[q + stride * j] = is_twisted ? x[j] * w[j] : x[j];
        }
    }

    void operator()(const complex<R>* in, complex<R>* out) const {
        switch (factor) {
            case 2: return run<2>(in, out);
            case 3: return run<3>(in, out);
            case 4: return run<4>(in, out);
            case 5: return run<5>(in, out);
            case 7: return run<7>(in, out);
        }
    }
};

// The transform of a length whose prime factors are at most 7.
template <typename R> class Smooth {
public:
    explicit Smooth(int64_t n) : n(n) {
        int64_t count = n, stride = 1;
        passes.reserve(most_passes);
        for (int factor : {4, 2, 3, 5, 7})
            for (; count % factor == 0; stride *= factor) {
                count /= factor;
                passes.push_back({factor, count, stride, {}});
                passes.back().twiddles.reserve(count * factor);
                for (int64_t k = 0; k < count; k++)
                    for (int j = 0; j < factor; j++) passes.back().twiddles.emplace_back(root(j * k, count * factor));
            }
    }

    int64_t scratch_size() const { return passes.size() > 1 ? n : 0; }

    void operator()(const complex<R>* in, complex<R>* out, complex<R>* scratch) const {
        if (passes.empty()) std::copy_n(in, n, out);
        for (size_t left = passes.size(); left > 0; left--) {
            complex<R>* target = left % 2 ? out : scratch;
            passes[passes.size() - left](in, target);
            in = target;
        }
    }

private:
    static constexpr int most_passes = 40;  // 3^40 is more than a length can be.

    int64_t n;
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

// The transform of any other length: jk = (j^2 + k^2 - (j - k)^2) / 2 makes it a convolution.
template <typename R> class Bluestein {
public:
    explicit Bluestein(int64_t n) : n(n), size(next_smooth(2 * n - 1)), transform(size), chirp(n), kernel(size) {
        for (int64_t k = 0; k < n; k++) chirp[k] = complex<R>(root(square(k), 2 * n));
        Vector<complex<R>> values(size), scratch(size);
        for (int64_t k = 0; k < n; k++) values[k] = values[(size - k) % size] = conj(chirp[k]) / R(size);
        transform(values.data(), kernel.data(), scratch.data());
    }

    int64_t scratch_size() const { return 3 * size; }

    void operator()(const complex<R>* in, complex<R>* out, complex<R>* scratch) const {
        complex<R>*values = scratch + size, *spectrum = scratch + 2 * size;
        for (int64_t k = 0; k < n; k++) values[k] = in[k] * chirp[k];
        std::fill(values + n, values + size, 0);
        transform(values, spectrum, scratch);
        for (int64_t k = 0; k < size; k++) spectrum[k] = spectrum[k] * kernel[k];
        transform(spectrum, values, scratch);
        // The inverse transform is the transform read backwards.
        for (int64_t k = 0; k < n; k++) out[k] = values[(size - k) % size] * chirp[k];
    }

private:
    // k^2 modulo 2n, without overflow for any n that fits in memory.
    int64_t square(int64_t k) const { return int64_t(__int128(k) * k % (2 * n)); }

    int64_t n, size;
    Smooth<R> transform;
    Vector<complex<R>> chirp, kernel;
};

// The plan of a length, kept for later calls. A program with ever new lengths must not fill the memory.
// Internal linkage: each library counts its own plans.
template <typename Plan> static std::shared_ptr<const Plan> plan_of(int64_t n) {
    static std::mutex mutex;
    static std::unordered_map<int64_t, std::shared_ptr<const Plan>> plans;
    std::lock_guard<std::mutex> guard(mutex);
    std::shared_ptr<const Plan>& plan = plans[n];
    if (plan) return plan;
    auto made = std::make_shared<const Plan>(n);
    if (plans.size() > 64) plans.clear();
    return plans[n] = made;
}

template <typename Plan, typename R>
inline void transform_rows(const complex<R>* in, complex<R>* out, int64_t batch, int64_t n, int sign) {
    auto plan = plan_of<Plan>(n);
    auto scratch = array<complex<R>>(plan->scratch_size());
    for (int64_t row = 0; row < batch; row++, in += n, out += n) {
        (*plan)(in, out, scratch.get());
        if (sign > 0) std::reverse(out + 1, out + n);
    }
}

}  // namespace dft

// The unnormalised transform of each row: out[k] = sum over j of in[j] exp(sign 2 pi i j k / n).
template <typename R>
inline int fourier(const complex<R>* in, complex<R>* out, int64_t batch, int64_t n, int sign) {
    if (batch == 0 || n == 0) return 0;
    if (dft::is_smooth(n)) dft::transform_rows<dft::Smooth<R>>(in, out, batch, n, sign);
    else dft::transform_rows<dft::Bluestein<R>>(in, out, batch, n, sign);
    return 0;
}

}  // namespace sdfgad
