// Memory that is counted: what a library's transient arrays and workspaces hold, and the most that they ever held.
//
// Sizes are counted in whole cache lines. A size that cannot be had raises std::bad_alloc. Blocks come from the pool of the
// process (sdfgad/runtime/pool.cpp) as soon as the library is told of it, but for small ones, which malloc keeps itself.
//
// Not by <atomic>: g++ instantiates what that uses of strings and clocks in each program anew, which takes it 60 ms.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <new>

#include <omp.h>

#include "guard.h"

namespace sdfgad {

// Where an array would begin of which a slice, from an offset on, is at some place.
template <typename T> inline T* beginning(T* slice, int64_t offset) {
    return reinterpret_cast<T*>(reinterpret_cast<uintptr_t>(slice) - uintptr_t(offset) * sizeof(T));
}
// Where a thread keeps what is needed in a strip alone, in storage for all strips of a loop: in that of the strip with the
// thread's number, or where threads are more than strips, in that of the first strip of the thread's part of the loop.
inline int64_t slot(int64_t strips, int64_t first) {
    return omp_get_num_threads() <= strips ? omp_get_thread_num() : first;
}
namespace memory {

constexpr int64_t line = 64;
// From here on blocks come from the pool: up to there malloc has lists of its own for each thread.
constexpr int64_t pooled_from = int64_t(1) << 10;

// Hidden, here and below: one for each library, among all of which the dynamic linker would share a visible variable.
[[gnu::visibility("hidden")]] inline int64_t live = 0, peak = 0;

using Take = void* (*)(int64_t);
using Give = void (*)(void*);
static void* take_alone(int64_t bytes) { return std::aligned_alloc(line, bytes); }
static void give_alone(void* block) { std::free(block); }
[[gnu::visibility("hidden")]] inline Take take = take_alone;
[[gnu::visibility("hidden")]] inline Give give = give_alone;

inline int64_t rounded(int64_t bytes) { return std::max(line, (bytes + line - 1) / line * line); }

template <typename T> inline int64_t bytes_of(int64_t size) {
    if (size > (std::numeric_limits<int64_t>::max() - line) / int64_t(sizeof(T))) throw std::bad_alloc();
    return rounded(size * int64_t(sizeof(T)));
}

static void count(int64_t bytes) {
    const int64_t now = __atomic_add_fetch(&live, bytes, __ATOMIC_RELAXED);
    int64_t most = __atomic_load_n(&peak, __ATOMIC_RELAXED);
    while (now > most && !__atomic_compare_exchange_n(&peak, &most, now, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
}

// A number of elements; a product that is too large for 64 bits is the largest number.
struct Extent {
    int64_t value;
    Extent(int64_t value) : value(value) {}
};

inline Extent operator*(Extent a, Extent b) {
    int64_t product;
    return __builtin_mul_overflow(a.value, b.value, &product) ? std::numeric_limits<int64_t>::max() : product;
}

// DaCe writes a third power as a loop.
inline Extent& operator*=(Extent& a, Extent b) { return a = a * b; }

// DaCe's Max returns the type of its first argument, which is int for the number 1.
inline Extent largest(int64_t a, int64_t b) { return std::max(a, b); }

// Not inlined, so that GCC takes the attributes' word for it that nothing else points to the result.
[[gnu::malloc, gnu::noinline, gnu::returns_nonnull, gnu::assume_aligned(64)]] static void* allocate(int64_t bytes) {
    void* block = bytes >= pooled_from ? take(bytes) : take_alone(bytes);
    if (block == nullptr) throw std::bad_alloc();
    count(bytes);
    return block;
}

static void release(void* block, int64_t bytes) {
    if (block == nullptr) return;
    bytes >= pooled_from ? give(block) : give_alone(block);
    count(-bytes);
}

// Counts memory that a function of the standard library allocates by itself.
class Foreign {
public:
    explicit Foreign(int64_t bytes) : bytes(rounded(bytes)) { count(this->bytes); }
    ~Foreign() { count(-bytes); }
    Foreign(const Foreign&) = delete;
    Foreign& operator=(const Foreign&) = delete;

private:
    int64_t bytes;
};

inline void need(int64_t slot, int64_t slots) {
    if (slot >= slots) [[unlikely]] throw NoRoom();
}

}  // namespace memory

// The arrays of one run of a program in some memory, by number; what is left is released at its end, or where memory runs
// out.
template <int count, typename Memory> class BlocksIn {
public:
    BlocksIn() = default;
    BlocksIn(const BlocksIn&) = delete;
    BlocksIn& operator=(const BlocksIn&) = delete;
    ~BlocksIn() {
        for (int number = 0; number < count; number++) release(number);
    }

    template <typename T> T* allocate(int number, memory::Extent size) {
        const int64_t bytes = Memory::template bytes_of<T>(size.value);
        void* block = Memory::allocate(bytes);
        blocks[number] = {block, bytes};
        return static_cast<T*>(block);
    }

    // Not inlined: a program has many.
    [[gnu::noinline]] void release(int number) {
        Memory::release(blocks[number].place, blocks[number].bytes);
        blocks[number].place = nullptr;
    }

private:
    struct Block {
        void* place = nullptr;
        int64_t bytes = 0;
    };

    Block blocks[std::max(count, 1)];
};

// The memory of the host.
struct HostMemory {
    template <typename T> static int64_t bytes_of(int64_t size) { return memory::bytes_of<T>(size); }
    static void* allocate(int64_t bytes) { return memory::allocate(bytes); }
    static void release(void* block, int64_t bytes) { memory::release(block, bytes); }
};

template <int count> using Blocks = BlocksIn<count, HostMemory>;

}  // namespace sdfgad

// Weak: object files that are compiled separately have them, too.
extern "C" [[gnu::weak]] void sdfgad_use_pool(sdfgad::memory::Take take, sdfgad::memory::Give give) {
    sdfgad::memory::take = take;
    sdfgad::memory::give = give;
}
extern "C" [[gnu::weak]] int64_t sdfgad_peak_bytes() { return __atomic_load_n(&sdfgad::memory::peak, __ATOMIC_SEQ_CST); }
extern "C" [[gnu::weak]] void sdfgad_reset_peak() {
    __atomic_store_n(&sdfgad::memory::peak, __atomic_load_n(&sdfgad::memory::live, __ATOMIC_SEQ_CST), __ATOMIC_SEQ_CST);
}
