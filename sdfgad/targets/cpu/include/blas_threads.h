// Threads of matrix products: OpenBLAS does each part on one thread, and OpenMP's threads share the parts.
//
// Threads of OpenBLAS itself spin until others have packed what they read. Where another process has the core of one of
// them, that takes as long as the system lets it; and what they add up depends on how many there are. Parts depend on
// nothing but sizes, so that results are the same for any number of threads (docs/adr/0018).
#pragma once
#include <algorithm>
#include <cstdint>

#include <cblas.h>
#include <omp.h>

#include "blas_state.h"

namespace sdfgad {

// OpenBLAS on one thread, while it exists.
class OneThread {
public:
    // OpenMP's threads are those of a loop that has it on one thread.
    OneThread() : is_inner(omp_in_parallel()) {
        if (is_inner || blas_depth++ > 0) return;
        const Lock lock(blas_state.mutex);
        if (blas_state.users++ > 0) return;
        blas_state.before = scipy_openblas_get_num_threads();
        if (blas_state.before > 1) scipy_openblas_set_num_threads(1);
    }
    ~OneThread() {
        if (is_inner || --blas_depth > 0) return;
        const Lock lock(blas_state.mutex);
        if (--blas_state.users == 0 && blas_state.before > 1) scipy_openblas_set_num_threads(blas_state.before);
    }
    OneThread(const OneThread&) = delete;
    OneThread& operator=(const OneThread&) = delete;

    // How many may share parts: as many as OpenBLAS would take, and OpenMP has.
    int sharers() const { return is_inner ? 1 : std::min(blas_state.before, omp_get_max_threads()); }

private:
    bool is_inner;
};

// A part has at least so many products of numbers: one thread would do less before the others are awake, 0.1 ms.
inline constexpr double LEAST_PART = 3e6;
// Each part packs its operands anew, for which more parts of less than this are too dear.
inline constexpr double LARGE_PART = 2.5e8;
inline constexpr int FEW_PARTS = 4, MOST_PARTS = 64;
// Edges of parts are multiples of it, as kernels do so many rows at a time; and no part is smaller.
inline constexpr int64_t PART_UNIT = 16, SHORTEST_PART = 32;
// Of an output with at most so many elements parts may be sums of some of the products.
inline constexpr int64_t SMALL_OUTPUT = 16384;

inline int number_of_parts(double products) {
    const double few = std::min(products / LEAST_PART, double(FEW_PARTS));
    return std::max(1, int(std::max(few, std::min(products / LARGE_PART, double(MOST_PARTS)))));
}

// Where the k-th of `count` parts of a length starts.
inline int64_t edge(int64_t k, int64_t count, int64_t length) {
    return k == count ? length : k * length / count / PART_UNIT * PART_UNIT;
}

// Calls `part` for each number below `count`, in any order.
template <typename Part> inline void share(int count, const OneThread& threads, const Part& part) {
    if (count == 1 || threads.sharers() == 1) {
        for (int k = 0; k < count; k++) part(k);
        return;
    }
#pragma omp parallel for schedule(dynamic) num_threads(threads.sharers())
    for (int k = 0; k < count; k++) part(k);
}

// A product of (m, k) and (k, n) in parts: how many of its rows, columns and sums.
struct Cuts {
    int rows = 1, columns = 1, sums = 1;

    // The longest side is halved first, for it leaves most to do with what is packed.
    Cuts(int64_t m, int64_t n, int64_t k, double products) {
        const bool is_small = m * n <= SMALL_OUTPUT;
        for (int most = number_of_parts(products); 2 * count() <= most;) {
            const int64_t row = m / rows, column = n / columns, sum = is_small ? k / sums / 4 : 0;
            if (std::max({row, column, sum}) < 2 * SHORTEST_PART) break;
            (sum >= std::max(row, column) ? sums : row >= column ? rows : columns) *= 2;
        }
    }
    int count() const { return rows * columns * sums; }
};

}  // namespace sdfgad
