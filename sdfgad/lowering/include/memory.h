// Memory that is counted: what a library's transient arrays and workspaces hold, and the most that they ever held.
//
// Sizes are counted in whole cache lines. A size that cannot be had raises std::bad_alloc.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <vector>

#include <sys/mman.h>

namespace sdfgad {
namespace memory {

constexpr int64_t line = 64;
// Of larger pages a big array needs fewer, and the kernel clears each in one go: first writes are several times faster.
constexpr int64_t huge_page = int64_t(2) << 20;

// Internal linkage, here and below: the dynamic linker would share such a variable between all libraries.
static std::atomic<int64_t> live{0}, peak{0};

inline int64_t rounded(int64_t bytes) { return std::max(line, (bytes + line - 1) / line * line); }

template <typename T> inline int64_t bytes_of(int64_t size) {
    if (size > (std::numeric_limits<int64_t>::max() - line) / int64_t(sizeof(T))) throw std::bad_alloc();
    return rounded(size * int64_t(sizeof(T)));
}

static void count(int64_t bytes) {
    int64_t now = live.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    int64_t most = peak.load(std::memory_order_relaxed);
    while (now > most && !peak.compare_exchange_weak(most, now, std::memory_order_relaxed)) {}
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

// DaCe's Max returns the type of its first argument, which is int for the number 1.
inline Extent largest(int64_t a, int64_t b) { return std::max(a, b); }

// Not inlined, so that GCC takes the attributes' word for it that nothing else points to the result.
[[gnu::malloc, gnu::noinline, gnu::returns_nonnull, gnu::assume_aligned(64)]] static void* allocate(int64_t bytes) {
    const bool is_big = bytes >= 2 * huge_page;
    void* block = std::aligned_alloc(is_big ? huge_page : line, bytes);
    if (block == nullptr) throw std::bad_alloc();
    if (is_big) madvise(block, bytes, MADV_HUGEPAGE);
    count(bytes);
    return block;
}

static void release(void* block, int64_t bytes) {
    if (block == nullptr) return;
    std::free(block);
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

template <typename T> struct Allocator {
    using value_type = T;

    Allocator() = default;
    template <typename Other> Allocator(const Allocator<Other>&) {}

    T* allocate(size_t size) { return static_cast<T*>(memory::allocate(bytes_of<T>(size))); }
    void deallocate(T* block, size_t size) { memory::release(block, bytes_of<T>(size)); }

    template <typename Other> bool operator==(const Allocator<Other>&) const { return true; }
};

template <typename T> struct Releaser {
    int64_t size = 0;
    void operator()(T* block) const { memory::release(block, bytes_of<T>(size)); }
};

}  // namespace memory

// The arrays of one run of a program, by number; what is left is released at its end, or where memory runs out.
template <int count> class Blocks {
public:
    Blocks() = default;
    Blocks(const Blocks&) = delete;
    Blocks& operator=(const Blocks&) = delete;
    ~Blocks() {
        for (int number = 0; number < count; number++) release(number);
    }

    template <typename T> T* allocate(int number, memory::Extent size) {
        const int64_t bytes = memory::bytes_of<T>(size.value);
        void* block = memory::allocate(bytes);
        blocks[number] = {block, bytes};
        return static_cast<T*>(block);
    }

    // Not inlined: a program has many.
    [[gnu::noinline]] void release(int number) {
        memory::release(blocks[number].place, blocks[number].bytes);
        blocks[number].place = nullptr;
    }

private:
    struct Block {
        void* place = nullptr;
        int64_t bytes = 0;
    };

    Block blocks[count];
};

template <typename T> using Array = std::unique_ptr<T[], memory::Releaser<T>>;
template <typename T> using Vector = std::vector<T, memory::Allocator<T>>;

// Elements without values.
template <typename T> inline Array<T> array(int64_t size) {
    T* block = static_cast<T*>(memory::allocate(memory::bytes_of<T>(size)));
    return Array<T>(block, memory::Releaser<T>{size});
}

}  // namespace sdfgad

extern "C" int64_t sdfgad_peak_bytes() { return sdfgad::memory::peak.load(); }
extern "C" void sdfgad_reset_peak() { sdfgad::memory::peak.store(sdfgad::memory::live.load()); }
