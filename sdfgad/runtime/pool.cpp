// Blocks of memory that are kept when they are given back: one pool for all compiled programs and results of a process.
// The first touch of fresh memory costs more than most of what is then done with it, and malloc gives memory back to the
// system as soon as the end of its heap is free: how often, depends on what the process allocated before.
//
// One rule bounds it: what is mapped, in use or idle, is never more than what was in use at once before, or is now. So
// a process never becomes larger by keeping blocks, and a call in a new process holds what it would hold without them.
// Idle blocks are split for smaller requests, and joined again: programs whose phases need blocks of different sizes map
// nothing anew.
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

// A block; `is_mapped` unless malloc has it.
struct Block {
    char* place;
    int64_t size;
    bool is_mapped;
};

void unmap(const Block& block) {
    if (block.is_mapped) {
        munmap(block.place, block.size);
    } else {
        std::free(block.place);
    }
}

int64_t rounded_up(int64_t bytes, int64_t unit) { return (bytes + unit - 1) / unit * unit; }

int64_t rounded(int64_t bytes) { return std::max(line, rounded_up(bytes, bytes < mapped_from ? line : page)); }

// Sizes are in bytes, all of them multiples of a cache line, or of a page.
class Pool {
public:
    std::mutex mutex;

    void* take(int64_t bytes) {
        if (bytes > INT64_MAX - huge_page - page) return nullptr;
        const int64_t size = rounded(bytes);
        const int64_t bound = std::max(most, requested + size);
        Block block = recycled(size);
        if (block.place == nullptr) block = fresh(size, bound + slack());
        if (block.place == nullptr) return nullptr;
        taken[block.place] = block;
        requested += size;
        most = bound;
        return block.place;
    }

    void give(void* address) {
        const auto found = taken.find(static_cast<char*>(address));
        const Block block = found->second;
        taken.erase(found);
        requested -= block.size;
        const Clock::time_point now = Clock::now();
        insert({merged(block), now}, idle.end());
        while (!idle.empty() && (kept > most_kept || now - idle.front().since > longest_idle)) unmap_oldest();
    }

    // Maps no more than this many bytes, or than what is in use, until `relax` is called.
    void shrink(int64_t bytes) {
        is_strict = true;
        most = std::max(requested, std::min(most, bytes));
        make_room(0, most);
    }

    void relax() { is_strict = false; }

    void keep(int64_t bytes) {
        most_kept = bytes;
        while (kept > most_kept) unmap_oldest();
    }

    struct State {
        int64_t in_use, idle, mapped, ever_mapped;
    };

    State state() const { return {requested, kept, mapped, total}; }

private:
    struct Idle : Block {
        Clock::time_point since;
    };
    using Position = std::list<Idle>::iterator;

    // What may be mapped beyond the most that was in use at once, so that blocks of other sizes need not go for new ones.
    int64_t slack() const { return is_strict ? 0 : std::min(most, most_kept / 4); }

    // The smallest idle block that fits, of equal ones the last, which the caches may still hold; the rest stays idle.
    Block recycled(int64_t size) {
        const auto least = by_size.lower_bound(size);
        if (least == by_size.end() || (size < mapped_from && least->first != size)) return {};
        const auto found = std::prev(by_size.upper_bound(least->first))->second;
        const Idle block = *found;
        const Position next = remove(found);
        if (block.size > size) insert({{block.place + size, block.size - size, true}, block.since}, next);
        return {block.place, size, block.is_mapped};
    }

    Block fresh(int64_t size, int64_t bound) {
        make_room(size, bound);
        char* place = map(size);
        if (place == nullptr) {
            make_room(size, 0);
            place = map(size);
        }
        if (place == nullptr) return {};
        mapped += size;
        total += size;
        return {place, size, size >= mapped_from};
    }

    // Idle blocks go, the oldest first, of the last one no more than must.
    void make_room(int64_t size, int64_t bound) {
        while (!idle.empty() && mapped + size > bound) {
            const int64_t excess = rounded_up(mapped + size - bound, page);
            Idle rest = idle.front();
            if (!rest.is_mapped || rest.size <= excess) {
                unmap_oldest();
                continue;
            }
            const Position next = remove(idle.begin());
            rest.size -= excess;
            munmap(rest.place + rest.size, excess);
            mapped -= excess;
            insert(rest, next);
        }
    }

    void unmap_oldest() {
        const Block block = idle.front();
        remove(idle.begin());
        unmap(block);
        mapped -= block.size;
    }

    // A block joined with the idle ones beside it: what was split is whole again.
    Block merged(Block block) {
        if (!block.is_mapped) return block;
        const auto after = by_place.find(block.place + block.size);
        if (after != by_place.end()) {
            block.size += after->second->size;
            remove(after->second);
        }
        const auto next = by_place.lower_bound(block.place);
        if (next != by_place.begin() && std::prev(next)->second->place + std::prev(next)->second->size == block.place) {
            const Position before = std::prev(next)->second;
            block = {before->place, before->size + block.size, true};
            remove(before);
        }
        return block;
    }

    // --- books of idle blocks

    void insert(const Idle& block, Position before) {
        const Position position = idle.insert(before, block);
        by_size.emplace(block.size, position);
        if (block.is_mapped) by_place.emplace(block.place, position);
        kept += block.size;
    }

    Position remove(Position position) {
        auto found = by_size.lower_bound(position->size);
        while (found->second != position) ++found;
        by_size.erase(found);
        if (position->is_mapped) by_place.erase(position->place);
        kept -= position->size;
        return idle.erase(position);
    }

    std::list<Idle> idle;  // The oldest first.
    std::multimap<int64_t, Position> by_size;
    std::map<char*, Position> by_place;  // But for those that malloc has, and joins by itself.
    std::unordered_map<char*, Block> taken;
    int64_t mapped = 0, kept = 0, requested = 0, most = 0, total = 0;
    int64_t most_kept = sysconf(_SC_PHYS_PAGES) / 4 * page;
    bool is_strict = false;
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

void sdfgad_pool_relax() {
    Lock lock(pool().mutex);
    pool().relax();
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
