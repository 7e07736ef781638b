// Linear algebra on stacks of column-major matrices, step by step, as libraries of devices have it: here by LAPACK.
//
// A row-major matrix is its transpose here. What can fail says so for each matrix, with a number other than 0.
#pragma once
#include <algorithm>
#include <cstdint>

#include "factored.h"
#include "products.h"

namespace sdfgad {
namespace lapack {

#define SDFGAD_TRIANGLE(T, letter)                                                                              \
    inline void solve_upper(CBLAS_TRANSPOSE flag, int n, int m, const T* u, T* x) {                             \
        const T one = 1;                                                                                        \
        const OneThread alone;                                                                                  \
        scipy_cblas_##letter##trsm(                                                                             \
            CblasColMajor, CblasLeft, CblasUpper, flag, CblasNonUnit, n, m, by_cblas(one), u, n, x, n);  \
    }
SDFGAD_TRIANGLE(double, d)
SDFGAD_TRIANGLE(Complex, z)
#undef SDFGAD_TRIANGLE

}  // namespace lapack

// The factors of each matrix, and the rows that were exchanged (from 1 on).
template <typename T>
inline int lu_columns(const T* a, T* lu, int32_t* pivots, int32_t* failed, int64_t batch, int64_t n) {
    std::copy_n(a, batch * n * n, lu);
    for (int64_t i = 0; i < batch; i++, lu += n * n, pivots += n) failed[i] = lapack::factor(n, lu, pivots);
    return 0;
}

// x := A^-1 b (kind 0), A^-T b (1) or A^-H b (2) for b (n, m), by the factors of A.
template <typename T> inline int lu_solve_columns(
    const T* lu, const int32_t* pivots, const T* b, T* x, int64_t batch, int64_t n, int64_t m, int64_t kind
) {
    std::copy_n(b, batch * n * m, x);
    for (int64_t i = 0; i < batch; i++, lu += n * n, pivots += n, x += n * m)
        lapack::solve_whole("NTC"[kind], n, m, lu, pivots, x);
    return 0;
}

// U with A = U^H U, above the diagonal and on it, from that triangle of A.
template <typename T> inline int cholesky_columns(const T* a, T* u, int32_t* failed, int64_t batch, int64_t n) {
    std::copy_n(a, batch * n * n, u);
    for (int64_t i = 0; i < batch; i++, u += n * n) failed[i] = lapack::factor_upper(n, u);
    return 0;
}

// x := U^-1 b (kind 0), U^-T b (1) or U^-H b (2) for an upper triangle U and b (n, m).
template <typename T> inline int upper_solve_columns(
    const T* u, const T* b, T* x, int64_t batch, int64_t n, int64_t m, int64_t kind
) {
    constexpr CBLAS_TRANSPOSE flags[] = {CblasNoTrans, CblasTrans, CblasConjTrans};
    std::copy_n(b, batch * n * m, x);
    for (int64_t i = 0; i < batch; i++, u += n * n, x += n * m) lapack::solve_upper(flags[kind], n, m, u, x);
    return 0;
}

// Eigenvalues, which ascend, and eigenvectors of Hermitian matrices, from one triangle.
template <typename T> inline int hermitian_columns(
    const T* a, double* w, T* v, int32_t* failed, int64_t batch, int64_t n, int64_t is_upper
) {
    const char triangle = is_upper ? 'U' : 'L';
    T size;
    double reals_stated = 0;
    int integers_size;
    lapack::diagonalise('V', triangle, n, nullptr, nullptr, &size, -1, &reals_stated, -1, &integers_size, -1);
    const int work_size = real(size), reals_size = reals_stated;
    auto work = array<T>(work_size);
    auto reals = array<double>(reals_size);
    auto integers = array<int>(integers_size);
    std::copy_n(a, batch * n * n, v);
    for (int64_t i = 0; i < batch; i++, w += n, v += n * n)
        failed[i] = lapack::diagonalise(
            'V', triangle, n, v, w, work.get(), work_size, reals.get(), reals_size, integers.get(), integers_size
        );
    return 0;
}

// A = u diag(s) vh for A (m, n) with m >= n, and n columns of u, or all; a is lost.
template <typename T> inline int singular_columns(
    const T* a, T* u, double* s, T* vh, int32_t* failed, int64_t batch, int64_t m, int64_t n, int64_t has_all
) {
    const char job = has_all ? 'A' : 'S';
    T size;
    lapack::decompose(job, m, n, nullptr, nullptr, nullptr, nullptr, &size, -1, nullptr, nullptr);
    const int work_size = real(size);
    auto columns = array<T>(m * n), work = array<T>(work_size);
    auto reals = array<double>(n * std::max(5 * n + 5, 2 * m + 2 * n + 1));
    auto integers = array<int>(8 * n);
    for (int64_t i = 0; i < batch; i++, a += m * n, u += m * (has_all ? m : n), s += n, vh += n * n) {
        std::copy_n(a, m * n, columns.get());
        failed[i] = lapack::decompose(
            job, m, n, columns.get(), s, u, vh, work.get(), work_size, reals.get(), integers.get()
        );
    }
    return 0;
}

// A = q r for A (m, n), q (m, k), k = min(m, n); r is above the diagonal, and on it, of what has the shape of A.
template <typename T> inline int qr_columns(const T* a, T* q, T* r, int64_t batch, int64_t m, int64_t n) {
    const int64_t k = std::min(m, n);
    T sizes[2];
    lapack::reflect(m, n, nullptr, nullptr, &sizes[0], -1);
    lapack::form_q(m, k, nullptr, nullptr, &sizes[1], -1);
    const int work_size = std::max(real(sizes[0]), real(sizes[1]));
    auto tau = array<T>(k), work = array<T>(work_size);
    std::copy_n(a, batch * m * n, r);
    for (int64_t i = 0; i < batch; i++, q += m * k, r += m * n) {
        lapack::reflect(m, n, r, tau.get(), work.get(), work_size);
        std::copy_n(r, m * k, q);
        lapack::form_q(m, k, q, tau.get(), work.get(), work_size);
    }
    return 0;
}

}  // namespace sdfgad
