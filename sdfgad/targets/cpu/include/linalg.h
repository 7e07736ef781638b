// Linear algebra as np.linalg does it, on stacks of row-major matrices.
//
// LAPACK gets the column-major matrix and the driver that NumPy gives it, and computes in double precision as NumPy
// does for float32 too: so signs, pivots and failures agree. The copy that LAPACK needs anyway is the transposed one.
// Functions return 1 where NumPy raises LinAlgError.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <type_traits>

#include <cblas.h>

#include "arrays.h"
#include "blas_threads.h"
#include "lapack_functions.h"
#include "sdfgad.h"

namespace sdfgad {
namespace lapack {

template <typename T> struct Types { using Real = T; using Wide = double; };
template <typename T> struct Types<complex<T>> { using Real = T; using Wide = complex<double>; };
template <typename T> using Real = typename Types<T>::Real;
template <typename T> using Wide = typename Types<T>::Wide;

// One set of overloads for each type. `C` is the type in LAPACKE's declarations, `one` the scalar 1 as CBLAS takes it,
// `weight` the work of a product of two numbers.
#define SDFGAD_LAPACK(T, C, letter, orthogonal, one, weight)                                                       \
    inline int factor(int n, T* a, int* pivots) {                                                                  \
        const OneThread alone;                                                                                     \
        return scipy_LAPACKE_##letter##getrf_work(COLUMN_MAJOR, n, n, (C*)a, n, pivots);                       \
    }                                                                                                              \
    inline void solve_whole(char flag, int n, int m, const T* lu, const int* pivots, T* x) {                       \
        const OneThread alone;                                                                                     \
        scipy_LAPACKE_##letter##getrs_work(COLUMN_MAJOR, flag, n, m, (const C*)lu, n, pivots, (C*)x, n);       \
    }                                                                                                              \
    /* x := x a^-1 or x a^-T for x (m, n), both column-major */                                                    \
    inline void solve_triangle(                                                                                    \
        CBLAS_UPLO triangle, CBLAS_TRANSPOSE flag, CBLAS_DIAG diagonal, int m, int n, const T* a, T* x             \
    ) {                                                                                                            \
        const OneThread threads;                                                                                   \
        const int count = m < 2 * SHORTEST_PART ? 1 : number_of_parts(weight / 2.0 * m * n * n);                   \
        share(count, threads, [&](int part) {                                                                      \
            const int64_t i = edge(part, count, m), rows = edge(part + 1, count, m) - i;                           \
            scipy_cblas_##letter##trsm(                                                                            \
                CblasColMajor, CblasRight, triangle, flag, diagonal, rows, n, one, a, n, x + i, m                  \
            );                                                                                                     \
        });                                                                                                        \
    }                                                                                                              \
    inline int factor_upper(int n, T* a) {                                                                         \
        const OneThread alone;                                                                                     \
        return scipy_LAPACKE_##letter##potrf_work(COLUMN_MAJOR, 'U', n, (C*)a, n);                             \
    }                                                                                                              \
    inline void reflect(int m, int n, T* a, T* tau, T* work, int size) {                                           \
        const OneThread alone;                                                                                     \
        scipy_LAPACKE_##letter##geqrf_work(COLUMN_MAJOR, m, n, (C*)a, m, (C*)tau, (C*)work, size);             \
    }                                                                                                              \
    inline void form_q(int m, int k, T* a, const T* tau, T* work, int size) {                                      \
        const OneThread alone;                                                                                     \
        scipy_LAPACKE_##letter##orthogonal##qr_work(                                                               \
            COLUMN_MAJOR, m, k, k, (C*)a, m, (const C*)tau, (C*)work, size);                                   \
    }

using Complex = complex<double>;
inline constexpr Complex one = 1;
SDFGAD_LAPACK(double, double, d, org, 1, 1)
SDFGAD_LAPACK(Complex, Pair, z, ung, &one, 4)
#undef SDFGAD_LAPACK

// The drivers whose complex form has a further workspace, of real numbers.
// `job`: as many singular vectors as singular values ('S'), all ('A'), or none ('N').
inline int decompose(
    char job, int m, int n, double* a, double* s, double* u, double* vh, double* work, int size, double*,
    int* integers
) {
    const OneThread alone;
    return scipy_LAPACKE_dgesdd_work(
        COLUMN_MAJOR, job, m, n, a, m, s, u, m, vh, job == 'A' ? n : std::min(m, n), work, size, integers
    );
}

inline int decompose(
    char job, int m, int n, Complex* a, double* s, Complex* u, Complex* vh, Complex* work, int size, double* reals,
    int* integers
) {
    using C = Pair;
    const OneThread alone;
    return scipy_LAPACKE_zgesdd_work(
        COLUMN_MAJOR, job, m, n, (C*)a, m, s, (C*)u, m, (C*)vh, job == 'A' ? n : std::min(m, n), (C*)work, size,
        reals, integers
    );
}

inline int diagonalise(
    char job, char triangle, int n, double* a, double* w, double* work, int size, double*, int, int* integers, int integers_size
) {
    const OneThread alone;
    return scipy_LAPACKE_dsyevd_work(COLUMN_MAJOR, job, triangle, n, a, n, w, work, size, integers, integers_size);
}

inline int diagonalise(
    char job, char triangle, int n, Complex* a, double* w, Complex* work, int size, double* reals, int reals_size,
    int* integers, int integers_size
) {
    using C = Pair;
    const OneThread alone;
    return scipy_LAPACKE_zheevd_work(
        COLUMN_MAJOR, job, triangle, n, (C*)a, n, w, (C*)work, size, reals, reals_size, integers, integers_size
    );
}

// out (columns, rows) := in (rows, columns), by tiles that stay in the cache.
template <typename In, typename Out> inline void transpose(const In* in, Out* out, int64_t rows, int64_t columns) {
    constexpr int64_t tile = 16;
    for (int64_t i0 = 0; i0 < rows; i0 += tile)
        for (int64_t j0 = 0; j0 < columns; j0 += tile)
            for (int64_t j = j0; j < std::min(j0 + tile, columns); j++)
                for (int64_t i = i0; i < std::min(i0 + tile, rows); i++) out[j * rows + i] = Out(in[i * columns + j]);
}

// Where a result is computed: in its own place, or in a buffer of higher precision.
template <typename T> class Result {
public:
    explicit Result(int64_t size) : size(size), buffer(array<Wide<T>>(is_wide ? 0 : size)) {}

    Wide<T>* in(T* out) const {
        if constexpr (is_wide) return out;
        else return buffer.get();
    }

    void store(T* out) const {
        if constexpr (!is_wide) std::transform(buffer.get(), buffer.get() + size, out, [](Wide<T> x) { return T(x); });
    }

private:
    static constexpr bool is_wide = std::is_same_v<T, Wide<T>>;
    int64_t size;
    Array<Wide<T>> buffer;
};

// P, L and U with A = P L U, in the caller's storage: the factors column-major in one matrix, and the exchanged rows from 1 on.
// A triangular matrix, such as a Cholesky factor or its transpose, is its own factor: with n^2 operations instead of n^3.
// Instead of the first exchanged row there is then one of two marks.
template <typename W> class PivotedFactors {
public:
    PivotedFactors(int64_t n, W* lu, int* pivots) : n(n), lu(lu), pivots(pivots) {}

    // Whether the matrix is regular.
    template <typename T> bool factor(const T* a) {
        if (n == 0) return true;
        transpose(a, lu, n, n);
        const bool is_high = is_upper(a), is_low = !is_high && is_lower(a);
        if (!(is_high || is_low) || has_zero_pivot()) return lapack::factor(n, lu, pivots) == 0;
        std::iota(pivots, pivots + n, 1);
        pivots[0] = is_high ? UPPER_ALONE : LOWER_ALONE;
        return true;
    }

    // x := A^-1 x for x (n, m), which column-major is its transpose.
    void solve(W* x, int64_t m) const {
        if (n == 0 || m == 0) return;
        if (m == 1 && has_lower() && has_upper()) return solve_whole('N', n, 1, lu, pivots, x);
        for (int64_t i = 0; i < n; i++)
            if (is_swapped(i)) std::swap_ranges(x + i * m, x + (i + 1) * m, x + (pivots[i] - 1) * m);
        if (has_lower()) solve_triangle(CblasLower, CblasTrans, lower_diagonal(), m, n, lu, x);
        if (has_upper()) solve_triangle(CblasUpper, CblasTrans, CblasNonUnit, m, n, lu, x);
    }

    // x := A^-T x for x (n, m).
    void solve_transposed(W* x, int64_t m) const {
        if (n == 0 || m == 0) return;
        if (m == 1 && has_lower() && has_upper()) return solve_whole('T', n, 1, lu, pivots, x);
        if (has_upper()) solve_triangle(CblasUpper, CblasNoTrans, CblasNonUnit, m, n, lu, x);
        if (has_lower()) solve_triangle(CblasLower, CblasNoTrans, lower_diagonal(), m, n, lu, x);
        for (int64_t i = n - 1; i >= 0; i--)
            if (is_swapped(i)) std::swap_ranges(x + i * m, x + (i + 1) * m, x + (pivots[i] - 1) * m);
    }

    W determinant_sign() const {
        W sign = 1;
        for (int64_t i = 0; i < n; i++) sign *= is_swapped(i) ? -direction(pivot(i)) : direction(pivot(i));
        return sign;
    }

    double determinant_log() const {
        double log = 0;
        for (int64_t i = 0; i < n; i++) log += std::log(absolute(pivot(i)));
        return log;
    }

private:
    enum Mark { LOWER_ALONE = -1, UPPER_ALONE = 0 };

    bool has_lower() const { return pivots[0] != UPPER_ALONE; }
    bool has_upper() const { return pivots[0] != LOWER_ALONE; }
    bool is_swapped(int64_t i) const { return pivots[0] > 0 && pivots[i] - 1 != i; }
    W pivot(int64_t i) const { return lu[i * n + i]; }

    // The lower factor of a lower triangular matrix is the matrix; other lower factors have ones on their diagonal.
    CBLAS_DIAG lower_diagonal() const { return has_upper() ? CblasUnit : CblasNonUnit; }

    bool has_zero_pivot() const {
        for (int64_t i = 0; i < n; i++)
            if (pivot(i) == W(0)) return true;
        return false;
    }

    // Whether all below the diagonal is zero, and all above it.
    template <typename T> bool is_upper(const T* a) const {
        for (int64_t i = 1; i < n; i++)
            if (!is_zero(a + i * n, i)) return false;
        return true;
    }
    template <typename T> bool is_lower(const T* a) const {
        for (int64_t i = 0; i < n; i++)
            if (!is_zero(a + i * n + i + 1, n - i - 1)) return false;
        return true;
    }
    template <typename T> static bool is_zero(const T* row, int64_t size) {
        return std::all_of(row, row + size, [](T x) { return x == T(0); });
    }

    // That of an infinity is not infinity / infinity.
    static double direction(double x) { return x < 0 ? -1 : 1; }
    static Complex direction(Complex x) { return x / absolute(x); }

    int64_t n;
    W* lu;
    int* pivots;
};

template <typename T> struct FactorStorage {
    Array<Wide<T>> numbers;
    Array<int> rows;
};

// The same in storage of their own.
template <typename T> class Factors : private FactorStorage<T>, public PivotedFactors<Wide<T>> {
public:
    explicit Factors(int64_t n)
        : FactorStorage<T>{array<Wide<T>>(n * n), array<int>(n)},
          PivotedFactors<Wide<T>>(n, this->numbers.get(), this->rows.get()) {}
};

}  // namespace lapack

// x := A^-1 b for A (n, n) and b (n, m).
template <typename T> inline int solve(const T* a, const T* b, T* x, int64_t batch, int64_t n, int64_t m) {
    lapack::Factors<T> factors(n);
    lapack::Result<T> result(n * m);
    for (int64_t i = 0; i < batch; i++, a += n * n, b += n * m, x += n * m) {
        if (!factors.factor(a)) return 1;
        std::copy_n(b, n * m, result.in(x));
        factors.solve(result.in(x), m);
        result.store(x);
    }
    return 0;
}

template <typename T> inline int inverse(const T* a, T* out, int64_t batch, int64_t n) {
    lapack::Factors<T> factors(n);
    lapack::Result<T> result(n * n);
    for (int64_t i = 0; i < batch; i++, a += n * n, out += n * n) {
        if (!factors.factor(a)) return 1;
        std::fill_n(result.in(out), n * n, 0);
        for (int64_t j = 0; j < n; j++) result.in(out)[j * n + j] = 1;
        factors.solve(result.in(out), n);
        result.store(out);
    }
    return 0;
}

// Only whether they can be inverted.
template <typename T> inline int regular(const T* a, int64_t batch, int64_t n) {
    lapack::Factors<T> factors(n);
    for (int64_t i = 0; i < batch; i++, a += n * n)
        if (!factors.factor(a)) return 1;
    return 0;
}

// By its logarithm, as in NumPy: the product of the pivots might overflow on the way.
template <typename T> inline int determinant(const T* a, T* out, int64_t batch, int64_t n) {
    lapack::Factors<T> factors(n);
    for (int64_t i = 0; i < batch; i++, a += n * n)
        out[i] = factors.factor(a) ? T(factors.determinant_sign() * std::exp(factors.determinant_log())) : T(0);
    return 0;
}

// A singular matrix has the sign 0 and the logarithm -inf.
template <typename T>
inline int sign_log_determinant(const T* a, T* sign, lapack::Real<T>* log, int64_t batch, int64_t n) {
    lapack::Factors<T> factors(n);
    for (int64_t i = 0; i < batch; i++, a += n * n) {
        bool is_regular = factors.factor(a);
        sign[i] = is_regular ? T(factors.determinant_sign()) : T(0);
        log[i] = is_regular ? factors.determinant_log() : -std::numeric_limits<double>::infinity();
    }
    return 0;
}

// L with A = L L^H, from the lower triangle of A. Column-major, that is U of U^H U: nothing is transposed.
template <typename T> inline int cholesky(const T* a, T* out, int64_t batch, int64_t n) {
    lapack::Result<T> result(n * n);
    for (int64_t i = 0; i < batch && n > 0; i++, a += n * n, out += n * n) {
        std::fill_n(result.in(out), n * n, 0);
        for (int64_t row = 0; row < n; row++) std::copy_n(a + row * n, row + 1, result.in(out) + row * n);
        if (lapack::factor_upper(n, result.in(out)) != 0) return 1;
        result.store(out);
    }
    return 0;
}

// A = q r for A (m, n), q (m, k) and r (k, n), k = min(m, n).
template <typename T> inline int qr(const T* a, T* q, T* r, int64_t batch, int64_t m, int64_t n) {
    using Wide = lapack::Wide<T>;
    int64_t k = std::min(m, n);
    if (k == 0) return 0;
    Wide sizes[2];
    lapack::reflect(m, n, nullptr, nullptr, &sizes[0], -1);
    lapack::form_q(m, k, nullptr, nullptr, &sizes[1], -1);
    int work_size = std::max(real(sizes[0]), real(sizes[1]));
    auto columns = array<Wide>(m * n), tau = array<Wide>(k), work = array<Wide>(work_size);
    for (int64_t i = 0; i < batch; i++, a += m * n, q += m * k, r += k * n) {
        lapack::transpose(a, columns.get(), m, n);
        lapack::reflect(m, n, columns.get(), tau.get(), work.get(), work_size);
        for (int64_t row = 0; row < k; row++)
            for (int64_t j = 0; j < n; j++) r[row * n + j] = j < row ? T(0) : T(columns[j * m + row]);
        lapack::form_q(m, k, columns.get(), tau.get(), work.get(), work_size);
        lapack::transpose(columns.get(), q, k, m);
    }
    return 0;
}

namespace lapack {

// A = u diag(s) vh for A (m, n), u (m, left), s (k) and vh (right, n), k = min(m, n).
template <typename T> inline int singular_vectors(
    char job, const T* a, T* u, Real<T>* s, T* vh, int64_t batch, int64_t m, int64_t n, int64_t left, int64_t right
) {
    using W = Wide<T>;
    int64_t k = std::min(m, n), most = std::max(m, n);
    W size;
    decompose(job, m, n, nullptr, nullptr, nullptr, nullptr, &size, -1, nullptr, nullptr);
    int work_size = real(size);
    auto columns = array<W>(m * n), of_u = array<W>(m * left), of_vh = array<W>(right * n);
    auto work = array<W>(work_size);
    auto reals = array<double>(k * std::max(5 * k + 5, 2 * most + 2 * k + 1));
    auto integers = array<int>(8 * k);
    Result<Real<T>> values(k);
    for (int64_t i = 0; i < batch; i++, a += m * n, u += m * left, s += k, vh += right * n) {
        transpose(a, columns.get(), m, n);
        int info = decompose(
            job, m, n, columns.get(), values.in(s), of_u.get(), of_vh.get(), work.get(), work_size, reals.get(),
            integers.get()
        );
        if (info != 0) return 1;
        if (job != 'N') transpose(of_u.get(), u, left, m), transpose(of_vh.get(), vh, n, right);
        values.store(s);
    }
    return 0;
}

// Unit matrices, one after another.
template <typename T> inline void fill_with_one(T* a, int64_t batch, int64_t n) {
    std::fill_n(a, batch * n * n, T(0));
    for (int64_t i = 0; i < batch * n; i++) a[i * n + i % n] = T(1);
}

}  // namespace lapack

template <typename T>
inline int singular_values(const T* a, T* u, lapack::Real<T>* s, T* vh, int64_t batch, int64_t m, int64_t n) {
    int64_t k = std::min(m, n);
    return k == 0 ? 0 : lapack::singular_vectors('S', a, u, s, vh, batch, m, n, k, k);
}

template <typename T>
inline int only_singular_values(const T* a, lapack::Real<T>* s, int64_t batch, int64_t m, int64_t n) {
    if (std::min(m, n) == 0) return 0;
    return lapack::singular_vectors<T>('N', a, nullptr, s, nullptr, batch, m, n, 0, 0);
}

// With u (m, m) and vh (n, n).
template <typename T>
inline int all_singular_vectors(const T* a, T* u, lapack::Real<T>* s, T* vh, int64_t batch, int64_t m, int64_t n) {
    if (std::min(m, n) > 0) return lapack::singular_vectors('A', a, u, s, vh, batch, m, n, m, n);
    lapack::fill_with_one(u, batch, m);
    lapack::fill_with_one(vh, batch, n);
    return 0;
}

namespace lapack {

// Without vectors ('N'), `v` is not used.
template <typename T>
inline int symmetric_eigen(char job, const T* a, Real<T>* w, T* v, int64_t batch, int64_t n, char triangle) {
    if (n == 0) return 0;
    Wide<T> size;
    double reals_stated = 0;
    int integers_size;
    diagonalise(job, triangle, n, nullptr, nullptr, &size, -1, &reals_stated, -1, &integers_size, -1);
    int work_size = real(size), reals_size = reals_stated;
    auto columns = array<Wide<T>>(n * n), work = array<Wide<T>>(work_size);
    auto reals = array<double>(reals_size);
    auto integers = array<int>(integers_size);
    Result<Real<T>> values(n);
    for (int64_t i = 0; i < batch; i++, a += n * n, w += n) {
        transpose(a, columns.get(), n, n);
        int info = diagonalise(
            job, triangle, n, columns.get(), values.in(w), work.get(), work_size, reals.get(), reals_size,
            integers.get(), integers_size
        );
        if (info != 0) return 1;
        if (job == 'V') transpose(columns.get(), v + i * n * n, n, n);
        values.store(w);
    }
    return 0;
}

}  // namespace lapack

// A = v diag(w) v^H, from one triangle of A; the eigenvalues ascend.
template <typename T> inline int symmetric_eigen(
    const T* a, lapack::Real<T>* w, T* v, int64_t batch, int64_t n, int64_t is_upper
) {
    return lapack::symmetric_eigen('V', a, w, v, batch, n, is_upper ? 'U' : 'L');
}

template <typename T>
inline int only_symmetric_eigenvalues(const T* a, lapack::Real<T>* w, int64_t batch, int64_t n, int64_t is_upper) {
    return lapack::symmetric_eigen<T>('N', a, w, nullptr, batch, n, is_upper ? 'U' : 'L');
}

}  // namespace sdfgad
