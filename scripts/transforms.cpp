// Entry points by which `transforms.py` times the transforms.
#include "fourier.h"

extern "C" void of_complex(const void* in, void* out, int64_t outer, int64_t n, int64_t inner) {
    using Complex = sdfgad::complex<double>;
    sdfgad::fourier(static_cast<const Complex*>(in), static_cast<Complex*>(out), outer, n, inner, -1);
}
extern "C" void of_real(const void* in, void* out, int64_t outer, int64_t n, int64_t inner) {
    using Complex = sdfgad::complex<double>;
    sdfgad::real_fourier(static_cast<const double*>(in), static_cast<Complex*>(out), outer, n, inner);
}
extern "C" void to_real(const void* in, void* out, int64_t outer, int64_t n, int64_t inner) {
    using Complex = sdfgad::complex<double>;
    sdfgad::half_fourier(static_cast<const Complex*>(in), static_cast<double*>(out), outer, n, inner);
}
