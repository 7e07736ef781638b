// As the host part of a generated program.
#include <cstdint>
#include <stdexcept>

#include "device.h"

using namespace sdfgad;

extern "C" {

// x *= factor, by a temporary array; the kernel is number 0.
int scaled(double* x, int64_t size, double factor) {
    return device::guarded([&] {
        device::Blocks<2> blocks;
        double* y = blocks.allocate<double>(0, size);
        device::copy<double>(y, x, size);
        device::launch(0, device::blocks_of(size), device::threads_per_block, y, size, factor);
        device::copy<double>(x, y, size);
        blocks.release(0);
        blocks.allocate<float>(1, memory::Extent(3) * memory::Extent(7));
    });
}

// As many arrays of so many bytes.
int filled(int64_t bytes) {
    return device::guarded([&] {
        device::Blocks<3> blocks;
        for (int number = 0; number < 3; number++) blocks.allocate<char>(number, bytes);
    });
}

int failed() {
    return device::guarded([] { device::launch(1, 1, 1); });
}

int too_small() {
    return device::guarded([] { memory::need(1, 1); });
}

// As many times x *= factor, and C = A B of 2 by 2, as a graph; `hidden` is a number that the key does not have.
int repeated(double* x, int64_t size, double factor, int64_t times, double* a, double* c, double hidden) {
    return device::guarded([&] {
        device::replayed(
            [&] {
                for (int64_t t = 0; t < times; t++)
                    device::launch(0, device::blocks_of(size), device::threads_per_block, x, size, factor * hidden);
                if (a != nullptr) device::gemm<double>(0, 0, 2, 2, 2, 1.0, a, 2, a, 2, 0.0, c, 2);
            },
            x, size, factor, times, a, c);
    });
}

// A loop that fails after some launches.
int failing(double* x, int64_t size, int64_t times) {
    return device::guarded([&] {
        device::replayed(
            [&] {
                for (int64_t t = 0; t < times; t++) device::launch(0, 1, 1, x, size, 2.0);
                memory::need(1, 1);
            },
            x, size, times);
    });
}

double first(const double* x) { return device::read(x); }

// C = A^H B.
int product(int64_t m, int64_t n, int64_t k, const sdfgad::complex<double>* a, const sdfgad::complex<double>* b,
            sdfgad::complex<double>* c) {
    return device::guarded([&] { device::gemm<sdfgad::complex<double>>(2, 0, m, n, k, 1, a, m, b, n, 0, c, n); });
}
}
