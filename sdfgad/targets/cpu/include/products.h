// Matrix products by CBLAS for all types; `fresh` clears the target first, also where nothing is summed. Threads
// share the large ones in parts.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include <cblas.h>

#include "blas_threads.h"
#include "complex_number.h"

namespace sdfgad {

inline double by_cblas(const double& x) { return x; }
inline float by_cblas(const float& x) { return x; }
inline const void* by_cblas(const complex<double>& x) { return &x; }
inline const void* by_cblas(const complex<float>& x) { return &x; }

// The upper triangle from the lower one, by tiles that stay in the cache.
template <typename T> inline void mirror(int64_t n, T* c, int64_t lead) {
    constexpr int64_t tile = 32;
    for (int64_t i0 = 0; i0 < n; i0 += tile)
        for (int64_t j0 = 0; j0 <= i0; j0 += tile)
            for (int64_t i = i0; i < std::min(i0 + tile, n); i++)
                for (int64_t j = j0; j < std::min(j0 + tile, i); j++) c[j * lead + i] = c[i * lead + j];
}

inline bool is_stored_turned(CBLAS_TRANSPOSE flag) { return flag == CblasTrans || flag == CblasConjTrans; }

// A matrix that is used once comes from memory: so many products could be done with each of its elements meanwhile.
inline constexpr double VECTOR_WEIGHT = 8;

// OpenBLAS's functions for each type, and how much a product of two numbers is.
#define SDFGAD_PRODUCTS(T, letter, weight)                                                                           \
    inline double weight_of(const T*) { return weight; }                                                             \
    inline void cblas_gemm(                                                                                          \
        CBLAS_TRANSPOSE a_flag, CBLAS_TRANSPOSE b_flag, int64_t m, int64_t n, int64_t k, T alpha, const T* a,        \
        int64_t lead_a, const T* b, int64_t lead_b, bool fresh, T* c, int64_t lead_c                                 \
    ) {                                                                                                              \
        scipy_cblas_##letter##gemm(                                                                                  \
            CblasRowMajor, a_flag, b_flag, m, n, k, by_cblas(alpha), a, lead_a, b, lead_b,                           \
            by_cblas(T(fresh ? 0 : 1)), c, lead_c                                                                    \
        );                                                                                                           \
    }                                                                                                                \
    inline void cblas_syrk(                                                                                          \
        CBLAS_TRANSPOSE flag, int64_t m, int64_t k, T alpha, const T* a, int64_t lead_a, T* c, int64_t lead_c        \
    ) {                                                                                                              \
        scipy_cblas_##letter##syrk(                                                                                  \
            CblasRowMajor, CblasLower, flag, m, k, by_cblas(alpha), a, lead_a, by_cblas(T(0)), c, lead_c             \
        );                                                                                                           \
    }                                                                                                                \
    inline void cblas_gemv(                                                                                          \
        CBLAS_TRANSPOSE flag, int64_t m, int64_t k, T alpha, const T* a, int64_t lead, const T* x, int64_t step_x,   \
        T* y, int64_t step_y                                                                                         \
    ) {                                                                                                              \
        /* CBLAS wants the matrix's shape as it is stored. */                                                        \
        const bool is_turned = is_stored_turned(flag);                                                               \
        scipy_cblas_##letter##gemv(                                                                                  \
            CblasRowMajor, flag, is_turned ? k : m, is_turned ? m : k, by_cblas(alpha), a, lead, x, step_x,          \
            by_cblas(T(1)), y, step_y                                                                                \
        );                                                                                                           \
    }

SDFGAD_PRODUCTS(double, d, 1)
SDFGAD_PRODUCTS(float, s, 0.5)
SDFGAD_PRODUCTS(complex<double>, z, 4)
SDFGAD_PRODUCTS(complex<float>, c, 2)
#undef SDFGAD_PRODUCTS

// Where element (i, j) is of a matrix that is stored as a flag says.
template <typename T> inline const T* at(CBLAS_TRANSPOSE flag, const T* a, int64_t lead, int64_t i, int64_t j) {
    return is_stored_turned(flag) ? a + j * lead + i : a + i * lead + j;
}

// Outputs, each with as many elements, for all parts of sums but the first, which is the output itself. They are not
// counted, and neither are OpenBLAS's own buffers, which are larger.
template <typename T> class Others {
public:
    Others(const Cuts& cuts, int64_t size) : all(cuts.sums > 1 ? new T[(cuts.sums - 1) * size]() : nullptr) {}
    ~Others() { delete[] all; }
    Others(const Others&) = delete;
    Others& operator=(const Others&) = delete;

    T* get() const { return all; }
    T operator[](int64_t place) const { return all[place]; }

private:
    T* all;
};

// c (m, n) += alpha a (m, k) b (k, n), with flags for a and b as they are stored.
template <typename T> inline void gemm(
    CBLAS_TRANSPOSE a_flag, CBLAS_TRANSPOSE b_flag, int64_t m, int64_t n, int64_t k, T alpha, const T* a,
    int64_t lead_a, const T* b, int64_t lead_b, bool fresh, T* c, int64_t lead_c
) {
    if (m <= 0 || n <= 0 || (k <= 0 && !fresh)) return;
    const OneThread threads;
    const Cuts cuts(m, n, k, weight_of(c) * m * n * k);
    // Small ones are many.
    if (cuts.count() == 1)
        return cblas_gemm(a_flag, b_flag, m, n, std::max<int64_t>(k, 0), alpha, a, lead_a, b, lead_b, fresh, c, lead_c);
    const Others<T> more(cuts, m * n);
    share(cuts.count(), threads, [&](int part) {
        const int sum = part % cuts.sums, block = part / cuts.sums;
        const int row = block / cuts.columns, column = block % cuts.columns;
        const int64_t i = edge(row, cuts.rows, m), j = edge(column, cuts.columns, n), l = edge(sum, cuts.sums, k);
        const int64_t lead = sum == 0 ? lead_c : n;
        T* target = sum == 0 ? c : more.get() + (sum - 1) * m * n;
        cblas_gemm(
            a_flag, b_flag, edge(row + 1, cuts.rows, m) - i, edge(column + 1, cuts.columns, n) - j,
            edge(sum + 1, cuts.sums, k) - l, alpha, at(a_flag, a, lead_a, i, l), lead_a,
            at(b_flag, b, lead_b, l, j), lead_b, fresh || sum > 0, target + i * lead + j, lead
        );
    });
    for (int sum = 1; sum < cuts.sums; sum++)
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < n; j++) c[i * lead_c + j] += more[((sum - 1) * m + i) * n + j];
}

// c (m, m) = alpha a (m, k) a^T, by ranges of rows of the lower triangle, each of as many elements.
template <typename T> inline void syrk(
    CBLAS_TRANSPOSE flag, int64_t m, int64_t k, T alpha, const T* a, int64_t lead_a, T* c, int64_t lead_c
) {
    if (m <= 0) return;
    const OneThread threads;
    const int count = m < 4 * SHORTEST_PART ? 1 : number_of_parts(0.5 * weight_of(c) * m * m * k);
    const auto start = [&](int part) {
        return part == count ? m : int64_t(m * std::sqrt(double(part) / count)) / PART_UNIT * PART_UNIT;
    };
    const auto other = flag == CblasNoTrans ? CblasTrans : CblasNoTrans;
    share(count, threads, [&](int part) {
        const int64_t first = start(part), rows = start(part + 1) - first;
        const T* of_rows = at(flag, a, lead_a, first, 0);
        T* target = c + first * lead_c;
        if (first > 0) cblas_gemm(flag, other, rows, first, k, alpha, of_rows, lead_a, a, lead_a, true, target, lead_c);
        cblas_syrk(flag, rows, k, alpha, of_rows, lead_a, target + first, lead_c);
    });
    mirror(m, c, lead_c);
}

// y (m) += alpha a (m, k) x (k)
template <typename T> inline void gemv(
    CBLAS_TRANSPOSE flag, int64_t m, int64_t k, T alpha, const T* a, int64_t lead, const T* x, int64_t step_x,
    bool fresh, T* y, int64_t step_y
) {
    for (int64_t i = 0; fresh && i < m; i++) y[i * step_y] = 0;
    if (m <= 0 || k <= 0) return;
    const OneThread threads;
    const Cuts cuts(m, 1, k, VECTOR_WEIGHT * weight_of(y) * m * k);
    if (cuts.count() == 1) return cblas_gemv(flag, m, k, alpha, a, lead, x, step_x, y, step_y);
    const Others<T> more(cuts, m);
    share(cuts.count(), threads, [&](int part) {
        const int row = part / cuts.sums, sum = part % cuts.sums;
        const int64_t i = edge(row, cuts.rows, m), l = edge(sum, cuts.sums, k), step = sum == 0 ? step_y : 1;
        T* target = sum == 0 ? y : more.get() + (sum - 1) * m;
        cblas_gemv(
            flag, edge(row + 1, cuts.rows, m) - i, edge(sum + 1, cuts.sums, k) - l, alpha, at(flag, a, lead, i, l),
            lead, x + l * step_x, step_x, target + i * step, step
        );
    });
    for (int sum = 1; sum < cuts.sums; sum++)
        for (int64_t i = 0; i < m; i++) y[i * step_y] += more[(sum - 1) * m + i];
}

}  // namespace sdfgad
