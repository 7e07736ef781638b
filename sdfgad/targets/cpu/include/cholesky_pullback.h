// The adjoint of a Cholesky factorisation, by blocks: Murray, "Differentiation of the Cholesky decomposition" (2016).
#pragma once
#include <algorithm>

#include "linalg.h"
#include "products.h"

namespace sdfgad {
namespace lapack {

inline constexpr int64_t PULLBACK_BLOCK = 64;

// x := d^-1 x, d^-H x, ... and x := d^H x, for a lower triangle d, all row-major.
#define SDFGAD_TRIANGLES(T, letter)                                                                                  \
    inline void solve_lower(                                                                                         \
        CBLAS_SIDE side, CBLAS_TRANSPOSE flag, int64_t m, int64_t n, const T* d, int64_t lead_d, T* x, int64_t lead  \
    ) {                                                                                                              \
        T one = 1;                                                                                                   \
        const OneThread alone;                                                                                       \
        scipy_cblas_##letter##trsm(                                                                                  \
            CblasRowMajor, side, CblasLower, flag, CblasNonUnit, m, n, by_cblas(one), d, lead_d, x, lead             \
        );                                                                                                           \
    }                                                                                                                \
    inline void multiply_lower(int64_t n, const T* d, int64_t lead_d, T* x, int64_t lead) {                          \
        T one = 1;                                                                                                   \
        const OneThread alone;                                                                                       \
        scipy_cblas_##letter##trmm(                                                                                  \
            CblasRowMajor, CblasLeft, CblasLower, CblasConjTrans, CblasNonUnit, n, n, by_cblas(one), d, lead_d, x,   \
            lead                                                                                                     \
        );                                                                                                           \
    }

SDFGAD_TRIANGLES(double, d)
SDFGAD_TRIANGLES(Complex, z)
#undef SDFGAD_TRIANGLES

// For a block on the diagonal: bar, a lower triangle, becomes the cotangent of what was factorised, a lower triangle
// whose diagonal is real; `whole` (n, n) becomes the sum of that and its adjoint.
template <typename T>
inline void pull_back_diagonal(int64_t n, const T* d, T* bar, int64_t lead, T* whole) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) whole[i * n + j] = j <= i ? bar[i * lead + j] : T(0);
    multiply_lower(n, d, lead, whole, n);
    for (int64_t i = 0; i < n; i++) {
        whole[i * n + i] = real(whole[i * n + i]);
        for (int64_t j = 0; j < i; j++) whole[j * n + i] = conj(whole[i * n + j]);
    }
    solve_lower(CblasLeft, CblasConjTrans, n, n, d, lead, whole, n);
    solve_lower(CblasRight, CblasNoTrans, n, n, d, lead, whole, n);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < i; j++) bar[i * lead + j] = whole[i * n + j];
        bar[i * lead + i] = 0.5 * real(whole[i * n + i]);
    }
}

// bar, the cotangent of L (n, n), becomes that of the lower triangle of A = L L^H; upper triangles are left alone.
template <typename T> inline void pull_back_cholesky(int64_t n, const T* l, T* bar, T* whole) {
    for (int64_t end = n; end > 0; end -= std::min(end, PULLBACK_BLOCK)) {
        // L has these blocks:  left  diagonal       (rows start to end)
        //                      rest  below          (rows from end)
        const int64_t start = std::max<int64_t>(end - PULLBACK_BLOCK, 0), size = end - start, rows = n - end;
        const int64_t left = start * n, diagonal = left + start, rest = end * n, below = rest + start;
        if (rows > 0) {
            solve_lower(CblasRight, CblasNoTrans, rows, size, l + diagonal, n, bar + below, n);
            gemm(CblasNoTrans, CblasNoTrans, rows, start, size, T(-1), bar + below, n, l + left, n, false, bar + rest, n);
            gemm(CblasConjTrans, CblasNoTrans, size, start, rows, T(-1), bar + below, n, l + rest, n, false, bar + left, n);
            // Only the lower triangle of this is used.
            gemm(
                CblasConjTrans, CblasNoTrans, size, size, rows, T(-1), bar + below, n, l + below, n, false,
                bar + diagonal, n
            );
        }
        pull_back_diagonal(size, l + diagonal, bar + diagonal, n, whole);
        gemm(CblasNoTrans, CblasNoTrans, size, start, size, T(-1), whole, size, l + left, n, false, bar + left, n);
    }
}

}  // namespace lapack

// The cotangent of A, a lower triangle, from L and the cotangent of L, whose upper triangle is not used.
template <typename T>
inline int cholesky_pullback(const T* l, const T* bar, T* out, int64_t batch, int64_t n) {
    using Wide = lapack::Wide<T>;
    constexpr bool is_wide = std::is_same_v<T, Wide>;
    const int64_t size = std::min(n, lapack::PULLBACK_BLOCK);
    auto copy = array<Wide>(is_wide ? 0 : n * n), whole = array<Wide>(size * size);
    lapack::Result<T> result(n * n);
    for (int64_t i = 0; i < batch; i++, l += n * n, bar += n * n, out += n * n) {
        Wide* x = result.in(out);
        for (int64_t row = 0; row < n; row++) {
            std::copy_n(bar + row * n, row + 1, x + row * n);
            std::fill_n(x + row * n + row + 1, n - row - 1, Wide(0));
        }
        const Wide* factor;
        if constexpr (is_wide) factor = l;
        else factor = std::copy_n(l, n * n, copy.get()) - n * n;
        lapack::pull_back_cholesky(n, factor, x, whole.get());
        // What the products left above the diagonal.
        for (int64_t row = 0; row < n; row++) std::fill_n(x + row * n + row + 1, n - row - 1, Wide(0));
        result.store(out);
    }
    return 0;
}

}  // namespace sdfgad
