// The devices that are open, and which of them, and which stream, a thread works on.
#pragma once
#include <atomic>
#include <cstdint>
#include <mutex>

#include "driver_api.h"

namespace sdfgad {
namespace cuda {

// The stream that a library was used on last, and an event after that.
struct Turns {
    bool is_attached = false;
    Handle followed = nullptr;
    Handle done = nullptr;
};

struct Device {
    bool is_open = false;
    Handle context = nullptr;
    Handle pool = nullptr;
    // Of cuBLAS: its handle, its memory, the stream that it works on, and an event after the last product.
    Handle products = nullptr;
    void* workspace = nullptr;
    Handle followed = nullptr;
    Handle multiplied = nullptr;
    // Of cuSOLVER, and of cuFFT.
    Handle solver = nullptr;
    Turns solving, transforms;
};

constexpr int most_devices = 64;
// No device has as much; the driver may take larger numbers for errors of another kind.
constexpr int64_t most_bytes = int64_t(1) << 48;

inline Api api;
inline Device devices[most_devices];
// Of opening and closing.
inline std::mutex mutex;
// What threads work on that did not choose: what was opened first.
inline std::atomic<int> first{-1};
inline thread_local int chosen = -1;
inline thread_local Handle stream = nullptr;
// The thread's last error: of what returns no code.
inline thread_local int last_error = 0;

// What a thread enqueues while it is counted, or captured as a graph (graphs.h).
struct Recording {
    int64_t launches = 0;
    bool is_captured = false;
    bool has_products = false, has_transforms = false;
};
inline thread_local Recording* recording = nullptr;
// Nothing that was enqueued outside of a graph can be waited for in it: its launches take turns instead.
inline bool is_captured() { return recording != nullptr && recording->is_captured; }

inline int active() { return chosen >= 0 ? chosen : first.load(std::memory_order_relaxed); }

inline int noted(int code) {
    if (code != 0) [[unlikely]] last_error = code;
    return code;
}

// A device's context is the thread's current one while this lives; afterwards that is what it was, as other libraries
// may work on another device. Where there was none it stays, which spares each launch of a program two calls.
class Entered {
public:
    int code = 0;

    explicit Entered(int ordinal) {
        if (ordinal < 0 || ordinal >= most_devices || !devices[ordinal].is_open) {
            code = not_open;
            return;
        }
        device = &devices[ordinal];
        Handle now = nullptr;
        code = api.current(&now);
        if (code == 0 && now != device->context) {
            code = api.push(device->context);
            is_pushed = code == 0 && now != nullptr;
        }
    }
    ~Entered() {
        Handle popped;
        if (is_pushed) api.pop(&popped);
    }
    Entered(const Entered&) = delete;
    Entered& operator=(const Entered&) = delete;

    Device& operator*() const { return *device; }

private:
    Device* device = nullptr;
    bool is_pushed = false;
};

// Runs a function that returns a code, with a device's context.
template <typename Run> inline int within(int ordinal, const Run& run) {
    const Entered device(ordinal);
    return noted(device.code != 0 ? device.code : run(*device));
}

// The legacy default stream has two names.
inline Handle named(void* other) { return other == reinterpret_cast<void*>(1) ? nullptr : other; }

// What is enqueued on one stream from now on waits for what was enqueued on the other. The context is entered.
inline int order(Handle before, Handle after) {
    if (before == after) return 0;
    Handle event;
    int code = api.make_event(&event, event_without_time);
    if (code != 0) return code;
    code = api.record(event, before);
    if (code == 0) code = api.wait(after, event, 0);
    // The driver keeps it until both streams have passed it.
    api.destroy_event(event);
    return code;
}

// Whether the legacy default stream keeps in order with a stream. The context is entered.
inline bool is_ordered(Handle other) {
    unsigned flags = 0;
    return other == nullptr || (api.flags(other, &flags) == 0 && (flags & stream_without_order) == 0);
}

inline int make_pool(Device& device, int ordinal) {
    PoolProperties properties;
    properties.ordinal = ordinal;
    int code = api.make_pool(&device.pool, &properties);
    if (code != 0) return code;
    // All that was given back is kept.
    uint64_t threshold = UINT64_MAX;
    code = api.set_pool(device.pool, release_threshold, &threshold);
    if (code != 0) api.destroy_pool(device.pool);
    return code;
}

inline int open(int ordinal) {
    const std::lock_guard lock(mutex);
    if (ordinal < 0 || ordinal >= most_devices) return invalid_value;
    Device& device = devices[ordinal];
    if (device.is_open) return 0;
    int which, pools = 0;
    int code = api.get(&which, ordinal);
    if (code == 0) code = api.attribute(&pools, has_pools, which);
    if (code == 0 && pools == 0) code = no_pools;
    if (code == 0) code = api.retain(&device.context, which);
    if (code != 0) return code;
    code = make_pool(device, ordinal);
    if (code != 0) {
        api.release(which);
        return code;
    }
    device.is_open = true;
    int none = -1;
    first.compare_exchange_strong(none, ordinal);
    return 0;
}

// A block of a device's pool, or nullptr.
inline void* take(int ordinal, int64_t bytes) {
    Address block = 0;
    if (bytes > most_bytes) {
        noted(out_of_memory);
        return nullptr;
    }
    const int code = within(ordinal, [&](const Device& device) {
        const int code = api.take(&block, bytes, device.pool, stream);
        if (code != out_of_memory) return code;
        // What was freed on other streams counts as soon as they have come that far.
        if (const int code = api.synchronise()) return code;
        if (const int code = api.trim(device.pool, 0)) return code;
        return api.take(&block, bytes, device.pool, stream);
    });
    return code == 0 ? reinterpret_cast<void*>(block) : nullptr;
}

}  // namespace cuda
}  // namespace sdfgad
