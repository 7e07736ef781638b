// How a run of a program ends: what its entry point returns.
#pragma once
#include <new>

namespace sdfgad {
namespace memory {

// Raised where there is no room for what a program is about to write.
struct NoRoom {};

}  // namespace memory

// Runs a program: 0, or 1 where there was not enough memory, or 2 where one of its bounds was too small.
template <typename Run> int guarded(const Run& run) {
    try {
        run();
    } catch (const std::bad_alloc&) {
        return 1;
    } catch (const memory::NoRoom&) {
        return 2;
    }
    return 0;
}

}  // namespace sdfgad
