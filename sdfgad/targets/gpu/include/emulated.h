// Emulation of a device on the host: the very text of the kernels, compiled as C++.
//
// Blocks run in random order. The threads of a block that has barriers are fibers, which run in random order from one
// barrier to the next one. Addresses of device memory are not valid on the host, and shadow memory has for each element
// who wrote and who read it in the launch that runs: it finds races between threads, reads of what nothing has written,
// accesses out of bounds, and barriers that not all threads reach. It shows neither the order of memory between blocks nor
// speed, and never stands for a run on a device.
#pragma once
#include <cstdint>
#include <functional>
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

// --- the table of functions, which are compiled once for all programs (cpu/separate/emulated.cpp)

void* take(int64_t bytes);
void give(void* address);
int launch(void* kernel, int64_t blocks, int64_t threads, void** arguments);
int to_device(void* device, const void* host, int64_t bytes);
int to_host(void* host, const void* device, int64_t bytes);
int copy(void* to, const void* from, int64_t bytes);
int gemm(int type, int ta, int tb, int64_t m, int64_t n, int64_t k, const void* alpha, const void* a, int64_t lda, const void* b,
         int64_t ldb, const void* beta, void* c, int64_t ldc);

// Calls again what was enqueued when the key was seen last.
int replay(const void* key, int64_t bytes, void (*run)(void*), void* context);

// What is enqueued belongs to what is recorded, if something is.
void note(std::function<int()> enqueued);

// 0, or 1 after an error.
int outcome();

// Bytes of a block that the host copies from or to; what it writes is set.
char* bytes_of(const void* address, int64_t bytes, bool is_written);

// As long as no program includes emulated_library.h.
inline int call(int, int, void* const*, const int64_t*) {
    report("there is no library");
    return outcome();
}

[[gnu::visibility("hidden")]] inline device::Functions functions{take, give, launch, to_device, to_host, copy, gemm, call, replay};

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

extern "C" [[gnu::weak]] const sdfgad::device::Functions* sdfgad_emulated_functions() { return &sdfgad::emulated::functions; }
