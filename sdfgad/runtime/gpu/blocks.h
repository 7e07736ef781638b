// Blocks of device memory with several owners: an array of Python, and the arrays of other libraries that look at it
// through DLPack. Owners are counted here, so that these can outlive the interpreter.
#pragma once
#include <atomic>
#include <cstdint>
#include <new>
#include <vector>

#include "devices.h"

namespace sdfgad {
namespace cuda {

class Block {
public:
    const int ordinal;
    void* const place;

    static Block* take(int ordinal, int64_t bytes) {
        void* place = cuda::take(ordinal, bytes);
        return place == nullptr ? nullptr : new Block(ordinal, place);
    }

    void share() { owners.fetch_add(1, std::memory_order_relaxed); }

    // Another library may have enqueued what reads the block on a stream of its own.
    void show(Handle other) {
        if (other == made_on) return;
        is_seen_elsewhere = true;
        note_order(other);
    }

    void release() {
        if (owners.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
        within(ordinal, [&](const Device&) {
            const auto address = reinterpret_cast<Address>(place);
            // The thread's stream is ordered after its former ones, and not after others.
            if (!is_seen_elsewhere && made_on == stream) return api.give(address, stream);
            if (is_ordered) return api.give(address, nullptr);
            api.synchronise();
            return api.give(address, stream);
        });
        delete this;
    }

private:
    const Handle made_on = stream;
    std::atomic<int> owners{1};
    std::atomic<bool> is_seen_elsewhere{false};
    // Whether the legacy default stream comes after all streams that the block is used on.
    std::atomic<bool> is_ordered{true};

    Block(int ordinal, void* place) : ordinal(ordinal), place(place) { note_order(made_on); }

    // The stream still exists now.
    void note_order(Handle other) {
        if (other == nullptr) return;
        within(ordinal, [&](const Device&) {
            if (!cuda::is_ordered(other)) is_ordered = false;
            return 0;
        });
    }
};

}  // namespace cuda

// The structures of DLPack 1.0, and of the versions before it, by their documented layout.
namespace dlpack {

struct Tensor {
    void* data;
    int32_t device_type, device_id;
    int32_t dimensions;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t* shape;
    int64_t* strides;
    uint64_t offset;
};
static_assert(sizeof(Tensor) == 48);

struct Unversioned {
    Tensor tensor;
    void* context;
    void (*deleter)(Unversioned*);
};

struct Versioned {
    uint32_t major, minor;
    void* context;
    void (*deleter)(Versioned*);
    uint64_t flags;
    Tensor tensor;
};
static_assert(sizeof(Unversioned) == 64 && sizeof(Versioned) == 80);

// What a capsule points to, with what that points to.
template <typename Managed> struct Export {
    Managed managed{};
    cuda::Block* block;
    std::vector<int64_t> extents, strides;

    static void* make(cuda::Block* block, int dimensions, const int64_t* shape, int code, int bits) {
        auto* made = new Export;
        made->block = block;
        // One more: a pointer to no extents must not be null.
        made->extents.assign(shape, shape + dimensions);
        made->extents.push_back(1);
        made->strides.assign(dimensions + 1, 1);
        for (int axis = dimensions - 2; axis >= 0; axis--) {
            made->strides[axis] = made->strides[axis + 1] * made->extents[axis + 1];
        }
        constexpr int32_t cuda_device = 2;
        made->managed.tensor = {block->place, cuda_device, block->ordinal, dimensions, uint8_t(code), uint8_t(bits), 1,
                                made->extents.data(), made->strides.data(), 0};
        made->managed.context = made;
        made->managed.deleter = [](Managed* managed) {
            auto* made = static_cast<Export*>(managed->context);
            made->block->release();
            delete made;
        };
        block->share();
        return &made->managed;
    }
};

inline void* make(cuda::Block* block, bool is_versioned, int dimensions, const int64_t* shape, int code, int bits) {
    if (!is_versioned) return Export<Unversioned>::make(block, dimensions, shape, code, bits);
    void* made = Export<Versioned>::make(block, dimensions, shape, code, bits);
    static_cast<Versioned*>(made)->major = 1;
    return made;
}

}  // namespace dlpack
}  // namespace sdfgad
