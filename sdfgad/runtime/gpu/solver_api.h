// What is used of cuSOLVER, for double and for complex double. Matrices are column-major, and what failed (0: nothing) is a
// number on the device; `fill` is 0 for the lower triangle and 1 for the upper one.
#pragma once
#include <string>

#include "foreign_library.h"

namespace sdfgad {
namespace cuda {

struct Factorisations {
    int (*lu_size)(Handle, int m, int n, void* a, int lead, int* size) = nullptr;
    int (*lu)(Handle, int m, int n, void* a, int lead, void* work, int* pivots, int* failed) = nullptr;
    int (*lu_solve)(Handle, int kind, int n, int m, const void* lu, int lead, const int* pivots, void* x, int lead_x,
                    int* wrong) = nullptr;
    int (*cholesky_size)(Handle, int fill, int n, void* a, int lead, int* size) = nullptr;
    int (*cholesky)(Handle, int fill, int n, void* a, int lead, void* work, int size, int* failed) = nullptr;
    int (*cholesky_batch)(Handle, int fill, int n, void** a, int lead, int* failed, int batch) = nullptr;
    int (*eigen_size)(Handle, int has_vectors, int fill, int n, const void* a, int lead, const double* w, int* size) = nullptr;
    int (*eigen)(Handle, int has_vectors, int fill, int n, void* a, int lead, double* w, void* work, int size,
                 int* failed) = nullptr;
    int (*singular_size)(Handle, int m, int n, int* size) = nullptr;
    int (*singular)(Handle, signed char of_u, signed char of_vh, int m, int n, void* a, int lead, double* s, void* u, int lead_u,
                    void* vh, int lead_vh, void* work, int size, double* reals, int* failed) = nullptr;
    int (*reflect_size)(Handle, int m, int n, void* a, int lead, int* size) = nullptr;
    int (*reflect)(Handle, int m, int n, void* a, int lead, void* tau, void* work, int size, int* wrong) = nullptr;
    int (*form_q_size)(Handle, int m, int n, int k, const void* a, int lead, const void* tau, int* size) = nullptr;
    int (*form_q)(Handle, int m, int n, int k, void* a, int lead, const void* tau, void* work, int size, int* wrong) = nullptr;

    bool has_all(ForeignLibrary& library, bool is_complex) {
        const std::string prefix = is_complex ? "cusolverDnZ" : "cusolverDnD";
        const std::string hermitian = is_complex ? "heevd" : "syevd", unitary = is_complex ? "ungqr" : "orgqr";
        const auto find = [&](auto*& function, const std::string& name) { return library.find(function, prefix + name); };
        return find(lu_size, "getrf_bufferSize") && find(lu, "getrf") && find(lu_solve, "getrs") &&
               find(cholesky_size, "potrf_bufferSize") && find(cholesky, "potrf") && find(cholesky_batch, "potrfBatched") &&
               find(eigen_size, hermitian + "_bufferSize") && find(eigen, hermitian) &&
               find(singular_size, "gesvd_bufferSize") && find(singular, "gesvd") && find(reflect_size, "geqrf_bufferSize") &&
               find(reflect, "geqrf") && find(form_q_size, unitary + "_bufferSize") && find(form_q, unitary);
    }
};

}  // namespace cuda
}  // namespace sdfgad
