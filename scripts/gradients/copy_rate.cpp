// Prints the bytes a second, reads and writes together, at which all threads copy an array that no cache holds.
#include <omp.h>

#include <cstdio>
#include <cstdlib>

static void copy(const double *__restrict from, double *__restrict to, long size) {
#pragma omp parallel for schedule(static)
    for (long i = 0; i < size; ++i) to[i] = from[i];
}

int main(int count, char **arguments) {
    const long size = count > 1 ? std::atol(arguments[1]) : 1L << 26;
    double *from = static_cast<double *>(std::malloc(size * sizeof(double)));
    double *to = static_cast<double *>(std::malloc(size * sizeof(double)));
    if (!from || !to) return 1;
#pragma omp parallel for schedule(static)
    for (long i = 0; i < size; ++i) from[i] = to[i] = i;  // Each thread gets its own pages.
    double best = 0.0;
    for (int repeat = 0; repeat < 8; ++repeat) {
        const double start = omp_get_wtime();
        copy(from, to, size);
        const double rate = 2.0 * sizeof(double) * size / (omp_get_wtime() - start);
        if (rate > best && to[size / 2] == size / 2) best = rate;
    }
    std::printf("%.6g\n", best);
    return 0;
}
