// Blocks of memory that are kept when they are given back: one pool for all compiled programs and results of a process.
// The first touch of fresh memory costs more than most of what is then done with it, and malloc gives memory back to the
// system as soon as the end of its heap is free: how often, depends on what the process allocated before.
//
// One rule bounds it: what is mapped, in use or idle, is never more than what was in use at once before, or is now. So
// a process never becomes larger by keeping blocks, and a call in a new process holds what it would hold without them.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <list>
#include <map>
#include <mutex>
#include <unordered_map>

#include <omp.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "blas_state.h"

namespace {

const int64_t page = sysconf(_SC_PAGESIZE);
constexpr int64_t huge_page = int64_t(2) << 20;
constexpr int64_t line = 64;
// Smaller blocks are malloc's, so that they need not be whole pages; they are recycled for the same size alone.
constexpr int64_t mapped_from = int64_t(1) << 18;
// A block is handed out for a request that leaves at most this part of the request unused.
constexpr int64_t most_waste = 8;
// What nobody took for so long is given back: mapping it again costs nothing by comparison.
constexpr std::chrono::seconds longest_idle{10};

using Clock = std::chrono::steady_clock;

char* map_anywhere(int64_t size) {
    void* place = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return place == MAP_FAILED ? nullptr : static_cast<char*>(place);
}

int64_t misalignment(const char* place) { return reinterpret_cast<uintptr_t>(place) % huge_page; }

// Of huge pages a big array needs fewer, and the kernel clears each in one go; they begin at multiples of their size.
char* map_huge(int64_t size) {
    char* place = map_anywhere(size);
    if (place != nullptr && misalignment(place) != 0) {
        munmap(place, size);
        place = map_anywhere(size + huge_page);
        if (place == nullptr) return nullptr;
        const int64_t before = (huge_page - misalignment(place)) % huge_page;
        if (before > 0) munmap(place, before);
        place += before;
        if (before < huge_page) munmap(place + size, huge_page - before);
    }
    if (place != nullptr) madvise(place, size, MADV_HUGEPAGE);
    return place;
}

char* map(int64_t size) {
    if (size < mapped_from) return static_cast<char*>(std::aligned_alloc(line, size));
    return size >= 2 * huge_page ? map_huge(size) : map_anywhere(size);
}

void unmap(char* place, int64_t size) {
    if (size < mapped_from) {
        std::free(place);
    } else {
        munmap(place, size);
    }
}

int64_t rounded(int64_t bytes) {
    const int64_t unit = bytes < mapped_from ? line : page;
    return std::max(line, (bytes + unit - 1) / unit * unit);
}

// Sizes are in bytes, all of them multiples of a cache line, or of a page.
class Pool {
public:
    std::mutex mutex;

    void* take(int64_t bytes) {
        if (bytes > INT64_MAX - huge_page - page) return nullptr;
        const int64_t request = rounded(bytes);
        const int64_t bound = std::max(most, requested + request);
        char* place = recycled(request);
        if (place == nullptr) place = fresh(request, bound);
        if (place == nullptr) return nullptr;
        requested += request;
        most = bound;
        return place;
    }

    void give(void* address) {
        char* place = static_cast<char*>(address);
        const auto found = taken.find(place);
        const auto [size, request] = found->second;
        taken.erase(found);
        requested -= request;
        const Clock::time_point now = Clock::now();
        by_size.emplace(size, idle.insert(idle.end(), {place, size, now}));
        kept += size;
        while (!idle.empty() && (kept > most_kept || now - idle.front().since > longest_idle)) unmap_oldest();
    }

    // Maps no more than this many bytes, or than what is in use.
    void shrink(int64_t bytes) {
        most = std::max(requested, std::min(most, bytes));
        make_room(0, most);
    }

    void keep(int64_t bytes) {
        most_kept = bytes;
        while (kept > most_kept) unmap_oldest();
    }

    struct State {
        int64_t in_use, idle, mapped, ever_mapped;
    };

    State state() const { return {requested, kept, mapped, total}; }

private:
    struct Idle {
        char* place;
        int64_t size;
        Clock::time_point since;
    };
    struct Taken {
        int64_t size, request;
    };

    // The smallest idle block that fits; of equal ones the last, which the caches may still hold.
    char* recycled(int64_t request) {
        const auto least = by_size.lower_bound(request);
        const int64_t waste = request < mapped_from ? 0 : request / most_waste;
        if (least == by_size.end() || least->first - request > waste) return nullptr;
        const auto found = std::prev(by_size.upper_bound(least->first));
        const auto block = found->second;
        char* place = block->place;
        taken[place] = {block->size, request};
        kept -= block->size;
        by_size.erase(found);
        idle.erase(block);
        return place;
    }

    char* fresh(int64_t request, int64_t bound) {
        make_room(request, bound);
        char* place = map(request);
        if (place == nullptr) {
            make_room(request, 0);
            place = map(request);
        }
        if (place == nullptr) return nullptr;
        taken[place] = {request, request};
        mapped += request;
        total += request;
        return place;
    }

    // Idle blocks go first. If there are none, what exceeds is within the unused ends of recycled blocks.
    void make_room(int64_t request, int64_t bound) {
        while (!idle.empty() && mapped + request > bound) unmap_oldest();
        if (mapped + request <= bound) return;
        for (auto& [place, block] : taken) {
            if (block.size == block.request) continue;
            munmap(place + block.request, block.size - block.request);
            mapped -= block.size - block.request;
            block.size = block.request;
        }
    }

    void unmap_oldest() {
        const auto block = idle.begin();
        auto found = by_size.lower_bound(block->size);
        while (found->second != block) ++found;
        by_size.erase(found);
        unmap(block->place, block->size);
        kept -= block->size;
        mapped -= block->size;
        idle.erase(block);
    }

    std::list<Idle> idle;  // The oldest first.
    std::multimap<int64_t, std::list<Idle>::iterator> by_size;
    std::unordered_map<char*, Taken> taken;
    int64_t mapped = 0, kept = 0, requested = 0, most = 0, total = 0;
    int64_t most_kept = sysconf(_SC_PHYS_PAGES) / 4 * page;
};

// Never destroyed: arrays may outlive everything else.
Pool& pool() {
    static Pool& it = *new Pool;
    return it;
}

using Lock = std::lock_guard<std::mutex>;

// A child process has the thread that forks, but none of those that OpenMP keeps waiting for it: it would wait for them
// for ever. So they end before; parent and child start new ones for their next parallel loop.
// It has its own copy of the blocks and of all books, too, which no other thread may be changing meanwhile.
void before_fork() {
    omp_pause_resource_all(omp_pause_hard);
    pool().mutex.lock();
    sdfgad::blas_state.mutex.lock();
}

void after_fork() {
    sdfgad::blas_state.mutex.unlock();
    pool().mutex.unlock();
}

const int at_fork = pthread_atfork(before_fork, after_fork, after_fork);

}  // namespace

extern "C" {

// Null where there is not enough memory.
void* sdfgad_pool_take(int64_t bytes) {
    Lock lock(pool().mutex);
    return pool().take(bytes);
}

void sdfgad_pool_give(void* place) {
    Lock lock(pool().mutex);
    pool().give(place);
}

void sdfgad_pool_shrink(int64_t bytes) {
    Lock lock(pool().mutex);
    pool().shrink(bytes);
}

void sdfgad_pool_keep(int64_t bytes) {
    Lock lock(pool().mutex);
    pool().keep(bytes);
}

void sdfgad_pool_state(Pool::State* state) {
    Lock lock(pool().mutex);
    *state = pool().state();
}
}
