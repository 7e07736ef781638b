// Emulation of a device on the host: the very text of the kernels, compiled as C++.
//
// Blocks run in random order. The threads of a block that has barriers are fibers, which run in random order from one
// barrier to the next one. Addresses of device memory are not valid on the host, and shadow memory has for each element
// who wrote and who read it in the launch that runs: it finds races between threads, reads of what nothing has written,
// accesses out of bounds, and barriers that not all threads reach. It shows neither the order of memory between blocks nor
// speed, and never stands for a run on a device.
#pragma once
#include <ucontext.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "device.h"

#define SDFGAD_KERNEL static
#define SDFGAD_UNROLL
#define SDFGAD_IN(T) sdfgad::emulated::Pointer<const T>
#define SDFGAD_OUT(T) sdfgad::emulated::Pointer<T>
#define SDFGAD_FUNCTION inline
#define SDFGAD_SHARED(T, name, count) static sdfgad::emulated::Shared<T, count> name

namespace sdfgad {
namespace emulated {

constexpr int32_t nobody = -1, many = -2;
// Added to the addresses of device memory: no process has these.
constexpr uintptr_t away = uintptr_t(1) << 62;

// Who accessed an element last, in which launch and between which barriers.
struct Shadow {
    uint32_t write_launch = 0, read_launch = 0;
    int32_t writer = nobody, reader = nobody;
    uint16_t write_epoch = 0, read_epoch = 0;
    bool is_set = false;
};

struct Block {
    std::unique_ptr<char[]> data;
    int64_t bytes = 0;
    std::vector<Shadow> shadow;  // for each byte; an element has that of its first one
};

struct State {
    std::map<uintptr_t, Block> blocks;
    std::mt19937_64 random{12345};
    std::string error;
    uint32_t launch = 0;
    int64_t block = 0, thread = 0, threads = 1;
    uint16_t epoch = 0;
    ucontext_t scheduler;
    std::vector<ucontext_t> fibers;
    std::vector<int> waits;  // 0 runs, 1 is at a barrier, 2 has ended
    const void* body = nullptr;
    int64_t room = 0;  // bytes that may be allocated; 0: no limit
    int64_t held = 0;
};

// Of the process: all programs share one device. (Visible inline variables are unique, whatever library has them.)
inline State state;

inline void report(const std::string& what) {
    if (state.error.empty())
        state.error = what + " (block " + std::to_string(state.block) + ", thread " + std::to_string(state.thread) + ")";
}

inline Block* block_of(const void* address, int64_t* offset) {
    const uintptr_t at = reinterpret_cast<uintptr_t>(address);
    auto found = state.blocks.upper_bound(at);
    if (found == state.blocks.begin()) return nullptr;
    --found;
    *offset = at - found->first;
    return *offset <= found->second.bytes ? &found->second : nullptr;
}

// The number of a thread among all of a launch: within a block, what a barrier is between does not race.
inline int32_t self() { return int32_t(state.block << 10 | state.thread); }
inline bool is_apart(int32_t other, uint16_t epoch) {
    if (other == self() || other == nobody) return true;
    return other != many && (other >> 10) == state.block && epoch != state.epoch;
}

inline void note_read(Shadow* shadow) {
    if (shadow->write_launch == state.launch && !is_apart(shadow->writer, shadow->write_epoch))
        report("a race: one thread reads what another one writes");
    const bool is_first = shadow->read_launch != state.launch || shadow->reader == self();
    shadow->reader = is_first ? self() : many;
    shadow->read_launch = state.launch;
    shadow->read_epoch = state.epoch;
}

inline void note_write(Shadow* shadow, bool is_set) {
    if (shadow->write_launch == state.launch && !is_apart(shadow->writer, shadow->write_epoch))
        report("a race: two threads write the same element");
    if (shadow->read_launch == state.launch && !is_apart(shadow->reader, shadow->read_epoch))
        report("a race: one thread writes what another one reads");
    shadow->writer = self();
    shadow->write_launch = state.launch;
    shadow->write_epoch = state.epoch;
    shadow->is_set = is_set;
}

// Shared memory of a block. One block runs at a time, so that all of them have the same.
template <typename T, int count> struct Shared {
    T elements[count];
    Shadow shadow[count];
    int64_t owner = -1;

    Shadow* place(int64_t at) {
        const int64_t block = int64_t(state.launch) << 32 | state.block;
        if (owner != block) std::fill(shadow, shadow + count, Shadow());
        owner = block;
        if (at >= 0 && at < count) return &shadow[at];
        report("a kernel accesses element " + std::to_string(at) + " of " + std::to_string(count) + " in shared memory");
        return nullptr;
    }
};

template <typename T> class Pointer {
public:
    using Value = std::remove_const_t<T>;

    explicit Pointer(const void* address) {
        int64_t offset = 0;
        block = block_of(address, &offset);
        if (block == nullptr) {
            report("a kernel was passed an address that is not of the device's memory");
            return;
        }
        start = offset / int64_t(sizeof(Value));
    }

    Value read(int64_t at) const {
        if (!is_set(at)) report("a kernel reads an element that nothing has written");
        return peek(at);
    }

    bool is_set(int64_t at) const {
        const Shadow* shadow = place(at);
        return shadow == nullptr || shadow->is_set;
    }

    Value peek(int64_t at) const {
        Shadow* shadow = place(at);
        if (shadow == nullptr) return Value();
        note_read(shadow);
        return elements()[at];
    }

    void write(int64_t at, Value value, bool is_set = true) const {
        Shadow* shadow = place(at);
        if (shadow == nullptr) return;
        note_write(shadow, is_set);
        elements()[at] = value;
    }

private:
    Block* block;
    int64_t start = 0;

    Value* elements() const { return reinterpret_cast<Value*>(block->data.get()) + start; }

    Shadow* place(int64_t at) const {
        if (block == nullptr) return nullptr;
        if (at < 0 || at + start >= int64_t(block->bytes / sizeof(Value))) {
            report("a kernel accesses element " + std::to_string(at) + " of an array with fewer");
            return nullptr;
        }
        return &block->shadow[(at + start) * sizeof(Value)];
    }
};

// --- kernels

struct Kernel {
    void (*run)(void** arguments);
};

template <typename A> struct Passed {
    static A from(void* argument) { return *static_cast<A*>(argument); }
};
template <typename T> struct Passed<Pointer<T>> {
    static Pointer<T> from(void* argument) { return Pointer<T>(*static_cast<void**>(argument)); }
};

template <typename... A, size_t... k>
inline auto bound(void (*kernel)(A...), void** arguments, std::index_sequence<k...>) {
    return [kernel, passed = std::make_tuple(Passed<std::remove_const_t<A>>::from(arguments[k])...)] {
        std::apply(kernel, passed);
    };
}

inline void fiber_main() {
    (*static_cast<const std::function<void()>*>(state.body))();
    state.waits[state.thread] = 2;
}

inline void barrier() {
    const int64_t thread = state.thread;
    state.waits[thread] = 1;
    swapcontext(&state.fibers[thread], &state.scheduler);
}

inline std::vector<int64_t> shuffled(int64_t count) {
    std::vector<int64_t> order(count);
    std::iota(order.begin(), order.end(), int64_t(0));
    std::shuffle(order.begin(), order.end(), state.random);
    return order;
}

// Runs the threads of a block from barrier to barrier.
inline void run_fibers(const std::function<void()>& body) {
    constexpr size_t stack = 1 << 16;
    static std::vector<std::unique_ptr<char[]>> stacks;
    const int64_t count = state.threads;
    while (int64_t(stacks.size()) < count) stacks.push_back(std::make_unique<char[]>(stack));
    state.fibers.assign(count, ucontext_t());
    state.waits.assign(count, 0);
    state.body = &body;
    state.epoch = 0;
    for (int64_t k = 0; k < count; k++) {
        getcontext(&state.fibers[k]);
        state.fibers[k].uc_stack.ss_sp = stacks[k].get();
        state.fibers[k].uc_stack.ss_size = stack;
        state.fibers[k].uc_link = &state.scheduler;
        makecontext(&state.fibers[k], fiber_main, 0);
    }
    while (true) {
        for (int64_t k : shuffled(count)) {
            if (state.waits[k] == 2) continue;
            state.thread = k;
            swapcontext(&state.scheduler, &state.fibers[k]);
        }
        const int64_t ended = std::count(state.waits.begin(), state.waits.end(), 2);
        if (ended == count) return;
        if (ended != 0) {
            report("a barrier that not all threads of a block reach");
            return;
        }
        ++state.epoch;
        std::fill(state.waits.begin(), state.waits.end(), 0);
    }
}

template <typename... A> inline void run_all(void (*kernel)(A...), void** arguments, bool has_barriers) {
    const auto body = bound(kernel, arguments, std::index_sequence_for<A...>());
    if (has_barriers) return run_fibers(body);
    for (int64_t thread : shuffled(state.threads)) {
        state.thread = thread;
        body();
    }
}

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

[[gnu::visibility("hidden")]] inline const device::Functions functions{take, give, launch, to_device, to_host, copy, gemm};

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

}  // namespace sdfgad

#include "block_total.h"

extern "C" [[gnu::weak]] const char* sdfgad_emulated_error() { return sdfgad::emulated::state.error.c_str(); }
extern "C" [[gnu::weak]] void sdfgad_emulated_reset(uint64_t seed, int64_t room) {
    sdfgad::emulated::state.error.clear();
    sdfgad::emulated::state.random.seed(seed);
    sdfgad::emulated::state.room = room;
}
extern "C" [[gnu::weak]] const sdfgad::device::Functions* sdfgad_emulated_functions() { return &sdfgad::emulated::functions; }
