// The device, as the host part of a generated program reaches it: a table of functions, which the runtime passes, and
// memory that is counted as memory.h counts that of the host.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <new>
#include <string>

#include "complex_number.h"
#include "memory.h"

namespace sdfgad {

inline int64_t extent(int64_t n) { return std::max(n, int64_t(0)); }

namespace device {

// Functions of libraries, by their names in fourier.h and columns.h, whose arguments they have.
enum class Function : int {
    fourier,
    real_fourier,
    half_fourier,
    lu_columns,
    lu_solve_columns,
    cholesky_columns,
    upper_solve_columns,
    hermitian_columns,
    singular_columns,
    qr_columns,
};

// Work is enqueued on the calling thread's stream. What returns an int returns 0, or an error code of the runtime.
// Products are of row-major matrices; their factors are taken as they are (0), transposed (1), or conjugated, too (2).
struct Functions {
    // nullptr, where there is no memory left.
    void* (*take)(int64_t bytes);
    void (*give)(void* block);
    int (*launch)(void* kernel, int64_t blocks, int64_t threads, void** arguments);
    int (*to_device)(void* device, const void* host, int64_t bytes);
    // Waits for the stream.
    int (*to_host)(void* host, const void* device, int64_t bytes);
    int (*copy)(void* to, const void* from, int64_t bytes);
    // C (m by n) = alpha op(A) op(B) + beta C. Types: 0 double, 1 float, 2 complex double, 3 complex float.
    int (*gemm)(int type, int transpose_a, int transpose_b, int64_t m, int64_t n, int64_t k, const void* alpha, const void* a,
                int64_t lda, const void* b, int64_t ldb, const void* beta, void* c, int64_t ldc);
    // A function on arrays of the device, inputs before outputs; the type is that of the first one.
    int (*call)(int function, int type, void* const* arrays, const int64_t* sizes);
    // Enqueues what `run` enqueues, maybe without calling it, if it was called with the same key before: launches, copies
    // on the device, products and transforms, which depend on the key alone. nullptr: call it each time.
    int (*replay)(const void* key, int64_t bytes, void (*run)(void* context), void* context);
};

// Raised where a function of the table fails.
struct Failure {
    int code;
};

constexpr int64_t threads_per_block = 256;
// As the driver aligns blocks: sizes are counted in whole units of it.
constexpr int64_t unit = 512;

// Hidden: one for each library, as in memory.h.
[[gnu::visibility("hidden")]] inline const Functions* functions = nullptr;
[[gnu::visibility("hidden")]] inline void* const* kernels = nullptr;
[[gnu::visibility("hidden")]] inline std::atomic<int64_t> live{0}, peak{0};

inline void check(int code) {
    if (code != 0) [[unlikely]] throw Failure{code};
}

template <typename T> inline int64_t bytes_of(int64_t size) {
    if (size > (std::numeric_limits<int64_t>::max() - unit) / int64_t(sizeof(T))) throw std::bad_alloc();
    return std::max(unit, (size * int64_t(sizeof(T)) + unit - 1) / unit * unit);
}

inline void count(int64_t bytes) {
    const int64_t now = live.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    int64_t most = peak.load(std::memory_order_relaxed);
    while (now > most && !peak.compare_exchange_weak(most, now, std::memory_order_relaxed)) {}
}

[[gnu::noinline]] inline void* allocate(int64_t bytes) {
    void* block = functions->take(bytes);
    if (block == nullptr) throw std::bad_alloc();
    count(bytes);
    return block;
}

inline void release(void* block, int64_t bytes) {
    if (block == nullptr) return;
    functions->give(block);
    count(-bytes);
}

inline int64_t blocks_of(int64_t points) { return (points + threads_per_block - 1) / threads_per_block; }

// An argument, which the emulation copies without knowing its type.
struct alignas(16) Slot {
    char bytes[16] = {};

    template <typename T> explicit Slot(const T& value) {
        static_assert(sizeof(T) <= sizeof bytes);
        std::memcpy(bytes, &value, sizeof value);
    }
};

// Launches a kernel, whose parameters must have the types of these arguments, exactly.
template <typename... Arguments> inline void launch(int number, int64_t blocks, int64_t threads, Arguments... arguments) {
    if (blocks <= 0) return;
    Slot slots[] = {Slot(arguments)..., Slot(0)};
    void* addresses[sizeof...(Arguments) + 1] = {};
    for (size_t at = 0; at < sizeof...(Arguments); ++at) addresses[at] = &slots[at];
    check(functions->launch(kernels[number], blocks, threads, addresses));
}

// The bytes that a replay depends on: of a value, which has no padding, or of an array of the host.
struct Bytes {
    const void* place;
    size_t count;
};
template <typename T> inline Bytes bytes_in(const T& value) { return {&value, sizeof value}; }
inline Bytes bytes_in(const Bytes& bytes) { return bytes; }
template <typename T> inline Bytes elements(const T* array, int64_t size) {
    return {array, sizeof(T) * size_t(std::max(size, int64_t(0)))};
}

// Runs a loop of launches as a CUDA graph, where that is faster: they depend on the parts of the key alone, and change
// nothing on the host. Each loop of a program has a site of its own.
template <typename Run, typename... Parts> inline void replayed(const Run& run, Parts... parts) {
    constexpr size_t most_bytes = 1 << 16;
    static const char site = 0;
    const void* const loop = &site;
    const Bytes all[] = {bytes_in(loop), bytes_in(parts)...};
    size_t bytes = 0;
    for (const Bytes& part : all) bytes += part.count;
    if (functions->replay == nullptr || bytes > most_bytes) return run();
    std::string key;
    for (const Bytes& part : all) key.append(static_cast<const char*>(part.place), part.count);
    const auto again = [](void* context) { (*static_cast<const Run*>(context))(); };
    check(functions->replay(key.data(), int64_t(bytes), again, const_cast<void*>(static_cast<const void*>(&run))));
}

template <typename T> inline void to_device(T* device, const T* host, int64_t size) {
    if (size > 0) check(functions->to_device(device, host, size * int64_t(sizeof(T))));
}

template <typename T> inline void to_host(T* host, const T* device, int64_t size) {
    if (size > 0) check(functions->to_host(host, device, size * int64_t(sizeof(T))));
}

template <typename T> inline void copy(T* to, const T* from, int64_t size) {
    if (size > 0) check(functions->copy(to, from, size * int64_t(sizeof(T))));
}

// A single value: of a condition, or of a bound of a loop.
template <typename T> inline T read(const T* device) {
    T value;
    to_host(&value, device, 1);
    return value;
}

template <typename T> struct Type;
template <> struct Type<double> { static constexpr int code = 0; };
template <> struct Type<float> { static constexpr int code = 1; };
template <> struct Type<complex<double>> { static constexpr int code = 2; };
template <> struct Type<complex<float>> { static constexpr int code = 3; };

template <typename T>
inline void gemm(int transpose_a, int transpose_b, int64_t m, int64_t n, int64_t k, T alpha, const T* a, int64_t lda, const T* b,
                 int64_t ldb, T beta, T* c, int64_t ldc) {
    check(functions->gemm(Type<T>::code, transpose_a, transpose_b, m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc));
}

template <typename T> inline void call(Function function, std::initializer_list<void*> arrays, std::initializer_list<int64_t> sizes) {
    check(functions->call(int(function), Type<T>::code, arrays.begin(), sizes.begin()));
}

// The memory of the device.
struct Memory {
    template <typename T> static int64_t bytes_of(int64_t size) { return device::bytes_of<T>(size); }
    static void* allocate(int64_t bytes) { return device::allocate(bytes); }
    static void release(void* block, int64_t bytes) { device::release(block, bytes); }
};

template <int count> using Blocks = BlocksIn<count, Memory>;

// As of `guarded` in guard.h, or this and the error code of a function of the table.
constexpr int first_failure = 1 << 20;

template <typename Run> int guarded(const Run& run) {
    try {
        return sdfgad::guarded(run);
    } catch (const Failure& failure) {
        return first_failure + failure.code;
    }
}

}  // namespace device
}  // namespace sdfgad

// Weak: object files that are compiled separately have them, too.
extern "C" [[gnu::weak]] void sdfgad_use_device(const sdfgad::device::Functions* functions, void* const* kernels) {
    sdfgad::device::functions = functions;
    sdfgad::device::kernels = kernels;
}
extern "C" [[gnu::weak]] int64_t sdfgad_device_peak_bytes() { return sdfgad::device::peak.load(); }
extern "C" [[gnu::weak]] void sdfgad_reset_device_peak() { sdfgad::device::peak.store(sdfgad::device::live.load()); }
