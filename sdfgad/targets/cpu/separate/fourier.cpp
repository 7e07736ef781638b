// The transforms, which take seconds to compile: once for all programs (see `runtime/separate.py`).
#include "fourier.h"

namespace sdfgad {

#define INSTANTIATE(R)                                                                                  \
    template int fourier(const complex<R>*, complex<R>*, int64_t, int64_t, int64_t, int);               \
    template int real_fourier(const R*, complex<R>*, int64_t, int64_t, int64_t);                        \
    template int half_fourier(const complex<R>*, R*, int64_t, int64_t, int64_t);
INSTANTIATE(float)
INSTANTIATE(double)

}  // namespace sdfgad
