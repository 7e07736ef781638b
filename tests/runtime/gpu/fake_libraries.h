// A cuFFT, a cuSOLVER and cuBLAS's functions for batches without a device: for the fake driver, whose memory is the host's.
// Matrices are column-major.
#pragma once
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <map>
#include <numbers>
#include <vector>

namespace fake {

using Complex = std::complex<double>;
using Handle = void*;

// --- transforms

struct Transform {
    long long n, in_step, in_pitch, out_step, out_pitch, batch;
    int kind;
    bool has_own_memory = true, has_stream = false;
    void* work = nullptr;
};
constexpr size_t work_bytes = 1 << 10;
inline std::map<int, Transform> transforms;
inline int made = 0;

template <typename R> Complex value(const std::complex<R>* x, long long at) { return Complex(x[at]); }
template <typename R> Complex value(const R* x, long long at) { return Complex(x[at]); }
template <typename R> void put(std::complex<R>* x, long long at, Complex y) { x[at] = std::complex<R>(y); }
template <typename R> void put(R* x, long long at, Complex y) { x[at] = R(y.real()); }

// `given`: how many values a line has; the others are the conjugates of these.
template <typename In, typename Out>
int transform(int handle, const In* in, Out* out, int sign, bool from_half, bool to_half) {
    const Transform& plan = transforms.at(handle);
    if (!plan.has_stream || plan.has_own_memory || plan.work == nullptr) return 6;
    const long long n = plan.n, wanted = to_half ? n / 2 + 1 : n;
    for (long long line = 0; line < plan.batch; line++) {
        for (long long k = 0; k < wanted; k++) {
            Complex sum = 0;
            for (long long j = 0; j < n; j++) {
                const bool is_mirrored = from_half && 2 * j > n;
                const Complex x = value(in, line * plan.in_pitch + (is_mirrored ? n - j : j) * plan.in_step);
                // Of what is its own conjugate nothing may be imaginary.
                if (from_half && (j == 0 || 2 * j == n) && x.imag() != 0) return 5;
                sum += (is_mirrored ? std::conj(x) : x) * std::polar(1.0, sign * 2 * std::numbers::pi * double(j * k % n) / double(n));
            }
            put(out, line * plan.out_pitch + k * plan.out_step, sum);
        }
    }
    return 0;
}

// --- linear algebra

template <typename T> T conjugate(T x) {
    if constexpr (std::is_same_v<T, double>) return x;
    else return std::conj(x);
}

template <typename T> int factor(int n, T* a, int* pivots) {
    int failed = 0;
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k; i < n; i++)
            if (std::abs(a[i + k * n]) > std::abs(a[best + k * n])) best = i;
        pivots[k] = best + 1;
        for (int j = 0; j < n; j++) std::swap(a[k + j * n], a[best + j * n]);
        if (a[k + k * n] == T(0)) {
            if (failed == 0) failed = k + 1;
            continue;
        }
        for (int i = k + 1; i < n; i++) {
            a[i + k * n] /= a[k + k * n];
            for (int j = k + 1; j < n; j++) a[i + j * n] -= a[i + k * n] * a[k + j * n];
        }
    }
    return failed;
}

// x := op(A)^-1 x for a triangle.
template <typename T> void triangle(bool is_upper, bool is_unit, int kind, int n, int m, const T* a, T* x) {
    const auto element = [&](int i, int j) {
        const T found = kind == 0 ? a[i + j * n] : a[j + i * n];
        return kind == 2 ? conjugate(found) : found;
    };
    const bool is_from_end = is_upper == (kind == 0);
    for (int column = 0; column < m; column++, x += n)
        for (int step = 0; step < n; step++) {
            const int i = is_from_end ? n - 1 - step : step;
            for (int other = 0; other < step; other++) {
                const int j = is_from_end ? n - 1 - other : other;
                x[i] -= element(i, j) * x[j];
            }
            if (!is_unit) x[i] /= element(i, i);
        }
}

template <typename T> void solve(int kind, int n, int m, const T* lu, const int* pivots, T* x) {
    const auto exchange = [&](int i) {
        for (int j = 0; j < m; j++) std::swap(x[i + j * n], x[pivots[i] - 1 + j * n]);
    };
    if (kind == 0) {
        for (int i = 0; i < n; i++) exchange(i);
        triangle(false, true, 0, n, m, lu, x);
        triangle(true, false, 0, n, m, lu, x);
    } else {
        triangle(true, false, kind, n, m, lu, x);
        triangle(false, true, kind, n, m, lu, x);
        for (int i = n - 1; i >= 0; i--) exchange(i);
    }
}

// U with A = U^H U in the upper triangle.
template <typename T> int cholesky(int n, T* a) {
    for (int j = 0; j < n; j++) {
        for (int i = 0; i <= j; i++) {
            T rest = a[i + j * n];
            for (int k = 0; k < i; k++) rest -= conjugate(a[k + i * n]) * a[k + j * n];
            if (i == j && !(std::real(rest) > 0)) return j + 1;
            a[i + j * n] = i == j ? T(std::sqrt(std::real(rest))) : rest / a[i + i * n];
        }
    }
    return 0;
}

// Modified Gram-Schmidt as if by reflectors: r above the diagonal; the vectors are kept until they are asked for.
inline std::vector<Complex> vectors;

template <typename T> void reflect(int m, int n, T* a) {
    const int k = std::min(m, n);
    vectors.assign(m * k, 0);
    std::vector<T> q(a, a + m * k), r(m * n, T(0));
    for (int j = 0; j < n; j++) {
        std::vector<T> column(a + j * m, a + (j + 1) * m);
        for (int i = 0; i < std::min(j, k); i++) {
            T along = 0;
            for (int row = 0; row < m; row++) along += conjugate(q[row + i * m]) * column[row];
            for (int row = 0; row < m; row++) column[row] -= along * q[row + i * m];
            r[i + j * m] = along;
        }
        if (j >= k) continue;
        double size = 0;
        for (T x : column) size += std::norm(x);
        r[j + j * m] = -std::sqrt(size);
        for (int row = 0; row < m; row++) q[row + j * m] = column[row] / r[j + j * m];
    }
    std::copy(q.begin(), q.end(), vectors.begin());
    std::copy(r.begin(), r.end(), a);
}

template <typename T> void form_q(int m, int k, T* a) {
    for (int i = 0; i < m * k; i++) {
        if constexpr (std::is_same_v<T, double>) a[i] = vectors[i].real();
        else a[i] = vectors[i];
    }
}

}  // namespace fake

extern "C" {

int cufftCreate(int* handle) { return fake::transforms[*handle = ++fake::made] = {}, 0; }
int cufftDestroy(int handle) { return fake::transforms.erase(handle) ? 0 : 1; }
int cufftSetAutoAllocation(int handle, int is_own) { return fake::transforms.at(handle).has_own_memory = is_own, 0; }
int cufftMakePlanMany64(int handle, int rank, long long* n, long long* in, long long in_step, long long in_pitch, long long* out,
                        long long out_step, long long out_pitch, int kind, long long batch, size_t* bytes) {
    if (rank != 1 || in == nullptr || out == nullptr) return 4;
    fake::Transform& plan = fake::transforms.at(handle);
    plan = {*n, in_step, in_pitch, out_step, out_pitch, batch, kind, plan.has_own_memory};
    return *bytes = fake::work_bytes, 0;
}
int cufftSetWorkArea(int handle, void* work) { return fake::transforms.at(handle).work = work, 0; }
int cufftSetStream(int handle, void*) { return fake::transforms.at(handle).has_stream = true, 0; }

#define TRANSFORMS(R, both, forward, back, kinds)                                                                              \
    int cufftExec##both(int handle, void* in, void* out, int sign) {                                                           \
        if (fake::transforms.at(handle).kind != kinds + 9) return 4;                                                           \
        return fake::transform(handle, (const std::complex<R>*)in, (std::complex<R>*)out, sign, false, false);                 \
    }                                                                                                                          \
    int cufftExec##forward(int handle, void* in, void* out) {                                                                  \
        if (fake::transforms.at(handle).kind != kinds + 10) return 4;                                                          \
        return fake::transform(handle, (const R*)in, (std::complex<R>*)out, -1, false, true);                                  \
    }                                                                                                                          \
    int cufftExec##back(int handle, void* in, void* out) {                                                                     \
        if (fake::transforms.at(handle).kind != kinds + 12) return 4;                                                          \
        const int status = fake::transform(handle, (const std::complex<R>*)in, (R*)out, 1, true, false);                       \
        *(R*)in = R(NAN);                                                                                                      \
        return status;                                                                                                         \
    }
TRANSFORMS(double, Z2Z, D2Z, Z2D, 0x60)
TRANSFORMS(float, C2C, R2C, C2R, 0x20)
#undef TRANSFORMS

int cusolverDnCreate(void** handle) { return *handle = &fake::made, 0; }
int cusolverDnDestroy(void*) { return 0; }
int cusolverDnSetStream(void*, void*) { return 0; }
int cusolverDnSetDeterministicMode(void*, int mode) { return mode == 1 ? 0 : 3; }

#define SOLVERS(T, letter, hermitian, unitary)                                                                                 \
    int cusolverDn##letter##getrf_bufferSize(void*, int, int, T*, int, int* size) { return *size = 5, 0; }                     \
    int cusolverDn##letter##getrf(void*, int, int n, T* a, int, T* work, int* pivots, int* failed) {                           \
        return work[4] = 1, *failed = fake::factor(n, a, pivots), 0;                                                           \
    }                                                                                                                          \
    int cusolverDn##letter##getrs(void*, int kind, int n, int m, const T* lu, int, const int* pivots, T* x, int, int* wrong) { \
        return *wrong = 0, fake::solve(kind, n, m, lu, pivots, x), 0;                                                          \
    }                                                                                                                          \
    int cusolverDn##letter##potrf_bufferSize(void*, int, int, T*, int, int* size) { return *size = 3, 0; }                     \
    int cusolverDn##letter##potrf(void*, int fill, int n, T* a, int, T*, int size, int* failed) {                              \
        return fill != 1 || size != 3 ? 3 : (*failed = fake::cholesky(n, a), 0);                                               \
    }                                                                                                                          \
    int cusolverDn##letter##potrfBatched(void*, int fill, int n, T** a, int, int* failed, int batch) {                         \
        for (int i = 0; i < batch; i++) failed[i] = fake::cholesky(n, a[i]);                                                   \
        return fill == 1 ? 0 : 3;                                                                                              \
    }                                                                                                                          \
    int cusolverDn##letter##hermitian##_bufferSize(void*, int, int, int, const T*, int, const double*, int* size) {            \
        return *size = 2, 0;                                                                                                   \
    }                                                                                                                          \
    /* Of diagonal matrices. */                                                                                                \
    int cusolverDn##letter##hermitian(void*, int, int, int n, T* a, int, double* w, T*, int, int* failed) {                    \
        for (int i = 0; i < n; i++) w[i] = std::real(a[i * n + i]), a[i * n + i] = 1;                                          \
        return *failed = 0, 0;                                                                                                 \
    }                                                                                                                          \
    int cusolverDn##letter##gesvd_bufferSize(void*, int m, int n, int* size) { return *size = 2, m < n ? 3 : 0; }              \
    int cusolverDn##letter##gesvd(void*, signed char, signed char, int m, int n, T* a, int, double* s, T* u, int lead_u,       \
                                  T* vh, int lead_vh, T*, int, double*, int* failed) {                                         \
        for (int j = 0; j < n; j++) s[j] = std::real(a[j * m + j]), u[j * lead_u + j] = vh[j * lead_vh + j] = 1;               \
        std::fill_n(a, m * n, T(NAN));                                                                                         \
        return *failed = 0, 0;                                                                                                 \
    }                                                                                                                          \
    int cusolverDn##letter##geqrf_bufferSize(void*, int, int, T*, int, int* size) { return *size = 1, 0; }                     \
    int cusolverDn##letter##geqrf(void*, int m, int n, T* a, int, T*, T*, int, int* wrong) {                                   \
        return fake::reflect(m, n, a), *wrong = 0, 0;                                                                          \
    }                                                                                                                          \
    int cusolverDn##letter##unitary##_bufferSize(void*, int, int, int, const T*, int, const T*, int* size) {                   \
        return *size = 6, 0;                                                                                                   \
    }                                                                                                                          \
    int cusolverDn##letter##unitary(void*, int m, int, int k, T* a, int, const T*, T* work, int size, int* wrong) {            \
        return work[size - 1] = 1, *wrong = 0, fake::form_q(m, k, a), size == 6 ? 0 : 3;                                       \
    }                                                                                                                          \
    int cublas##letter##getrfBatched(void*, int n, T* const* a, int, int* pivots, int* failed, int batch) {                    \
        for (int i = 0; i < batch; i++) failed[i] = fake::factor(n, a[i], pivots + i * n);                                     \
        return 0;                                                                                                              \
    }                                                                                                                          \
    int cublas##letter##getrsBatched(void*, int kind, int n, int m, const T* const* lu, int, const int* pivots, T* const* x,   \
                                     int, int* wrong, int batch) {                                                             \
        for (int i = 0; i < batch; i++) fake::solve(kind, n, m, lu[i], pivots + i * n, x[i]);                                  \
        return *wrong = 0, 0;                                                                                                  \
    }                                                                                                                          \
    int cublas##letter##trsm_v2(void*, int side, int fill, int kind, int diagonal, int n, int m, const T* one, const T* u,     \
                                int, T* x, int) {                                                                              \
        if (side != 0 || fill != 1 || diagonal != 0 || *one != T(1)) return 7;                                                 \
        return fake::triangle(true, false, kind, n, m, u, x), 0;                                                               \
    }                                                                                                                          \
    int cublas##letter##trsmBatched(void*, int, int, int kind, int, int n, int m, const T*, const T* const* u, int,            \
                                    T* const* x, int, int batch) {                                                             \
        for (int i = 0; i < batch; i++) fake::triangle(true, false, kind, n, m, u[i], x[i]);                                   \
        return 0;                                                                                                              \
    }
SOLVERS(double, D, syevd, orgqr)
SOLVERS(fake::Complex, Z, heevd, ungqr)
#undef SOLVERS

}  // extern "C"
