// Memory that a library works in while it runs, and the order of the streams that it runs on.
#pragma once
#include <algorithm>
#include <cstdint>

#include "devices.h"

namespace sdfgad {
namespace cuda {

// A block of the pool until this goes: what is enqueued until then has it.
class Work {
public:
    Work() = default;
    ~Work() {
        if (place != nullptr) api.give(reinterpret_cast<Address>(place), stream);
    }
    Work(const Work&) = delete;
    Work& operator=(const Work&) = delete;

    int take(int ordinal, int64_t bytes) {
        place = cuda::take(ordinal, std::max<int64_t>(bytes, 1));
        return place != nullptr ? 0 : last_error;
    }
    template <typename T = void> T* at(int64_t bytes = 0) const {
        return reinterpret_cast<T*>(static_cast<char*>(place) + bytes);
    }

private:
    void* place = nullptr;
};

// Calls `run` after what others enqueued with the same tables or handle of a library on other streams; `attach` is for a
// stream that it has not worked on last. All return codes.
template <typename Attach, typename Run> inline int in_turn(Turns& turns, const Attach& attach, const Run& run) {
    if (is_captured()) {
        const int code = attach();
        return code != 0 ? code : run();
    }
    int code = turns.done == nullptr ? api.make_event(&turns.done, event_without_time) : 0;
    if (code == 0 && !(turns.is_attached && turns.followed == stream)) {
        if (turns.is_attached) code = api.wait(stream, turns.done, 0);
        if (code == 0) code = attach();
        turns.is_attached = code == 0;
        turns.followed = stream;
    }
    if (code == 0) code = run();
    // Also what failed may have been enqueued in part.
    const int recorded = turns.done == nullptr ? 0 : api.record(turns.done, stream);
    return code != 0 ? code : recorded;
}

inline void close(Turns& turns) {
    if (turns.done != nullptr) api.destroy_event(turns.done);
    turns = {};
}

}  // namespace cuda
}  // namespace sdfgad
