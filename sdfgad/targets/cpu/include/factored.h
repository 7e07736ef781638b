// LU factors with partial pivoting that are kept for several right sides, of whole matrices and of bands, by LAPACK.
#pragma once
#include "linalg.h"

namespace sdfgad {
namespace lapack {

// One set of overloads for each type. `flag` says which system is solved: 'N' or 'C', of the matrix or of its adjoint.
#define SDFGAD_FACTORED(T, C, letter)                                                                              \
    inline int factor_band(int n, int low, int high, T* a, int* pivots) {                                          \
        const OneThread alone;                                                                                     \
        const int rows = 2 * low + high + 1;                                                                       \
        return scipy_LAPACKE_##letter##gbtrf_work(COLUMN_MAJOR, n, n, low, high, (C*)a, rows, pivots);         \
    }                                                                                                              \
    inline void solve_band(char flag, int n, int low, int high, int m, const T* lu, const int* pivots, T* x) {     \
        const OneThread alone;                                                                                     \
        scipy_LAPACKE_##letter##gbtrs_work(                                                                        \
            COLUMN_MAJOR, flag, n, low, high, m, (const C*)lu, 2 * low + high + 1, pivots, (C*)x, n);          \
    }                                                                                                              \
    inline int factor_three(int n, T* a, int* pivots) {                                                            \
        const OneThread alone;                                                                                     \
        return scipy_LAPACKE_##letter##gttrf_work(n, (C*)a, (C*)(a + n), (C*)(a + 2 * n), (C*)(a + 3 * n), pivots); \
    }                                                                                                              \
    inline void solve_three(char flag, int n, int m, const T* lu, const int* pivots, T* x) {                       \
        const OneThread alone;                                                                                     \
        scipy_LAPACKE_##letter##gttrs_work(                                                                        \
            COLUMN_MAJOR, flag, n, m, (const C*)lu, (const C*)(lu + n), (const C*)(lu + 2 * n),                \
            (const C*)(lu + 3 * n), pivots, (C*)x, n);                                                             \
    }

SDFGAD_FACTORED(double, double, d)
SDFGAD_FACTORED(Complex, Pair, z)
#undef SDFGAD_FACTORED

// x := A^-1 b or A^-H b for b (n, m), where solve(flag, columns) does so for the columns of b.
template <typename T, typename Solve>
inline void solve_columns(const T* b, T* x, int64_t n, int64_t m, int64_t is_adjoint, const Solve& solve) {
    if (n == 0 || m == 0) return;
    auto columns = array<T>(n * m);
    transpose(b, columns.get(), n, m);
    solve(is_adjoint ? 'C' : 'N', columns.get());
    transpose(columns.get(), x, m, n);
}

// Whether three diagonals are factored, which LAPACK takes one by one.
inline bool has_three(int64_t low, int64_t high) { return low == 1 && high == 1; }

// The rows of the factors, of n numbers each.
inline int64_t rows_of_factors(int64_t low, int64_t high) { return has_three(low, high) ? 4 : 2 * low + high + 1; }

}  // namespace lapack

// The factors of A (n, n). Returns 1 where A is singular.
template <typename T> inline int factor(const T* a, T* lu, int32_t* pivots, int64_t n) {
    return !lapack::PivotedFactors<T>(n, lu, pivots).factor(a);
}

// The factors of A (n, n) in one matrix like it, and the exchanged rows from 1 on. Returns 1 where A is singular.
template <typename T> inline int lu(const T* a, T* out, int32_t* pivots, int64_t n) {
    auto columns = array<lapack::Wide<T>>(n * n);
    lapack::transpose(a, columns.get(), n, n);
    const bool failed = n > 0 && lapack::factor(n, columns.get(), pivots) != 0;
    lapack::transpose(columns.get(), out, n, n);
    return failed;
}

// x := A^-1 b or A^-H b for b (n, m), by the factors of A.
template <typename T> inline int solve_factored(
    const T* lu, const int32_t* pivots, const T* b, T* x, int64_t n, int64_t m, int64_t is_adjoint
) {
    // They are not changed here.
    const lapack::PivotedFactors<T> factors(n, const_cast<T*>(lu), const_cast<int32_t*>(pivots));
    if (is_adjoint) {
        std::transform(b, b + n * m, x, [](T value) { return T(conj(value)); });
        factors.solve_transposed(x, m);
        std::transform(x, x + n * m, x, [](T value) { return T(conj(value)); });
    } else {
        std::copy_n(b, n * m, x);
        factors.solve(x, m);
    }
    return 0;
}

// The inverse of A, by its factors.
template <typename T> inline int inverse_factored(const T* lu, const int32_t* pivots, T* out, int64_t n) {
    const lapack::PivotedFactors<T> factors(n, const_cast<T*>(lu), const_cast<int32_t*>(pivots));
    std::fill_n(out, n * n, T(0));
    for (int64_t j = 0; j < n; j++) out[j * n + j] = T(1);
    factors.solve(out, n);
    return 0;
}

// The sign of a determinant and the logarithm of its size, by the factors and whether A is singular.
template <typename T> inline int sign_log_factored(
    const T* lu, const int32_t* pivots, const int64_t* is_singular, T* sign, lapack::Real<T>* log, int64_t n
) {
    const lapack::PivotedFactors<T> factors(n, const_cast<T*>(lu), const_cast<int32_t*>(pivots));
    *sign = *is_singular ? T(0) : factors.determinant_sign();
    *log = *is_singular ? -std::numeric_limits<double>::infinity() : factors.determinant_log();
    return 0;
}

template <typename T>
inline int determinant_factored(const T* lu, const int32_t* pivots, const int64_t* is_singular, T* out, int64_t n) {
    T sign;
    lapack::Real<T> log;
    sign_log_factored(lu, pivots, is_singular, &sign, &log, n);
    *out = sign == T(0) ? sign : sign * std::exp(log);
    return 0;
}

// The factors of A, from its diagonals, from the uppermost one: ab[high + i - j, j] is A[i, j]. Returns 1 where A is singular.
template <typename T>
inline int factor_banded(const T* ab, T* lu, int32_t* pivots, int64_t n, int64_t low, int64_t high) {
    if (n == 0) return 0;
    const int64_t rows = lapack::rows_of_factors(low, high);
    if (lapack::has_three(low, high)) {
        for (int64_t j = 0; j < 4 * n; j++) lu[j] = T(0);
        for (int64_t j = 0; j + 1 < n; j++) lu[j] = ab[2 * n + j], lu[2 * n + j] = ab[j + 1];
        std::copy_n(ab + n, n, lu + n);
        return lapack::factor_three(n, lu, pivots) != 0;
    }
    for (int64_t j = 0; j < n; j++) {
        std::fill_n(lu + j * rows, low, T(0));
        for (int64_t row = low; row < rows; row++) lu[j * rows + row] = ab[(row - low) * n + j];
    }
    return lapack::factor_band(n, low, high, lu, pivots) != 0;
}

// x := A^-1 b or A^-H b for b (n, m), by the factors of A.
template <typename T> inline int solve_factored_band(
    const T*, const T* lu, const int32_t* pivots, const T* b, T* x, int64_t n, int64_t low, int64_t high, int64_t m,
    int64_t is_adjoint
) {
    lapack::solve_columns(b, x, n, m, is_adjoint, [&](char flag, T* columns) {
        if (lapack::has_three(low, high)) lapack::solve_three(flag, n, m, lu, pivots, columns);
        else lapack::solve_band(flag, n, low, high, m, lu, pivots, columns);
    });
    return 0;
}

// The same, with the factors in a workspace.
template <typename T> inline int solve_banded(
    const T* ab, const T* b, T* x, int64_t n, int64_t low, int64_t high, int64_t m, int64_t is_adjoint
) {
    auto lu = array<T>(lapack::rows_of_factors(low, high) * n);
    auto pivots = array<int32_t>(n);
    if (factor_banded(ab, lu.get(), pivots.get(), n, low, high) != 0) return 1;
    return solve_factored_band(ab, lu.get(), pivots.get(), b, x, n, low, high, m, is_adjoint);
}

}  // namespace sdfgad
