// Who has OpenBLAS on one thread: its number of threads is one for a whole process.
#pragma once
#include <pthread.h>

namespace sdfgad {

// Not that of <mutex>, for which g++ instantiates clocks and strings in each program anew.
class Mutex {
public:
    void lock() { pthread_mutex_lock(&mutex); }
    void unlock() { pthread_mutex_unlock(&mutex); }

private:
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
};

// Holds a mutex while it exists.
class Lock {
public:
    explicit Lock(Mutex& mutex) : mutex(mutex) { mutex.lock(); }
    ~Lock() { mutex.unlock(); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

private:
    Mutex& mutex;
};

struct BlasState {
    // The pool holds it while a process forks.
    Mutex mutex;
    // How many threads of the program want it on one thread now, and how many it had before the first of them.
    int users = 0, before = 1;
};

// One for all libraries: the dynamic linker shares what GCC makes of an inline variable.
inline BlasState blas_state;
// Those that the thread has made, one inside another.
inline thread_local int blas_depth = 0;

}  // namespace sdfgad
