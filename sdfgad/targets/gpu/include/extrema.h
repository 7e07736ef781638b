// Atomic extrema, in the dialect of `dialect.h` and `emulated.h`, one of which includes this.
#pragma once

namespace sdfgad {

// The larger or the smaller number. The order is total, so that neither the sign of a zero nor the bits of what is not a
// number depend on who comes first.
template <bool is_largest, typename T> SDFGAD_FUNCTION T extremum(T a, T b) {
    if constexpr (!std::is_integral_v<T>) {
        if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
        if (a == b) return std::signbit(a) == is_largest ? b : a;
    }
    return (a > b) == is_largest ? a : b;
}

template <typename T, typename Array> SDFGAD_FUNCTION void atomic_maximum(const Array& array, int64_t at, T value) {
    atomic_extremum(array, at, value, [](T a, T b) { return extremum<true>(a, b); });
}

template <typename T, typename Array> SDFGAD_FUNCTION void atomic_minimum(const Array& array, int64_t at, T value) {
    atomic_extremum(array, at, value, [](T a, T b) { return extremum<false>(a, b); });
}

}  // namespace sdfgad
