// Tells the compiler which functions of the C library come for whole vectors, too (glibc's libmvec, within 4 ulp).
//
// glibc says so itself only under -ffast-math, whose other effects we do not want. Without an errno they depend on their
// arguments alone.
#pragma once
#include <cmath>
#include "vector_functions.h"

// GCC prefers vectors of half the width that there is, for the sake of code around short loops. Where most of the time
// goes into these functions, twice as many at a time are worth more.
#if defined(__AVX512F__) && defined(__GNUC__) && !defined(__clang__)
#define SDFGAD_WIDE [[gnu::target("prefer-vector-width=512")]]
#else
#define SDFGAD_WIDE
#endif

#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__)
#define SDFGAD_VECTOR __attribute__((simd("notinbranch"), const))
#define SDFGAD_ONE(name)                                   \
    extern "C" SDFGAD_VECTOR double name(double) noexcept; \
    extern "C" SDFGAD_VECTOR float name##f(float) noexcept;
#define SDFGAD_TWO(name)                                           \
    extern "C" SDFGAD_VECTOR double name(double, double) noexcept; \
    extern "C" SDFGAD_VECTOR float name##f(float, float) noexcept;

#if __GLIBC_PREREQ(2, 22)
SDFGAD_FUNCTIONS_2_22(SDFGAD_ONE, SDFGAD_TWO)
#endif
#if __GLIBC_PREREQ(2, 35)
SDFGAD_FUNCTIONS_2_35(SDFGAD_ONE, SDFGAD_TWO)
#endif
#undef SDFGAD_ONE
#undef SDFGAD_TWO
#undef SDFGAD_VECTOR
#endif
