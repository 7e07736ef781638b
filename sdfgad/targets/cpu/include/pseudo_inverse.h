// np.linalg.pinv of stacks of row-major matrices.
#pragma once
#include <algorithm>
#include <bit>

#include "linalg.h"

namespace sdfgad {

// Singular values up to the largest one times a cut-off count as zero; `cut` holds the bits of the cut-off.
template <typename T>
inline int pseudo_inverse(const T* a, T* out, int64_t batch, int64_t m, int64_t n, int64_t cut) {
    using R = lapack::Real<T>;
    const int64_t k = std::min(m, n);
    auto u = array<T>(m * k), vh = array<T>(k * n);
    auto s = array<R>(k);
    for (int64_t b = 0; b < batch; b++, a += m * n, out += n * m) {
        std::fill(out, out + n * m, T(0));
        if (k == 0) continue;
        if (singular_values(a, u.get(), s.get(), vh.get(), 1, m, n)) return 1;
        for (int64_t l = 0; l < k; l++) {
            if (s[l] <= R(std::bit_cast<double>(cut)) * s[0]) continue;
            for (int64_t i = 0; i < n; i++) {
                const auto v = conj(vh[l * n + i]) / s[l];
                for (int64_t j = 0; j < m; j++) out[i * m + j] += v * conj(u[j * k + l]);
            }
        }
    }
    return 0;
}

}  // namespace sdfgad
