// The functions of the C library that come for whole vectors, too (glibc's libmvec): those of one argument and of two, since
// glibc 2.22 and since 2.35.
#pragma once
#define SDFGAD_FUNCTIONS_2_22(one, two) one(sin) one(cos) one(exp) one(log) two(pow)
#define SDFGAD_FUNCTIONS_2_35(one, two)                                                       \
    one(acos) one(acosh) one(asin) one(asinh) one(atan) one(atanh) one(cbrt) one(cosh)        \
    one(erf) one(erfc) one(exp2) one(expm1) one(log10) one(log1p) one(log2) one(sinh)         \
    one(tan) one(tanh) two(atan2) two(hypot)
