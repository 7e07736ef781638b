// The threads of the emulated device: kernels with their arguments, blocks in random order, fibers between barriers.
#pragma once
#include <cstdint>
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

// Ends at the next barrier, until all other threads of the block are there.
void barrier();

// Numbers in random order.
std::vector<int64_t> shuffled(int64_t count);

// Runs the threads of a block from barrier to barrier: `run` of `body`.
void run_fibers(void (*run)(const void* body), const void* body);

template <typename... A> inline void run_all(void (*kernel)(A...), void** arguments, bool has_barriers) {
    const auto body = bound(kernel, arguments, std::index_sequence_for<A...>());
    if (has_barriers)
        return run_fibers([](const void* one) { (*static_cast<const decltype(body)*>(one))(); }, &body);
    for (int64_t thread : shuffled(state.threads)) {
        state.thread = thread;
        body();
    }
}

}  // namespace emulated
}  // namespace sdfgad
