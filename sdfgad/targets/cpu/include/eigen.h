// np.linalg.eig of stacks of row-major matrices.
#pragma once
#include <algorithm>
#include <cmath>

#include "linalg.h"

namespace sdfgad {
namespace lapack {

// `second` are the imaginary parts of a real matrix's eigenvalues, and a workspace for a complex one.
inline int right_vectors(char job, int n, double* a, double* w, double* second, double* v, double* work, int size) {
    const OneThread alone;
    return scipy_LAPACKE_dgeev_work(COLUMN_MAJOR, 'N', job, n, a, n, w, second, nullptr, 1, v, n, work, size);
}

inline int right_vectors(char job, int n, Complex* a, Complex* w, double* second, Complex* v, Complex* work, int size) {
    using C = Pair;
    const OneThread alone;
    return scipy_LAPACKE_zgeev_work(
        COLUMN_MAJOR, 'N', job, n, (C*)a, n, (C*)w, nullptr, 1, (C*)v, n, (C*)work, size, second
    );
}

inline bool is_finite(double x) { return std::isfinite(x); }
inline bool is_finite(Complex z) { return std::isfinite(z.re) && std::isfinite(z.im); }

// The columns v of LAPACK as a row-major matrix; those of a pair of conjugate eigenvalues are a real and an imaginary part.
template <typename C> inline void unpack(int64_t n, const double* v, const double* second, C* out) {
    using R = decltype(C::re);
    for (int64_t j = 0; j < n; j++) {
        const int64_t first = second[j] < 0 ? j - 1 : j;
        for (int64_t i = 0; i < n; i++) {
            const double im = second[j] == 0 ? 0 : v[(first + 1) * n + i];
            out[i * n + j] = C(R(v[first * n + i]), R(second[j] < 0 ? -im : im));
        }
    }
}

template <typename C> inline void unpack(int64_t n, const Complex* v, const double*, C* out) {
    transpose(v, out, n, n);
}

inline Complex value(double re, double im) { return {re, im}; }
inline Complex value(Complex w, double) { return w; }

// Without vectors ('N'), `v` is not used.
template <typename T>
inline int eigen(char job, const T* a, complex<Real<T>>* w, complex<Real<T>>* v, int64_t batch, int64_t n) {
    using W = Wide<T>;
    using C = complex<Real<T>>;
    if (n == 0) return 0;
    auto columns = array<W>(n * n), vectors = array<W>(job == 'V' ? n * n : 0), values = array<W>(n);
    auto second = array<double>(2 * n);
    W size;
    // LAPACK writes to `second` where it only says how much it needs, too.
    right_vectors(job, n, columns.get(), values.get(), second.get(), vectors.get(), &size, -1);
    int work_size = real(size);
    auto work = array<W>(work_size);
    for (int64_t i = 0; i < batch; i++, a += n * n, w += n) {
        transpose(a, columns.get(), n, n);
        if (!std::all_of(columns.get(), columns.get() + n * n, [](W x) { return is_finite(x); })) return 1;
        if (right_vectors(job, n, columns.get(), values.get(), second.get(), vectors.get(), work.get(), work_size))
            return 1;
        for (int64_t j = 0; j < n; j++) w[j] = C(value(values[j], second[j]));
        if (job == 'V') unpack(n, vectors.get(), second.get(), v + i * n * n);
    }
    return 0;
}

}  // namespace lapack

// A v = v diag(w); the columns of v have length 1, and their largest components are real.
template <typename T>
inline int eigen(const T* a, complex<lapack::Real<T>>* w, complex<lapack::Real<T>>* v, int64_t batch, int64_t n) {
    return lapack::eigen('V', a, w, v, batch, n);
}

template <typename T>
inline int only_eigenvalues(const T* a, complex<lapack::Real<T>>* w, int64_t batch, int64_t n) {
    return lapack::eigen<T>('N', a, w, nullptr, batch, n);
}

}  // namespace sdfgad
