// What the elementary operations of DaCe's own code need: complex numbers are those of the standard library there.
#pragma once
#include <complex>

#include "sdfgad.h"

namespace sdfgad {

template <typename T> inline constexpr bool is_complex = false;
template <typename R> inline constexpr bool is_complex<complex<R>> = true;
template <typename R> inline constexpr bool is_complex<std::complex<R>> = true;

// Numbers as our functions take them, and their results as DaCe's code does.
template <typename T> inline T value(T x) { return x; }
// A literal, which is a 64-bit number in Python.
inline int64_t value(int x) { return x; }
template <typename R> inline complex<R> value(std::complex<R> z) { return z; }
template <typename T> inline T stock(T x) { return x; }
template <typename R> inline std::complex<R> stock(complex<R> z) { return z; }

}  // namespace sdfgad
