// The functions of LAPACK that are called here, declared one by one.
//
// LAPACKE's header declares all 3,000: a fifth of what the precompiled headers held, which the compiler loads for every
// program. The declarations are the same, so both may be included.
#pragma once
#include <cstdint>

namespace sdfgad::lapack {

// LAPACKE's number for column-major matrices.
inline constexpr int COLUMN_MAJOR = 102;
// Its complex numbers.
using Pair = double _Complex;

}  // namespace sdfgad::lapack

extern "C" {

#define SDFGAD_DECLARED(C, letter, orthogonal)                                                                         \
    int32_t scipy_LAPACKE_##letter##getrf_work(int, int32_t, int32_t, C*, int32_t, int32_t*);                          \
    int32_t scipy_LAPACKE_##letter##getrs_work(                                                                        \
        int, char, int32_t, int32_t, const C*, int32_t, const int32_t*, C*, int32_t);                                  \
    int32_t scipy_LAPACKE_##letter##potrf_work(int, char, int32_t, C*, int32_t);                                       \
    int32_t scipy_LAPACKE_##letter##geqrf_work(int, int32_t, int32_t, C*, int32_t, C*, C*, int32_t);                   \
    int32_t scipy_LAPACKE_##letter##orthogonal##qr_work(                                                               \
        int, int32_t, int32_t, int32_t, C*, int32_t, const C*, C*, int32_t);                                           \
    int32_t scipy_LAPACKE_##letter##gbtrf_work(int, int32_t, int32_t, int32_t, int32_t, C*, int32_t, int32_t*);        \
    int32_t scipy_LAPACKE_##letter##gbtrs_work(                                                                        \
        int, char, int32_t, int32_t, int32_t, int32_t, const C*, int32_t, const int32_t*, C*, int32_t);                \
    int32_t scipy_LAPACKE_##letter##gttrf_work(int32_t, C*, C*, C*, C*, int32_t*);                                     \
    int32_t scipy_LAPACKE_##letter##gttrs_work(                                                                        \
        int, char, int32_t, int32_t, const C*, const C*, const C*, const C*, const int32_t*, C*, int32_t);

SDFGAD_DECLARED(double, d, org)
SDFGAD_DECLARED(sdfgad::lapack::Pair, z, ung)
#undef SDFGAD_DECLARED

// The drivers whose complex form has a further workspace, of real numbers.
int32_t scipy_LAPACKE_dgesdd_work(
    int, char, int32_t, int32_t, double*, int32_t, double*, double*, int32_t, double*, int32_t, double*, int32_t, int32_t*
);
int32_t scipy_LAPACKE_zgesdd_work(
    int, char, int32_t, int32_t, sdfgad::lapack::Pair*, int32_t, double*, sdfgad::lapack::Pair*, int32_t,
    sdfgad::lapack::Pair*, int32_t, sdfgad::lapack::Pair*, int32_t, double*, int32_t*
);
int32_t scipy_LAPACKE_dsyevd_work(
    int, char, char, int32_t, double*, int32_t, double*, double*, int32_t, int32_t*, int32_t
);
int32_t scipy_LAPACKE_zheevd_work(
    int, char, char, int32_t, sdfgad::lapack::Pair*, int32_t, double*, sdfgad::lapack::Pair*, int32_t, double*, int32_t,
    int32_t*, int32_t
);
int32_t scipy_LAPACKE_dgeev_work(
    int, char, char, int32_t, double*, int32_t, double*, double*, double*, int32_t, double*, int32_t, double*, int32_t
);
int32_t scipy_LAPACKE_zgeev_work(
    int, char, char, int32_t, sdfgad::lapack::Pair*, int32_t, sdfgad::lapack::Pair*, sdfgad::lapack::Pair*, int32_t,
    sdfgad::lapack::Pair*, int32_t, sdfgad::lapack::Pair*, int32_t, double*
);

}  // extern "C"
