// Matrix products by CBLAS for all types; `fresh` clears the target first, also where nothing is summed. `weight` is the
// work of a product of two numbers.
#pragma once
#include <algorithm>
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

#define SDFGAD_PRODUCTS(T, letter, weight)                                                                           \
    /* c (m, n) += alpha a (m, k) b (k, n), with flags for a and b as they are stored */                             \
    inline void gemm(                                                                                                \
        CBLAS_TRANSPOSE a_flag, CBLAS_TRANSPOSE b_flag, int64_t m, int64_t n, int64_t k, T alpha, const T* a,        \
        int64_t lead_a, const T* b, int64_t lead_b, bool fresh, T* c, int64_t lead_c                                 \
    ) {                                                                                                              \
        if (m <= 0 || n <= 0 || (k <= 0 && !fresh)) return;                                                          \
        BlasThreads threads(double(weight) * m * n * k);                                                             \
        scipy_cblas_##letter##gemm(                                                                                  \
            CblasRowMajor, a_flag, b_flag, m, n, std::max<int64_t>(k, 0), by_cblas(alpha), a, lead_a, b, lead_b,     \
            by_cblas(T(fresh ? 0 : 1)), c, lead_c                                                                    \
        );                                                                                                           \
    }                                                                                                                \
    /* c (m, m) = alpha a (m, k) a^T */                                                                              \
    inline void syrk(                                                                                                \
        CBLAS_TRANSPOSE flag, int64_t m, int64_t k, T alpha, const T* a, int64_t lead_a, T* c, int64_t lead_c        \
    ) {                                                                                                              \
        if (m <= 0) return;                                                                                          \
        BlasThreads threads(0.5 * weight * m * m * k);                                                               \
        scipy_cblas_##letter##syrk(                                                                                  \
            CblasRowMajor, CblasLower, flag, m, std::max<int64_t>(k, 0), by_cblas(alpha), a, lead_a, by_cblas(T(0)), \
            c, lead_c                                                                                                \
        );                                                                                                           \
        mirror(m, c, lead_c);                                                                                        \
    }                                                                                                                \
    /* y (m) += alpha a (m, k) x (k) */                                                                              \
    inline void gemv(                                                                                                \
        CBLAS_TRANSPOSE flag, int64_t m, int64_t k, T alpha, const T* a, int64_t lead, const T* x, int64_t step_x,   \
        bool fresh, T* y, int64_t step_y                                                                             \
    ) {                                                                                                              \
        for (int64_t i = 0; fresh && i < m; i++) y[i * step_y] = 0;                                                  \
        if (m <= 0 || k <= 0) return;                                                                                \
        /* CBLAS wants the matrix's shape as it is stored. */                                                        \
        bool is_turned = flag == CblasTrans || flag == CblasConjTrans;                                               \
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

}  // namespace sdfgad
