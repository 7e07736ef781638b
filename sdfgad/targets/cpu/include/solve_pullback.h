// The adjoint of a system with many right-hand sides, by one factorisation and without its solution.
#pragma once
#include <algorithm>

#include "linalg.h"
#include "products.h"

namespace sdfgad {

// The cotangents of A and b for x = A^-1 b (n, m) from that of x: -(A^-1 (b b_bar^H))^H, and b_bar = A^-H bar. It is the
// program's own call that says whether A is singular.
template <typename T>
inline int solve_pullback(
    const T* a, const T* b, const T* bar, T* a_bar, T* b_bar, int64_t batch, int64_t n, int64_t m
) {
    using Wide = lapack::Wide<T>;
    constexpr bool is_wide = std::is_same_v<T, Wide>;
    lapack::Factors<T> factors(n);
    lapack::Result<T> result(n * m);
    auto inner = array<Wide>(n * n), copy = array<Wide>(is_wide ? 0 : n * m);
    for (int64_t k = 0; k < batch; k++, a += n * n, b += n * m, bar += n * m, a_bar += n * n, b_bar += n * m) {
        // The conjugate of b_bar: A^-T times that of bar.
        Wide* turned = result.in(b_bar);
        for (int64_t i = 0; i < n * m; i++) turned[i] = conj(Wide(bar[i]));
        if (!factors.factor(a)) return 1;
        factors.solve_transposed(turned, m);
        const Wide* right;
        if constexpr (is_wide) right = b;
        else right = std::copy_n(b, n * m, copy.get()) - n * m;
        gemm(CblasNoTrans, CblasTrans, n, n, m, Wide(1), right, m, turned, m, true, inner.get(), n);
        for (int64_t i = 0; i < n * m; i++) turned[i] = conj(turned[i]);
        result.store(b_bar);
        factors.solve(inner.get(), n);
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++) a_bar[i * n + j] = T(-conj(inner[j * n + i]));
    }
    return 0;
}

}  // namespace sdfgad
