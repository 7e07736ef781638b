// CUDA graphs: what a loop of launches enqueues is recorded once, and launched as one graph from then on.
//
// Enqueuing a kernel takes the host some microseconds, often longer than the kernel; a node of a graph takes about one.
#pragma once
#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "devices.h"
#include "products.h"
#include "transforms.h"

namespace sdfgad {
namespace cuda {

class Graphs {
public:
    using Run = void(void* context);

    // Enqueues what `run` does, which depends on the key alone. The first call with a key counts launches, the second
    // records them if a graph pays, the others replay them.
    int replay(int ordinal, Device& device, std::string key, Run* run, void* context) {
        if (recording != nullptr) return run(context), 0;
        key.append(reinterpret_cast<const char*>(&ordinal), sizeof ordinal);
        bool is_known = false, is_worth_it = false;
        {
            const std::lock_guard lock(mutex);
            const auto found = known.find(key);
            is_known = found != known.end();
            if (is_known) {
                found->second.last = ++now;
                if (found->second.graph != nullptr) return launched(device, found->second);
                is_worth_it = found->second.launches >= fewest && found->second.launches <= most_of_one;
            }
        }
        if (!is_known) return counted(key, run, context);
        if (!is_worth_it) return run(context), 0;
        return recorded(device, key, run, context);
    }

    // Before kernels of the device go.
    void close(int ordinal) {
        const std::lock_guard lock(mutex);
        for (auto one = known.begin(); one != known.end();) one = is_of(one->first, ordinal) ? dropped(one) : std::next(one);
    }

private:
    struct Known {
        Handle graph = nullptr;
        int64_t launches = 0;
        bool has_products = false, has_transforms = false;
        uint64_t last = 0;
    };
    using Place = std::map<std::string, Known>::iterator;

    // Launches of a graph; fewer are as fast without. Those of all graphs: each takes about a kilobyte.
    static constexpr int64_t fewest = 8, most_of_one = 1 << 16, most_of_all = 1 << 17;
    static constexpr size_t most_keys = 256;

    std::mutex mutex;
    std::map<std::string, Known> known;
    int64_t held = 0;
    uint64_t now = 0;

    // What this thread enqueues is counted, or recorded, while this lives.
    class Scope {
    public:
        explicit Scope(Recording& one) { recording = &one; }
        ~Scope() { recording = nullptr; }
        Scope(const Scope&) = delete;
        Scope& operator=(const Scope&) = delete;
    };

    int counted(const std::string& key, Run* run, void* context) {
        Recording one;
        {
            const Scope scope(one);
            run(context);
        }
        keep(key, {nullptr, one.launches, one.has_products, one.has_transforms});
        return 0;
    }

    int recorded(Device& device, const std::string& key, Run* run, void* context) {
        const int error = last_error;
        Recording one;
        one.is_captured = true;
        Handle graph = nullptr;
        const int code = captured(device, one, run, context, graph);
        // A key without a graph is not tried again.
        keep(key, {graph, code == 0 ? one.launches : 0, one.has_products, one.has_transforms});
        if (code != 0) {
            // Whatever it was: if it has to do with the program, it is seen again.
            last_error = error;
            return run(context), 0;
        }
        const std::lock_guard lock(mutex);
        const auto found = known.find(key);
        return found != known.end() ? launched(device, found->second) : (run(context), 0);
    }

    // The thread's stream cannot be captured if it is the default one.
    static int captured(Device& device, Recording& one, Run* run, void* context, Handle& graph) {
        Handle made = nullptr, plan = nullptr, outside = stream;
        int code = api.make_stream(&made, stream_without_order);
        if (code != 0) return code;
        code = api.begin_capture(made, capture_anything);
        if (code == 0) {
            stream = made;
            const bool has_failed = !has_run(one, run, context);
            stream = outside;
            code = api.end_capture(made, &plan);
            if (code == 0 && has_failed) code = invalid_value;
        }
        if (one.has_products) products.detach(device);
        if (code == 0) code = api.instantiate(&graph, plan, 0);
        if (plan != nullptr) api.destroy_plan(plan);
        api.destroy_stream(made);
        return code;
    }

    static bool has_run(Recording& one, Run* run, void* context) {
        const Scope scope(one);
        try {
            run(context);
        } catch (...) {
            return false;
        }
        return true;
    }

    static int launched(Device& device, const Known& one) {
        const auto launch = [&] { return api.launch_graph(one.graph, stream); };
        const auto multiply = [&] { return one.has_products ? products.turn(device, launch) : launch(); };
        return one.has_transforms ? transforms.turn(device, multiply) : multiply();
    }

    void keep(const std::string& key, Known one) {
        const std::lock_guard lock(mutex);
        if (const auto found = known.find(key); found != known.end()) dropped(found);
        one.last = ++now;
        if (one.graph != nullptr) held += one.launches;
        known[key] = one;
        while (known.size() > most_keys || held > most_of_all) dropped(oldest());
    }

    Place oldest() {
        return std::min_element(known.begin(), known.end(), [](const auto& a, const auto& b) { return a.second.last < b.second.last; });
    }

    // What a graph has launched ends all the same.
    Place dropped(Place one) {
        if (one->second.graph != nullptr) {
            api.destroy_graph(one->second.graph);
            held -= one->second.launches;
        }
        return known.erase(one);
    }

    static bool is_of(const std::string& key, int ordinal) {
        return key.compare(key.size() - sizeof ordinal, sizeof ordinal, reinterpret_cast<const char*>(&ordinal), sizeof ordinal) == 0;
    }
};

inline Graphs graphs;

}  // namespace cuda
}  // namespace sdfgad
