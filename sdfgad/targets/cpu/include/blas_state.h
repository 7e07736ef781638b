// Who has OpenBLAS on one thread: its number of threads is one for a whole process.
#pragma once
#include <mutex>

namespace sdfgad {

struct BlasState {
    // The pool holds it while a process forks.
    std::mutex mutex;
    // How many threads of the program want it on one thread now, and how many it had before the first of them.
    int users = 0, before = 1;
};

// One for all libraries: the dynamic linker shares what GCC makes of an inline variable.
inline BlasState blas_state;
// Those that the thread has made, one inside another.
inline thread_local int blas_depth = 0;

}  // namespace sdfgad
