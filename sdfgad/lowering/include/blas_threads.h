// How many threads OpenBLAS takes for a call.
#pragma once
#include <cblas.h>

namespace sdfgad {

// For less work one thread is done before the others are awake: about 0.1 ms.
inline constexpr double SMALL_WORK = 6e6;

// One thread, while it exists, if there is little work: so many products of numbers.
class BlasThreads {
public:
    explicit BlasThreads(double products) : before(products < SMALL_WORK ? scipy_openblas_get_num_threads() : 1) {
        if (before > 1) scipy_openblas_set_num_threads(1);
    }
    // Where it was one already, another thread of the program may be here, which puts it back.
    ~BlasThreads() {
        if (before > 1) scipy_openblas_set_num_threads(before);
    }
    BlasThreads(const BlasThreads&) = delete;
    BlasThreads& operator=(const BlasThreads&) = delete;

private:
    int before;
};

}  // namespace sdfgad
