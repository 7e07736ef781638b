// The threads of the emulated device: kernels with their arguments, blocks in random order, fibers between barriers.
#pragma once
#include <ucontext.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "emulated_memory.h"

namespace sdfgad {
namespace emulated {

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

}  // namespace emulated
}  // namespace sdfgad
