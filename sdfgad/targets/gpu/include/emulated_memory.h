// The memory of the emulated device: blocks whose addresses the host cannot follow, and shadow memory for each element.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace sdfgad {
namespace emulated {

// Smaller numbers are of several threads of one block.
constexpr int32_t nobody = -1, many = -2, several = -3;
// Added to the addresses of device memory: no process has these.
constexpr uintptr_t away = uintptr_t(1) << 62;

// Who accessed an element last, in which launch and between which barriers.
struct Shadow {
    uint32_t write_launch = 0, read_launch = 0;
    int32_t writer = nobody, reader = nobody;
    uint32_t write_epoch = 0, read_epoch = 0;
    bool is_set = false, is_atomic = false;
};

struct Block {
    std::unique_ptr<char[]> data;
    int64_t bytes = 0;
    std::vector<Shadow> shadow;  // for each byte; an element has that of its first one
};

// The launch, block and thread that run.
struct State {
    uint32_t launch = 0, epoch = 0;
    int64_t block = 0, thread = 0, threads = 1;
};

// Of the process: all programs share one device. (Visible inline variables are unique, whatever library has them.)
inline State state;

// Keeps the first error.
void report(const std::string& what);

// The block that an address of the device is in, or just behind, and how far; nullptr, where there is none.
Block* block_of(const void* address, int64_t* offset);

// The number of a thread among all of a launch: within a block, what a barrier is between does not race.
inline int32_t self() { return int32_t(state.block << 10 | state.thread); }
inline bool is_in_this_block(int32_t other) {
    return other >= 0 ? (other >> 10) == state.block : other == several - int32_t(state.block);
}
inline bool is_apart(int32_t other, uint32_t epoch) {
    if (other == self() || other == nobody) return true;
    return is_in_this_block(other) && epoch != state.epoch;
}

inline void note_read(Shadow* shadow) {
    if (shadow->write_launch == state.launch && !is_apart(shadow->writer, shadow->write_epoch))
        report("a race: one thread reads what another one writes");
    const bool is_first = shadow->read_launch != state.launch || is_apart(shadow->reader, shadow->read_epoch);
    const bool is_here = is_in_this_block(shadow->reader);
    shadow->reader = is_first ? self() : is_here ? several - int32_t(state.block) : many;
    shadow->read_launch = state.launch;
    shadow->read_epoch = state.epoch;
}

inline void note_write(Shadow* shadow, bool is_set) {
    if (shadow->write_launch == state.launch && !is_apart(shadow->writer, shadow->write_epoch))
        report("a race: two threads write the same element");
    if (shadow->read_launch == state.launch && !is_apart(shadow->reader, shadow->read_epoch))
        report("a race: one thread writes what another one reads");
    shadow->writer = self();
    shadow->write_launch = state.launch;
    shadow->write_epoch = state.epoch;
    shadow->is_set = is_set;
    shadow->is_atomic = false;
}

// Atomic operations do not race with each other.
inline void note_atomic(Shadow* shadow) {
    const bool is_among = shadow->write_launch == state.launch && shadow->is_atomic;
    const int32_t writer = shadow->writer;
    // As if by the one before it.
    if (is_among) shadow->write_launch = 0;
    note_write(shadow, shadow->is_set);
    if (is_among && writer != self()) shadow->writer = is_in_this_block(writer) ? several - int32_t(state.block) : many;
    shadow->is_atomic = true;
}

// Shared memory of a block. One block runs at a time, so that all of them have the same.
template <typename T, int count> struct Shared {
    T elements[count];
    Shadow shadow[count];
    int64_t owner = -1;

    Shadow* place(int64_t at) {
        const int64_t block = int64_t(state.launch) << 32 | state.block;
        if (owner != block) std::fill(shadow, shadow + count, Shadow());
        owner = block;
        if (at >= 0 && at < count) return &shadow[at];
        report("a kernel accesses element " + std::to_string(at) + " of " + std::to_string(count) + " in shared memory");
        return nullptr;
    }
};

template <typename T> class Pointer {
public:
    using Value = std::remove_const_t<T>;

    explicit Pointer(const void* address) {
        int64_t offset = 0;
        block = block_of(address, &offset);
        if (block == nullptr) {
            report("a kernel was passed an address that is not of the device's memory");
            return;
        }
        start = offset / int64_t(sizeof(Value));
    }

    Value read(int64_t at) const {
        if (!is_set(at)) report("a kernel reads an element that nothing has written");
        return peek(at);
    }

    bool is_set(int64_t at) const {
        const Shadow* shadow = place(at);
        return shadow == nullptr || shadow->is_set;
    }

    Value peek(int64_t at) const {
        Shadow* shadow = place(at);
        if (shadow == nullptr) return Value();
        note_read(shadow);
        return elements()[at];
    }

    void write(int64_t at, Value value, bool is_set = true) const {
        Shadow* shadow = place(at);
        if (shadow == nullptr) return;
        note_write(shadow, is_set);
        elements()[at] = value;
    }

    template <typename Change> void combine(int64_t at, Change change) const {
        if (!is_set(at)) report("a kernel reads an element that nothing has written");
        Shadow* shadow = place(at);
        if (shadow == nullptr) return;
        note_atomic(shadow);
        elements()[at] = change(elements()[at]);
    }

private:
    Block* block;
    int64_t start = 0;

    Value* elements() const { return reinterpret_cast<Value*>(block->data.get()) + start; }

    Shadow* place(int64_t at) const {
        if (block == nullptr) return nullptr;
        if (at < 0 || at + start >= int64_t(block->bytes / sizeof(Value))) {
            report("a kernel accesses element " + std::to_string(at) + " of an array with fewer");
            return nullptr;
        }
        return &block->shadow[(at + start) * sizeof(Value)];
    }
};

}  // namespace emulated
}  // namespace sdfgad
