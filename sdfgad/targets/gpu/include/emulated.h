// Emulation of a device on the host: the very text of the kernels, compiled as C++.
//
// Blocks run in random order. The threads of a block that has barriers are fibers, which run in random order from one
// barrier to the next one. Addresses of device memory are not valid on the host, and shadow memory has for each element
// who wrote and who read it in the launch that runs: it finds races between threads, reads of what nothing has written,
// accesses out of bounds, and barriers that not all threads reach. It shows neither the order of memory between blocks nor
// speed, and never stands for a run on a device.
#pragma once
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>

#include "device.h"
#include "emulated_threads.h"

#define SDFGAD_KERNEL static void
#define SDFGAD_WIDE_KERNEL(threads) SDFGAD_KERNEL
#define SDFGAD_UNROLL
#define SDFGAD_IN(T) sdfgad::emulated::Pointer<const T>
#define SDFGAD_OUT(T) sdfgad::emulated::Pointer<T>
#define SDFGAD_FUNCTION inline
#define SDFGAD_SHARED(T, name, count) static sdfgad::emulated::Shared<T, count> name

namespace sdfgad {
namespace emulated {

// --- the table of functions

inline void* take(int64_t bytes) {
    const int64_t whole = (bytes + 511) / 512 * 512;
    if (state.room > 0 && state.held + whole > state.room) return nullptr;
    Block block;
    block.data = std::make_unique<char[]>(whole);
    // Not a number, if it is one of floating point.
    std::memset(block.data.get(), 0xFF, whole);
    block.bytes = whole;
    block.shadow.resize(whole);
    const uintptr_t at = reinterpret_cast<uintptr_t>(block.data.get()) + away;
    state.held += whole;
    state.blocks.emplace(at, std::move(block));
    return reinterpret_cast<void*>(at);
}

inline void give(void* address) {
    auto found = state.blocks.find(reinterpret_cast<uintptr_t>(address));
    if (found == state.blocks.end()) return report("memory is released that is not the device's");
    state.held -= found->second.bytes;
    state.blocks.erase(found);
}

inline int outcome() { return state.error.empty() ? 0 : 1; }

inline int launch(void* kernel, int64_t blocks, int64_t threads, void** arguments) {
    const auto* chosen = static_cast<const Kernel*>(kernel);
    ++state.launch;
    state.threads = threads;
    for (int64_t block : shuffled(blocks)) {
        state.block = block;
        chosen->run(arguments);
    }
    return outcome();
}

// Bytes of a block that the host copies from or to; what it writes is set.
inline char* bytes_of(const void* address, int64_t bytes, bool is_written) {
    int64_t offset = 0;
    Block* block = block_of(address, &offset);
    if (block == nullptr || offset + bytes > block->bytes) {
        report("a copy from or to what is not the device's memory");
        return nullptr;
    }
    if (is_written)
        for (int64_t k = offset; k < offset + bytes; k++) block->shadow[k].is_set = true;
    return block->data.get() + offset;
}

inline int to_device(void* device, const void* host, int64_t bytes) {
    if (char* data = bytes_of(device, bytes, true)) std::memcpy(data, host, bytes);
    return outcome();
}

inline int to_host(void* host, const void* device, int64_t bytes) {
    if (char* data = bytes_of(device, bytes, false)) std::memcpy(host, data, bytes);
    return outcome();
}

inline int copy(void* to, const void* from, int64_t bytes) {
    char *a = bytes_of(to, bytes, true), *b = bytes_of(from, bytes, false);
    if (a != nullptr && b != nullptr) std::memmove(a, b, bytes);
    return outcome();
}

template <typename T>
inline void multiply(int ta, int tb, int64_t m, int64_t n, int64_t k, const void* alpha, const void* pa, int64_t lda,
                     const void* pb, int64_t ldb, const void* beta, void* pc, int64_t ldc) {
    const T one = *static_cast<const T*>(alpha), zero = *static_cast<const T*>(beta);
    const Pointer<const T> a(pa), b(pb);
    const Pointer<T> c(pc);
    const auto element = [](const Pointer<const T>& x, int transpose, int64_t i, int64_t j, int64_t ld) {
        const T value = transpose ? x.read(j * ld + i) : x.read(i * ld + j);
        if constexpr (!std::is_floating_point_v<T>)
            if (transpose == 2) return T(value.re, -value.im);
        return value;
    };
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            T sum = T(0);
            for (int64_t l = 0; l < k; l++) sum = sum + element(a, ta, i, l, lda) * element(b, tb, l, j, ldb);
            // As in BLAS, a target that is multiplied by zero is not read.
            c.write(i * ldc + j, zero == T(0) ? one * sum : one * sum + zero * Pointer<const T>(pc).read(i * ldc + j));
        }
}

inline int gemm(int type, int ta, int tb, int64_t m, int64_t n, int64_t k, const void* alpha, const void* a, int64_t lda,
                const void* b, int64_t ldb, const void* beta, void* c, int64_t ldc) {
    ++state.launch;
    state.block = state.thread = 0;
    if (type == 0) multiply<double>(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    if (type == 1) multiply<float>(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    if (type == 2) multiply<complex<double>>(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    if (type == 3) multiply<complex<float>>(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    return outcome();
}

// As long as no program includes emulated_library.h.
inline int call(int, int, void* const*, const int64_t*) {
    report("there is no library");
    return outcome();
}

[[gnu::visibility("hidden")]] inline device::Functions functions{take, give, launch, to_device, to_host, copy, gemm, call};

}  // namespace emulated

// --- the words of kernels

inline int64_t point() { return emulated::state.block * emulated::state.threads + emulated::state.thread; }
inline int64_t block() { return emulated::state.block; }
inline int64_t lane() { return emulated::state.thread; }

template <typename T> inline auto load(const emulated::Pointer<T>& array, int64_t at) { return array.read(at); }
template <typename T, typename V> inline void store(const emulated::Pointer<T>& array, int64_t at, V value) {
    array.write(at, T(value));
}

template <typename T> inline auto peek(const emulated::Pointer<T>& array, int64_t at) { return array.peek(at); }
template <typename T, typename V>
inline void move(const emulated::Pointer<T>& to, int64_t at, const emulated::Pointer<V>& of, int64_t place) {
    to.write(at, of.peek(place), of.is_set(place));
}

template <typename T, int count> inline T load(emulated::Shared<T, count>& array, int64_t at) {
    emulated::Shadow* shadow = array.place(at);
    if (shadow == nullptr) return T();
    if (!shadow->is_set) emulated::report("a kernel reads an element of shared memory that nothing has written");
    emulated::note_read(shadow);
    return array.elements[at];
}

template <typename T, int count, typename V> inline void store(emulated::Shared<T, count>& array, int64_t at, V value) {
    emulated::Shadow* shadow = array.place(at);
    if (shadow == nullptr) return;
    emulated::note_write(shadow, true);
    array.elements[at] = T(value);
}

inline void barrier() { emulated::barrier(); }

// All threads of the block call it.
template <typename T> inline T from_lane(T value, int64_t from) {
    static emulated::Shared<T, 1024> values;
    store(values, lane(), value);
    barrier();
    const bool is_there = from / 32 == lane() / 32 && from < emulated::state.threads;
    const T found = is_there ? load(values, from) : value;
    barrier();
    return found;
}

template <typename T> inline void atomic_add(const emulated::Pointer<T>& array, int64_t at, T value) {
    array.combine(at, [value](T now) { return T(std::make_unsigned_t<T>(now) + std::make_unsigned_t<T>(value)); });
}

template <typename T, typename Combine>
inline void atomic_extremum(const emulated::Pointer<T>& array, int64_t at, T value, Combine combine) {
    array.combine(at, [value, combine](T now) { return combine(now, value); });
}

}  // namespace sdfgad

#include "extrema.h"
#include "block_total.h"

extern "C" [[gnu::weak]] const char* sdfgad_emulated_error() { return sdfgad::emulated::state.error.c_str(); }
extern "C" [[gnu::weak]] void sdfgad_emulated_reset(uint64_t seed, int64_t room) {
    sdfgad::emulated::state.error.clear();
    sdfgad::emulated::state.random.seed(seed);
    sdfgad::emulated::state.room = room;
}
extern "C" [[gnu::weak]] const sdfgad::device::Functions* sdfgad_emulated_functions() { return &sdfgad::emulated::functions; }
