// Lines of an array, loaded into lanes and stored from them; transforms of single lines, by lanes as well, and of any length.
//
// A length with a large prime factor becomes a convolution of a smooth length (Bluestein).
#pragma once
#include "fourier_passes.h"

namespace sdfgad {
namespace dft {

// Where the values of lines lie, in real numbers: `width` from a line to the next of `inner` neighbours, `pitch` from
// such neighbours to the next, `step` from a value to the next, `gap` from its real to its imaginary part (0: it is 0).
struct Lines {
    int64_t inner, pitch, width, step, gap;

    int64_t place(int64_t line) const { return line / inner * pitch + line % inner * width; }
    bool are_neighbours(int64_t line, int count) const { return line % inner + count <= inner; }
    bool are_contiguous() const { return step == 2 && gap == 1; }
};

template <typename R> inline R* parts(Lanes<R>* values) { return reinterpret_cast<R*>(values); }
template <typename R> inline const R* parts(const Lanes<R>* values) { return reinterpret_cast<const R*>(values); }

// Loads `n` values of each of the `lines` lines from the given one on; lanes without a line are zero.
template <typename R> inline void load(const R* array, Lines at, int64_t first, int lines, int64_t n, Lanes<R>* to) {
    constexpr int W = lanes::count<R>;
    int64_t j = 0;
    if (lines == W && at.are_neighbours(first, W)) {
        const R* from = array + at.place(first);
        if (at.width == 2)
            for (; j < n; j++, from += at.step) {
                const auto a = lanes::load(from), b = lanes::load(from + W);
                to[j] = {lanes::evens<R>(a, b), lanes::odds<R>(a, b)};
            }
        else
            for (; j < n; j++, from += at.step)
                to[j] = {lanes::load(from), at.gap ? lanes::load(from + at.gap) : lanes::Vector<R>{}};
    } else if (lines == W && at.are_contiguous()) {
        for (; j + W <= n; j += W) {
            lanes::Vector<R> re[W], im[W];
            for (int l = 0; l < W; l++) {
                const R* from = array + at.place(first + l) + 2 * j;
                const auto a = lanes::load(from), b = lanes::load(from + W);
                re[l] = lanes::evens<R>(a, b);
                im[l] = lanes::odds<R>(a, b);
            }
            lanes::transpose<R>(re);
            lanes::transpose<R>(im);
            for (int l = 0; l < W; l++) to[j + l] = {re[l], im[l]};
        }
    }
    if (lines < W) std::fill(to + j, to + n, Lanes<R>{});
    for (int l = 0; l < lines; l++) {
        const R* from = array + at.place(first + l) + j * at.step;
        R* lane = parts<R>(to + j) + l;
        for (int64_t i = j; i < n; i++, from += at.step, lane += 2 * W) {
            lane[0] = from[0];
            lane[W] = at.gap ? from[at.gap] : R(0);
        }
    }
}

// The reverse of `load`.
template <typename R>
inline void store(R* array, Lines at, int64_t first, int lines, int64_t n, const Lanes<R>* values) {
    constexpr int W = lanes::count<R>;
    int64_t j = 0;
    if (lines == W && at.are_neighbours(first, W)) {
        R* to = array + at.place(first);
        for (; j < n; j++, to += at.step) {
            const Lanes<R> x = values[j];
            if (at.width == 2) {
                lanes::store(to, lanes::lower_pairs<R>(x.re, x.im));
                lanes::store(to + W, lanes::upper_pairs<R>(x.re, x.im));
            } else {
                lanes::store(to, x.re);
                if (at.gap) lanes::store(to + at.gap, x.im);
            }
        }
    } else if (lines == W && at.are_contiguous()) {
        for (; j + W <= n; j += W) {
            lanes::Vector<R> re[W], im[W];
            for (int l = 0; l < W; l++) {
                re[l] = values[j + l].re;
                im[l] = values[j + l].im;
            }
            lanes::transpose<R>(re);
            lanes::transpose<R>(im);
            for (int l = 0; l < W; l++) {
                R* to = array + at.place(first + l) + 2 * j;
                lanes::store(to, lanes::lower_pairs<R>(re[l], im[l]));
                lanes::store(to + W, lanes::upper_pairs<R>(re[l], im[l]));
            }
        }
    }
    for (int l = 0; l < lines; l++) {
        R* to = array + at.place(first + l) + j * at.step;
        const R* lane = parts<R>(values + j) + l;
        for (int64_t i = j; i < n; i++, to += at.step, lane += 2 * W) {
            to[0] = lane[0];
            if (at.gap) to[at.gap] = lane[W];
        }
    }
}

template <typename V> inline void swap_parts(Pair<V>* values, int64_t n) {
    for (int64_t k = 0; k < n; k++) values[k] = values[k].swapped();
}

// The divisor of n next to its root, so that n = a b with a <= b.
inline int64_t divisor_of(int64_t n) {
    int64_t a = int64_t(std::sqrt(double(n)));
    while (n % a) a--;
    return a;
}

// The transform of one line of smooth length n = a b as a matrix' (four-step): of its columns, as many at once as there
// are lanes, then, twisted, of its rows.
template <typename R> class Split {
public:
    explicit Split(int64_t n) : a(divisor_of(n)), b(n / a), groups((b + W - 1) / W),
          of_columns(a >= W ? a : n), of_rows(b) {
        if (!is_worth_it()) return;
        twiddles.resize(groups * a);
        for (int64_t j = 0; j < b; j++)
            for (int64_t k = 0; k < a; k++) {
                const complex<R> w(root(j * k, n));
                R* lane = parts<R>(&twiddles[j / W * a + k]) + j % W;
                lane[0] = w.re;
                lane[W] = w.im;
            }
    }

    // In numbers.
    int64_t scratch_size() const { return (groups * a + 2 * longest()) * W; }

    Pair<R>* operator()(Pair<R>* values, Pair<R>* other, Pair<R>* scratch) const {
        Lanes<R>* twisted = reinterpret_cast<Lanes<R>*>(scratch);
        Lanes<R>*first = twisted + groups * a, *second = first + longest();
        if (!is_worth_it()) return in_one_lane(values, other, first, second);
        columns(values, twisted, first, second);
        rows(twisted, other, first, second);
        return other;
    }

private:
    static constexpr int W = lanes::count<R>;
    bool is_worth_it() const { return a >= W; }
    int64_t longest() const { return is_worth_it() ? b + W : a * b; }

    Pair<R>* in_one_lane(const Pair<R>* in, Pair<R>* out, Lanes<R>* first, Lanes<R>* second) const {
        const Lines line{1, 2 * a * b, 2, 2, 1};
        load(&in->re, line, 0, 1, a * b, first);
        store(&out->re, line, 0, 1, a * b, of_columns(first, second));
        return out;
    }

    void columns(const Pair<R>* in, Lanes<R>* twisted, Lanes<R>* first, Lanes<R>* second) const {
        for (int64_t g = 0; g < groups; g++, twisted += a) {
            const int lines = int(std::min<int64_t>(W, b - g * W));
            load(&in->re, {b, 2 * a * b, 2, 2 * b, 1}, g * W, lines, a, first);
            const Lanes<R>*x = of_columns(first, second), *w = &twiddles[g * a];
            for (int64_t k = 0; k < a; k++)
                twisted[k] = {x[k].re * w[k].re - x[k].im * w[k].im, x[k].re * w[k].im + x[k].im * w[k].re};
        }
    }

    void rows(const Lanes<R>* twisted, Pair<R>* out, Lanes<R>* first, Lanes<R>* second) const {
        for (int64_t k = 0; k < a; k += W) {
            const int lines = int(std::min<int64_t>(W, a - k));
            for (int64_t g = 0; g < groups; g++) {
                lanes::Vector<R> re[W]{}, im[W]{};
                for (int l = 0; l < lines; l++) {
                    re[l] = twisted[g * a + k + l].re;
                    im[l] = twisted[g * a + k + l].im;
                }
                lanes::transpose<R>(re);
                lanes::transpose<R>(im);
                for (int l = 0; l < W; l++) first[g * W + l] = {re[l], im[l]};
            }
            store(&out->re, {a, 2 * a * b, 2, 2 * a, 1}, k, lines, b, of_rows(first, second));
        }
    }

    int64_t a, b, groups;
    Smooth<R> of_columns, of_rows;
    Vector<Lanes<R>> twiddles;
};

// The length of the passes for n: jk = (j^2 + k^2 - (j - k)^2) / 2 makes any other transform a convolution.
inline int64_t size_of(int64_t n) { return is_smooth(n) ? n : next_smooth(2 * n - 1); }

// The transform of any length by transforms of a smooth one, `Core`, in two buffers of `size` values.
template <typename R, typename Core> class Plan {
public:
    explicit Plan(int64_t n) : n(n), size(size_of(n)), core(size) {
        if (size == n) return;
        Vector<Pair<R>> values(size), other(size);
        const Split<R> whole(size);
        auto scratch = array<Pair<R>>(whole.scratch_size());
        chirp.reserve(n);
        kernel.reserve(size);
        for (int64_t k = 0; k < n; k++) chirp.emplace_back(root(square(k), 2 * n));
        for (int64_t k = 0; k < n; k++)
            values[k] = values[(size - k) % size] = {chirp[k].re / R(size), -chirp[k].im / R(size)};
        const Pair<R>* spectrum = whole(values.data(), other.data(), scratch.get());
        for (int64_t k = 0; k < size; k++) kernel.emplace_back(spectrum[k].re, spectrum[k].im);
    }

    int64_t scratch_size() const { return core.scratch_size(); }

    // Transforms `values`, with `other` as the second buffer; the result is in the one that is returned.
    template <typename V> Pair<V>* operator()(Pair<V>* values, Pair<V>* other, Pair<V>* scratch) const {
        if (size == n) return core(values, other, scratch);
        for (int64_t k = 0; k < n; k++) values[k] = values[k] * chirp[k];
        std::fill(values + n, values + size, Pair<V>{});
        Pair<V>* spectrum = core(values, other, scratch);
        for (int64_t k = 0; k < size; k++) spectrum[k] = spectrum[k] * kernel[k];
        // The inverse transform is the transform read backwards.
        const Pair<V>* convolved = core(spectrum, spectrum == values ? other : values, scratch);
        Pair<V>* result = convolved == values ? other : values;
        for (int64_t k = 0; k < n; k++) result[k] = convolved[(size - k) % size] * chirp[k];
        return result;
    }

    const int64_t n, size;

private:
    // k^2 modulo 2n, without overflow for any n that fits in memory.
    int64_t square(int64_t k) const { return int64_t(__int128(k) * k % (2 * n)); }

    Core core;
    Vector<complex<R>> chirp, kernel;
};

}  // namespace dft
}  // namespace sdfgad
