// The emulated device (gpu/include/emulated.h), which takes a second to compile: once for all programs.
// Fibers jump to each other's stacks, which checked jumps do not allow.
#undef _FORTIFY_SOURCE
#include <setjmp.h>
#include <ucontext.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../../gpu/include/emulated.h"

namespace sdfgad {
namespace emulated {

enum class Turn { runs, is_at_barrier, has_ended };

// A thread of a block, on a stack of its own. Once it has ended it waits for the next block.
struct Fiber {
    std::unique_ptr<char[]> stack;
    jmp_buf place;
    Turn turn = Turn::has_ended;
    bool is_started = false;
};

struct Books {
    std::map<uintptr_t, Block> blocks;
    std::mt19937_64 random{12345};
    std::string error;
    jmp_buf scheduler;
    std::vector<Fiber> fibers;
    void (*run)(const void* body) = nullptr;
    const void* body = nullptr;
    int64_t room = 0;  // bytes that may be allocated; 0: no limit
    int64_t held = 0;
    // Blocks that were given back, by their bytes and addresses: as those of a pool they are taken again, the same ones
    // whenever the same are idle, so that addresses recur.
    std::map<int64_t, std::map<uintptr_t, std::unique_ptr<char[]>>> idle;
    // What loops enqueued, by their keys; nullptr: not recorded yet. And what is recorded now.
    std::map<std::string, std::unique_ptr<std::vector<std::function<int()>>>> replays;
    std::vector<std::function<int()>>* recording = nullptr;
};

// Of the process, like `state`.
inline Books books;

void report(const std::string& what) {
    if (books.error.empty())
        books.error = what + " (block " + std::to_string(state.block) + ", thread " + std::to_string(state.thread) + ")";
}

Block* block_of(const void* address, int64_t* offset) {
    const uintptr_t at = reinterpret_cast<uintptr_t>(address);
    auto found = books.blocks.upper_bound(at);
    if (found == books.blocks.begin()) return nullptr;
    --found;
    *offset = at - found->first;
    return *offset <= found->second.bytes ? &found->second : nullptr;
}

// --- threads

// From a fiber to the scheduler; returns when it is the fiber's turn again.
static void leave(Turn turn) {
    Fiber& fiber = books.fibers[state.thread];
    fiber.turn = turn;
    if (_setjmp(fiber.place) == 0) _longjmp(books.scheduler, 1);
}

static void fiber_main() {
    while (true) {
        books.run(books.body);
        leave(Turn::has_ended);
    }
}

void barrier() { leave(Turn::is_at_barrier); }

[[noreturn]] static void start(Fiber& fiber) {
    constexpr size_t size = 1 << 16;
    if (!fiber.stack) fiber.stack = std::make_unique<char[]>(size);
    fiber.is_started = true;
    ucontext_t context;
    getcontext(&context);
    context.uc_stack.ss_sp = fiber.stack.get();
    context.uc_stack.ss_size = size;
    context.uc_link = nullptr;
    makecontext(&context, fiber_main, 0);
    setcontext(&context);
    std::abort();
}

// From the scheduler to a fiber, until it leaves. Jumps take a tenth of the time of swapcontext, which calls the system.
static void enter(int64_t thread) {
    state.thread = thread;
    if (_setjmp(books.scheduler) != 0) return;
    Fiber& fiber = books.fibers[thread];
    if (fiber.is_started) _longjmp(fiber.place, 1);
    start(fiber);
}

std::vector<int64_t> shuffled(int64_t count) {
    std::vector<int64_t> order(count);
    std::iota(order.begin(), order.end(), int64_t(0));
    std::shuffle(order.begin(), order.end(), books.random);
    return order;
}

void run_fibers(void (*run)(const void* body), const void* body) {
    const int64_t count = state.threads;
    if (int64_t(books.fibers.size()) < count) books.fibers.resize(count);
    const auto first = books.fibers.begin(), last = first + count;
    // Those that have not reached the end of their block never will.
    std::for_each(first, last, [](Fiber& fiber) {
        fiber.is_started = fiber.is_started && fiber.turn == Turn::has_ended;
        fiber.turn = Turn::runs;
    });
    books.run = run;
    books.body = body;
    state.epoch = 0;
    while (true) {
        for (int64_t k : shuffled(count))
            if (books.fibers[k].turn != Turn::has_ended) enter(k);
        const int64_t ended = std::count_if(first, last, [](const Fiber& one) { return one.turn == Turn::has_ended; });
        if (ended == count) return;
        if (ended != 0) return report("a barrier that not all threads of a block reach");
        ++state.epoch;
    }
}

// --- the table of functions

void* take(int64_t bytes) {
    const int64_t whole = (bytes + 511) / 512 * 512;
    if (books.room > 0 && books.held + whole > books.room) return nullptr;
    Block block;
    if (auto& idle = books.idle[whole]; !idle.empty()) {
        block.data = std::move(idle.begin()->second);
        idle.erase(idle.begin());
    } else {
        block.data = std::make_unique<char[]>(whole);
    }
    // Not a number, if it is one of floating point.
    std::memset(block.data.get(), 0xFF, whole);
    block.bytes = whole;
    block.shadow.resize(whole);
    const uintptr_t at = reinterpret_cast<uintptr_t>(block.data.get()) + away;
    books.held += whole;
    books.blocks.emplace(at, std::move(block));
    return reinterpret_cast<void*>(at);
}

void give(void* address) {
    auto found = books.blocks.find(reinterpret_cast<uintptr_t>(address));
    if (found == books.blocks.end()) return report("memory is released that is not the device's");
    books.held -= found->second.bytes;
    constexpr size_t most_idle = 16;
    auto& idle = books.idle[found->second.bytes];
    if (idle.size() < most_idle) idle.emplace(found->first, std::move(found->second.data));
    books.blocks.erase(found);
}

int outcome() { return books.error.empty() ? 0 : 1; }

// Arguments by value: no one is longer than a complex number.
struct Values {
    struct alignas(16) Value {
        char bytes[16];
    };
    std::vector<Value> held;

    explicit Values(void** arguments) {
        for (; *arguments != nullptr; ++arguments) std::memcpy(held.emplace_back().bytes, *arguments, sizeof(Value));
    }
    std::vector<void*> addresses() {
        std::vector<void*> found;
        for (Value& value : held) found.push_back(&value);
        found.push_back(nullptr);
        return found;
    }
};

void note(std::function<int()> enqueued) {
    if (books.recording != nullptr) books.recording->push_back(std::move(enqueued));
}

// As a device does: the first call with a key is watched, the second recorded, and the others are replays.
int replay(const void* key, int64_t bytes, void (*run)(void*), void* context) {
    const auto [place, is_new] = books.replays.try_emplace({static_cast<const char*>(key), size_t(bytes)});
    auto& recorded = place->second;
    if (recorded != nullptr) {
        for (const auto& enqueued : *recorded) enqueued();
        return outcome();
    }
    if (!is_new) {
        recorded = std::make_unique<std::vector<std::function<int()>>>();
        books.recording = recorded.get();
    }
    try {
        run(context);
    } catch (...) {
        books.recording = nullptr;
        books.replays.erase(place);
        throw;
    }
    books.recording = nullptr;
    return 0;
}

int launch(void* kernel, int64_t blocks, int64_t threads, void** arguments) {
    if (books.recording != nullptr) {
        note([=, values = std::make_shared<Values>(arguments)] {
            return launch(kernel, blocks, threads, values->addresses().data());
        });
    }
    const auto* chosen = static_cast<const Kernel*>(kernel);
    ++state.launch;
    state.threads = threads;
    for (int64_t block : shuffled(blocks)) {
        state.block = block;
        chosen->run(arguments);
    }
    return outcome();
}

char* bytes_of(const void* address, int64_t bytes, bool is_written) {
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

int to_device(void* device, const void* host, int64_t bytes) {
    if (char* data = bytes_of(device, bytes, true)) std::memcpy(data, host, bytes);
    return outcome();
}

int to_host(void* host, const void* device, int64_t bytes) {
    if (char* data = bytes_of(device, bytes, false)) std::memcpy(host, data, bytes);
    return outcome();
}

int copy(void* to, const void* from, int64_t bytes) {
    if (books.recording != nullptr) note([=] { return copy(to, from, bytes); });
    char *a = bytes_of(to, bytes, true), *b = bytes_of(from, bytes, false);
    if (a != nullptr && b != nullptr) std::memmove(a, b, bytes);
    return outcome();
}

template <typename T>
static void multiply(int ta, int tb, int64_t m, int64_t n, int64_t k, const void* alpha, const void* pa, int64_t lda,
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

int gemm(int type, int ta, int tb, int64_t m, int64_t n, int64_t k, const void* alpha, const void* a, int64_t lda,
                const void* b, int64_t ldb, const void* beta, void* c, int64_t ldc) {
    if (books.recording != nullptr) {
        void* scales[] = {const_cast<void*>(alpha), const_cast<void*>(beta), nullptr};
        note([=, values = std::make_shared<Values>(scales)] {
            return gemm(type, ta, tb, m, n, k, &values->held[0], a, lda, b, ldb, &values->held[1], c, ldc);
        });
    }
    ++state.launch;
    state.block = state.thread = 0;
    if (type == 0) multiply<double>(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    if (type == 1) multiply<float>(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    if (type == 2) multiply<complex<double>>(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    if (type == 3) multiply<complex<float>>(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    return outcome();
}

}  // namespace emulated
}  // namespace sdfgad

extern "C" const char* sdfgad_emulated_error() { return sdfgad::emulated::books.error.c_str(); }
extern "C" void sdfgad_emulated_reset(uint64_t seed, int64_t room) {
    sdfgad::emulated::books.error.clear();
    sdfgad::emulated::books.random.seed(seed);
    sdfgad::emulated::books.room = room;
}
