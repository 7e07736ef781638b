// Discrete Fourier transforms of the lines of an array along any of its axes: of complex numbers, of real numbers to half
// their spectrum, and back. An array is (outer, n, inner), and n its axis.
#pragma once
#include "fourier_lines.h"

namespace sdfgad {
namespace dft {

// Spectrum of n = 2h real numbers from that of the h pairs of neighbours: Z has the even ones' and, times i, the odd
// ones' spectrum.
template <typename V, typename R>
inline void unpack(const Pair<V>* z, Pair<V>* spectrum, int64_t h, const complex<R>* roots) {
    for (int64_t k = 1; 2 * k <= h; k++) {
        const Pair<V> a = z[k], b = z[h - k].conjugate(), sum = a + b;
        const Pair<V> even = sum.scaled(R(0.5));
        const Pair<V> difference = a - b, odd = Pair<V>{difference.im * R(0.5), -difference.re * R(0.5)} * roots[k];
        spectrum[k] = even + odd;
        spectrum[h - k] = (even - odd).conjugate();
    }
    const Pair<V> ends = z[0];
    spectrum[0] = {ends.re + ends.im, V{}};
    spectrum[h] = {ends.re - ends.im, V{}};
}

// The reverse, for an inverse transform: its parts are swapped.
template <typename V, typename R>
inline void pack(const Pair<V>* spectrum, Pair<V>* z, int64_t h, const complex<R>* roots) {
    for (int64_t k = 1; 2 * k <= h; k++) {
        const Pair<V> a = spectrum[k], b = spectrum[h - k].conjugate();
        const Pair<V> even = a + b, odd = (a - b) * conj(roots[k]);
        z[k] = (even + odd.times_i()).swapped();
        z[h - k] = (even.conjugate() + odd.conjugate().times_i()).swapped();
    }
    const V first = spectrum[0].re, last = spectrum[h].re;
    z[0] = {first - last, first + last};
}

// A transform of lines: where these are, how many values each has, and what is done before and after a transform of
// `core` complex numbers.
template <typename R> struct Complex {
    Complex(int64_t n, int64_t inner, int sign) : core(n), in(n), out(n), sign(sign) {
        from = to = {inner, 2 * n * inner, 2, 2 * inner, 1};
    }

    template <typename V, typename P> Pair<V>* operator()(const P& plan, Pair<V>* values, Pair<V>* other, Pair<V>* scratch) const {
        if (sign > 0) swap_parts(values, core);
        Pair<V>* result = plan(values, other, scratch);
        if (sign > 0) swap_parts(result, core);
        return result;
    }

    int64_t core, in, out;
    int sign;
    Lines from, to;
};

template <typename R> inline Lines real_lines(int64_t n, int64_t inner) {
    return n % 2 ? Lines{inner, n * inner, 1, inner, 0} : Lines{inner, n * inner, 1, 2 * inner, inner};
}
template <typename R> inline Lines half_lines(int64_t n, int64_t inner) {
    return {inner, 2 * (n / 2 + 1) * inner, 2, 2 * inner, 1};
}
// The roots that join the transforms of the even and of the odd numbers.
template <typename R> struct Joints {
    explicit Joints(int64_t n) {
        if (n % 2) return;
        roots.reserve(n / 4 + 1);
        for (int64_t k = 0; k <= n / 4; k++) roots.emplace_back(root(k, n));
    }
    Vector<complex<R>> roots;
};

template <typename R> struct RealToHalf {
    RealToHalf(int64_t n, int64_t inner, int)
        : core(n % 2 ? n : n / 2), in(core), out(n / 2 + 1), is_odd(n % 2), from(real_lines<R>(n, inner)),
          to(half_lines<R>(n, inner)), joints(plan_of<Joints<R>>(n)) {}

    template <typename V, typename P> Pair<V>* operator()(const P& plan, Pair<V>* values, Pair<V>* other, Pair<V>* scratch) const {
        Pair<V>* z = plan(values, other, scratch);
        if (is_odd) return z;
        Pair<V>* spectrum = z == values ? other : values;
        unpack(z, spectrum, core, joints->roots.data());
        return spectrum;
    }

    int64_t core, in, out;
    bool is_odd;
    Lines from, to;
    std::shared_ptr<const Joints<R>> joints;
};

template <typename R> struct HalfToReal {
    HalfToReal(int64_t n, int64_t inner, int)
        : core(n % 2 ? n : n / 2), in(n / 2 + 1), out(core), is_odd(n % 2), from(half_lines<R>(n, inner)),
          to(real_lines<R>(n, inner)), joints(plan_of<Joints<R>>(n)) {}

    template <typename V, typename P> Pair<V>* operator()(const P& plan, Pair<V>* values, Pair<V>* other, Pair<V>* scratch) const {
        Pair<V>*z = is_odd ? values : other, *free = is_odd ? other : values;
        if (is_odd) mirror(z);
        else pack(values, z, core, joints->roots.data());
        Pair<V>* result = plan(z, free, scratch);
        swap_parts(result, core);
        return result;
    }

    // The whole spectrum, with swapped parts.
    template <typename V> void mirror(Pair<V>* z) const {
        z[0] = {V{}, z[0].re};
        for (int64_t k = 1; k < in; k++) {
            z[core - k] = z[k].conjugate().swapped();
            z[k] = z[k].swapped();
        }
    }

    int64_t core, in, out;
    bool is_odd;
    Lines from, to;
    std::shared_ptr<const Joints<R>> joints;
};

// From this length on each line is transformed by itself: the lanes' buffers would not fit the caches.
constexpr int64_t longest_in_lanes = 2048;
// Threads share the lines in at most so many parts of at least so many values, whatever their number.
constexpr int64_t most_parts = 4, smallest_part = 1 << 15;

// The transform of all lines of an array: in lanes, or by itself each, where it is long or lanes would remain empty.
template <typename R, typename Kind> class Transform {
public:
    Transform(const Kind& kind, int64_t lines) : kind(kind), lines(lines), in_lanes(number_in_lanes()) {}

    void operator()(const R* in, R* out) const {
        if (in_lanes) by_lanes(in, out);
        if (in_lanes < lines) by_line(in, out);
    }

private:
    static constexpr int W = lanes::count<R>;

    int64_t number_in_lanes() const {
        if (kind.core >= longest_in_lanes) return 0;
        return lines % W > W / 2 ? lines : lines - lines % W;
    }

    void by_lanes(const R* in, R* out) const {
        const auto plan = plan_of<Plan<R, Smooth<R>>>(kind.core);
        in_parts<Lanes<R>>((in_lanes + W - 1) / W, *plan, [&](int64_t group, Lanes<R>* values, auto... buffers) {
            const int64_t first = group * W;
            const int some = int(std::min<int64_t>(W, in_lanes - first));
            load(in, kind.from, first, some, kind.in, values);
            store(out, kind.to, first, some, kind.out, kind(*plan, values, buffers...));
        });
    }

    void by_line(const R* in, R* out) const {
        const auto plan = plan_of<Plan<R, Split<R>>>(kind.core);
        in_parts<Pair<R>>(lines - in_lanes, *plan, [&](int64_t line, Pair<R>* values, auto... buffers) {
            const R* from = in + kind.from.place(in_lanes + line);
            for (int64_t k = 0; k < kind.in; k++, from += kind.from.step)
                values[k] = {from[0], kind.from.gap ? from[kind.from.gap] : R(0)};
            const Pair<R>* result = kind(*plan, values, buffers...);
            R* to = out + kind.to.place(in_lanes + line);
            for (int64_t k = 0; k < kind.out; k++, to += kind.to.step) {
                to[0] = result[k].re;
                if (kind.to.gap) to[kind.to.gap] = result[k].im;
            }
        });
    }

    // Calls `transform` for each group of lines, with two buffers of values and the plan's scratch.
    template <typename Value, typename P, typename Body>
    void in_parts(int64_t groups, const P& plan, const Body& transform) const {
        const int64_t size = (std::max({plan.size, kind.in, kind.out}) + 7) / 8 * 8;
        const int64_t whole = 2 * size + plan.scratch_size();
        const int64_t parts = std::clamp<int64_t>(lines * kind.core / smallest_part, 1, std::min(groups, most_parts));
        auto buffers = array<Value>(whole * parts);
        const auto run = [&](int64_t part) {
            Value* values = buffers.get() + whole * part;
            for (int64_t group = groups * part / parts; group < groups * (part + 1) / parts; group++)
                transform(group, values, values + size, values + 2 * size);
        };
        if (parts == 1) return run(0);
#pragma omp parallel for schedule(dynamic)
        for (int64_t part = 0; part < parts; part++) run(part);
    }

    const Kind& kind;
    int64_t lines, in_lanes;
};

template <typename R, template <typename> typename Kind>
inline int transform(const R* in, R* out, int64_t outer, int64_t n, int64_t inner, int sign) {
    if (outer * inner == 0 || n == 0) return 0;
    const Kind<R> kind(n, inner, sign);
    Transform<R, Kind<R>>(kind, outer * inner)(in, out);
    return 0;
}

}  // namespace dft

// The unnormalised transform: out[k] = sum over j of in[j] exp(sign 2 pi i j k / n).
template <typename R>
int fourier(const complex<R>* in, complex<R>* out, int64_t outer, int64_t n, int64_t inner, int sign) {
    return dft::transform<R, dft::Complex>(&in->re, &out->re, outer, n, inner, sign);
}

// The first n / 2 + 1 values of the transform of real numbers, with the sign -1.
template <typename R>
int real_fourier(const R* in, complex<R>* out, int64_t outer, int64_t n, int64_t inner) {
    return dft::transform<R, dft::RealToHalf>(in, &out->re, outer, n, inner, -1);
}

// The n real numbers, unnormalised, with the first n / 2 + 1 values of the spectrum: what is imaginary of the first, and for
// an even n of the last one, is ignored.
template <typename R>
int half_fourier(const complex<R>* in, R* out, int64_t outer, int64_t n, int64_t inner) {
    return dft::transform<R, dft::HalfToReal>(&in->re, out, outer, n, inner, 1);
}

// sdfgad compiles them once, and links them to the programs that call them (separate/fourier.cpp); DaCe compiles them with
// each program.
#ifdef SDFGAD_SEPARATE
#define SDFGAD_ELSEWHERE(R)                                                                             \
    extern template int fourier(const complex<R>*, complex<R>*, int64_t, int64_t, int64_t, int);        \
    extern template int real_fourier(const R*, complex<R>*, int64_t, int64_t, int64_t);                 \
    extern template int half_fourier(const complex<R>*, R*, int64_t, int64_t, int64_t);
SDFGAD_ELSEWHERE(float)
SDFGAD_ELSEWHERE(double)
#endif

}  // namespace sdfgad
