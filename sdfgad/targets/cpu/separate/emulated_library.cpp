// Functions of a device's libraries in the emulation (gpu/include/emulated_library.h), once for all programs.
#include <algorithm>
#include <array>
#include <cstdint>

#include "../../gpu/include/emulated.h"
#include "columns.h"
#include "fourier.h"

namespace sdfgad {
namespace emulated {

// The arrays of a call, one after the other, as the host's.
struct Arrays {
    void* const* next;

    template <typename T> const T* in(int64_t size) {
        const void* address = *next++;
        int64_t offset = 0;
        const T* data = reinterpret_cast<const T*>(bytes_of(address, size * int64_t(sizeof(T)), false));
        if (data == nullptr) return nullptr;
        const Block* block = block_of(address, &offset);
        bool is_set = true;
        for (int64_t k = 0; k < size; k++) is_set &= block->shadow[offset + k * int64_t(sizeof(T))].is_set;
        if (is_set) return data;
        // Not called: pivots, for one, would be anything.
        report("a library reads an element that nothing has written");
        return nullptr;
    }
    template <typename T> T* out(int64_t size) {
        return reinterpret_cast<T*>(bytes_of(*next++, size * int64_t(sizeof(T)), true));
    }
};

template <typename R> static void transform(device::Function function, Arrays arrays, const int64_t* sizes) {
    const int64_t outer = sizes[0], n = sizes[1], inner = sizes[2];
    const int64_t whole = outer * n * inner, half = outer * (n / 2 + 1) * inner;
    if (outer != 1 && inner != 1) return report("a transform of lines that no plan has");
    if (function == device::Function::fourier) {
        const auto* in = arrays.in<complex<R>>(whole);
        auto* out = arrays.out<complex<R>>(whole);
        if (in && out) fourier(in, out, outer, n, inner, int(sizes[3]));
    } else if (function == device::Function::real_fourier) {
        const auto* in = arrays.in<R>(whole);
        auto* out = arrays.out<complex<R>>(half);
        if (in && out) real_fourier(in, out, outer, n, inner);
    } else {
        const auto* in = arrays.in<complex<R>>(half);
        auto* out = arrays.out<R>(whole);
        if (in && out) half_fourier(in, out, outer, n, inner);
    }
}

template <typename T> static void solver(device::Function function, Arrays arrays, const int64_t* sizes) {
    using device::Function;
    const int64_t batch = sizes[0], n = sizes[1];
    if (function == Function::lu_columns) {
        const T* a = arrays.in<T>(batch * n * n);
        T* lu = arrays.out<T>(batch * n * n);
        auto* pivots = arrays.out<int32_t>(batch * n);
        auto* failed = arrays.out<int32_t>(batch);
        if (a && lu && pivots && failed) lu_columns(a, lu, pivots, failed, batch, n);
    } else {
        const T* lu = arrays.in<T>(batch * n * n);
        const auto* pivots = arrays.in<int32_t>(batch * n);
        const T* b = arrays.in<T>(batch * n * sizes[2]);
        T* x = arrays.out<T>(batch * n * sizes[2]);
        if (lu && pivots && b && x) lu_solve_columns(lu, pivots, b, x, batch, n, sizes[2], sizes[3]);
    }
}

template <typename T> static void cholesky(device::Function function, Arrays arrays, const int64_t* sizes) {
    const int64_t batch = sizes[0], n = sizes[1];
    if (function == device::Function::cholesky_columns) {
        const T* a = arrays.in<T>(batch * n * n);
        T* u = arrays.out<T>(batch * n * n);
        auto* failed = arrays.out<int32_t>(batch);
        if (a && u && failed) cholesky_columns(a, u, failed, batch, n);
    } else {
        const T* u = arrays.in<T>(batch * n * n);
        const T* b = arrays.in<T>(batch * n * sizes[2]);
        T* x = arrays.out<T>(batch * n * sizes[2]);
        if (u && b && x) upper_solve_columns(u, b, x, batch, n, sizes[2], sizes[3]);
    }
}

template <typename T> static void iteration(device::Function function, Arrays arrays, const int64_t* sizes) {
    using device::Function;
    const int64_t batch = sizes[0], m = sizes[1], n = function == Function::hermitian_columns ? m : sizes[2];
    const T* a = arrays.in<T>(batch * m * n);
    if (function == Function::hermitian_columns) {
        auto* w = arrays.out<double>(batch * n);
        T* v = arrays.out<T>(batch * n * n);
        auto* failed = arrays.out<int32_t>(batch);
        if (a && w && v && failed) hermitian_columns(a, w, v, failed, batch, n, sizes[2]);
    } else if (function == Function::singular_columns) {
        T* u = arrays.out<T>(batch * m * (sizes[3] ? m : n));
        auto* s = arrays.out<double>(batch * n);
        T* vh = arrays.out<T>(batch * n * n);
        auto* failed = arrays.out<int32_t>(batch);
        if (a && u && s && vh && failed) singular_columns(a, u, s, vh, failed, batch, m, n, sizes[3]);
    } else {
        T* q = arrays.out<T>(batch * m * std::min(m, n));
        T* r = arrays.out<T>(batch * m * n);
        if (a && q && r) qr_columns(a, q, r, batch, m, n);
    }
}

int call_host(int number, int type, void* const* arrays, const int64_t* sizes) {
    const auto function = device::Function(number);
    if (function <= device::Function::half_fourier) {
        // Only transforms are in loops that are replayed.
        const int64_t sign = function == device::Function::fourier ? sizes[3] : 0;
        note([=, in = arrays[0], out = arrays[1], held = std::array{sizes[0], sizes[1], sizes[2], sign}] {
            void* const both[] = {in, out};
            return call_host(number, type, both, held.data());
        });
    }
    ++state.launch;
    state.block = state.thread = 0;
    if (function <= device::Function::half_fourier) {
        if (type % 2 == 0) transform<double>(function, {arrays}, sizes);
        else transform<float>(function, {arrays}, sizes);
    } else if (type % 2 != 0) {
        report("matrices are factorised in double precision");
    } else if (function <= device::Function::lu_solve_columns) {
        if (type == 0) solver<double>(function, {arrays}, sizes);
        else solver<complex<double>>(function, {arrays}, sizes);
    } else if (function <= device::Function::upper_solve_columns) {
        if (type == 0) cholesky<double>(function, {arrays}, sizes);
        else cholesky<complex<double>>(function, {arrays}, sizes);
    } else {
        if (type == 0) iteration<double>(function, {arrays}, sizes);
        else iteration<complex<double>>(function, {arrays}, sizes);
    }
    return outcome();
}

}  // namespace emulated
}  // namespace sdfgad
