// Fourier transforms by cuFFT, which is loaded when the first is asked for. It works in memory of our pool.
#pragma once
#include <algorithm>
#include <cstdint>
#include <mutex>
#include <vector>

#include "device.h"
#include "turns.h"

namespace sdfgad {
namespace cuda {

class Transforms {
public:
    ForeignLibrary library{"libcufft.so", "", no_cufft};

    // As in fourier.h, of arrays (outer, n, inner) of which one of outer and inner is 1.
    int run(int ordinal, Device& device, device::Function function, int type, void* const* arrays, const int64_t* sizes) {
        if (type < 0 || type > 3 || (sizes[0] != 1 && sizes[2] != 1)) return invalid_value;
        if (sizes[0] <= 0 || sizes[1] <= 0 || sizes[2] <= 0) return 0;
        const Key key{ordinal, function, type % 2 != 0, sizes[0], sizes[1], sizes[2]};
        const int sign = function == device::Function::fourier ? int(sizes[3]) : 0;
        const std::lock_guard lock(mutex);
        if (const int code = library.open([this] { return has_all(); })) return code;
        if (recording != nullptr) recording->has_transforms = true;
        return in_turn(device.transforms, [] { return 0; }, [&] {
            Plan plan;
            const int code = planned(key, plan);
            return code != 0 ? code : transform(key, plan, arrays[0], arrays[1], sign);
        });
    }

    // Calls `run`, which launches a graph of transforms, after what others enqueued.
    template <typename Run> int turn(Device& device, const Run& run) {
        const std::lock_guard lock(mutex);
        return in_turn(device.transforms, [] { return 0; }, run);
    }

    // All work on the device is done.
    void close(int ordinal, Device& device) {
        for (const Plan& plan : plans)
            if (plan.key.ordinal == ordinal) destroy(plan.handle);
        std::erase_if(plans, [&](const Plan& plan) { return plan.key.ordinal == ordinal; });
        if (device.transforms.done != nullptr) library.forget();
        cuda::close(device.transforms);
    }

private:
    struct Key {
        int ordinal;
        device::Function function;
        bool is_single;
        int64_t outer, n, inner;

        bool operator==(const Key&) const = default;
        int64_t half() const { return n / 2 + 1; }
        int64_t lines() const { return outer * inner; }
        int64_t real_bytes() const { return is_single ? 4 : 8; }
    };
    struct Plan {
        Key key{};
        int handle = 0;
        size_t bytes = 0;
    };
    using Make = int(int, int, long long*, long long*, long long, long long, long long*, long long, long long, int, long long,
                     size_t*);
    // The last ones that were used; each has tables on the device.
    static constexpr size_t most_plans = 32;

    std::mutex mutex;
    std::vector<Plan> plans;
    int (*create)(int*) = nullptr;
    int (*destroy)(int) = nullptr;
    int (*set_allocation)(int, int) = nullptr;
    Make* make = nullptr;
    int (*set_work)(int, void*) = nullptr;
    int (*set_stream)(int, Handle) = nullptr;
    // In double and in single precision.
    int (*complex_to_complex[2])(int, void*, void*, int) = {};
    int (*real_to_complex[2])(int, void*, void*) = {};
    int (*complex_to_real[2])(int, void*, void*) = {};

    bool has_all() {
        return library.find(create, "cufftCreate") && library.find(destroy, "cufftDestroy") &&
               library.find(set_allocation, "cufftSetAutoAllocation") && library.find(make, "cufftMakePlanMany64") &&
               library.find(set_work, "cufftSetWorkArea") && library.find(set_stream, "cufftSetStream") &&
               library.find(complex_to_complex[0], "cufftExecZ2Z") && library.find(complex_to_complex[1], "cufftExecC2C") &&
               library.find(real_to_complex[0], "cufftExecD2Z") && library.find(real_to_complex[1], "cufftExecR2C") &&
               library.find(complex_to_real[0], "cufftExecZ2D") && library.find(complex_to_real[1], "cufftExecC2R");
    }

    static int code_of(int status) { return status == 0 ? 0 : cufft_codes + status; }

    int planned(const Key& key, Plan& plan) {
        const auto found = std::find_if(plans.begin(), plans.end(), [&](const Plan& one) { return one.key == key; });
        if (found != plans.end()) {
            std::rotate(plans.begin(), found, found + 1);
            plan = plans.front();
            return 0;
        }
        if (plans.size() >= most_plans)
            if (const int code = drop_last()) return code;
        plan.key = key;
        if (const int status = create(&plan.handle)) return code_of(status);
        if (const int status = made(plan)) {
            destroy(plan.handle);
            return code_of(status);
        }
        plans.insert(plans.begin(), plan);
        return 0;
    }

    // Its tables may still be in use.
    int drop_last() {
        const Plan last = plans.back();
        plans.pop_back();
        return within(last.key.ordinal, [&](const Device&) {
            const int code = api.synchronise();
            return code != 0 ? code : code_of(destroy(last.handle));
        });
    }

    int made(Plan& plan) {
        const Key& key = plan.key;
        const bool is_from_half = key.function == device::Function::half_fourier;
        const bool is_to_half = key.function == device::Function::real_fourier;
        // CUFFT_Z2Z, CUFFT_D2Z and CUFFT_Z2D; those of single precision have no bit 0x40.
        const int kind = (is_to_half ? 0x6a : is_from_half ? 0x6c : 0x69) - (key.is_single ? 0x40 : 0);
        long long n = key.n, in = is_from_half ? key.half() : n, out = is_to_half ? key.half() : n;
        // Elements of a line are `inner` apart; the next line begins after it, or with the next element.
        const long long step = key.inner, in_pitch = key.inner == 1 ? in : 1, out_pitch = key.inner == 1 ? out : 1;
        const int status = set_allocation(plan.handle, 0);
        return status != 0 ? status : make(plan.handle, 1, &n, &in, step, in_pitch, &out, step, out_pitch, kind, key.lines(),
                                           &plan.bytes);
    }

    int transform(const Key& key, const Plan& plan, void* in, void* out, int sign) {
        Work work, copy, aligned;
        int code = work.take(key.ordinal, int64_t(plan.bytes));
        if (code == 0) code = code_of(set_stream(plan.handle, stream));
        if (code == 0) code = code_of(set_work(plan.handle, work.at()));
        const bool is_from_half = key.function == device::Function::half_fourier;
        // Arrays of other libraries may be aligned as their elements only.
        const bool is_aligned = reinterpret_cast<uintptr_t>(in) % (2 * key.real_bytes()) == 0;
        if (code == 0 && is_from_half) code = hermitian(key, in, copy);
        if (code == 0 && !is_from_half && !is_aligned) code = moved(key, in, aligned);
        if (code != 0) return code;
        if (key.function == device::Function::fourier) return code_of(complex_to_complex[key.is_single](plan.handle, in, out, sign));
        if (key.function == device::Function::real_fourier) return code_of(real_to_complex[key.is_single](plan.handle, in, out));
        return code_of(complex_to_real[key.is_single](plan.handle, copy.at(), out));
    }

    int moved(const Key& key, void*& in, Work& aligned) {
        const bool is_real = key.function == device::Function::real_fourier;
        const int64_t bytes = key.lines() * key.n * key.real_bytes() * (is_real ? 1 : 2);
        int code = aligned.take(key.ordinal, bytes);
        if (code == 0) code = api.copy(reinterpret_cast<Address>(aligned.at()), reinterpret_cast<Address>(in), bytes, stream);
        in = aligned.at();
        return code;
    }

    // A copy of half a spectrum, which cuFFT may overwrite, without what has no meaning: the imaginary parts of the mean
    // and, for an even n, of the last frequency.
    int hermitian(const Key& key, const void* in, Work& copy) {
        const int64_t item = 2 * key.real_bytes(), plane = key.inner * item, bytes = key.lines() * key.half() * item;
        int code = copy.take(key.ordinal, bytes);
        if (code == 0) code = api.copy(reinterpret_cast<Address>(copy.at()), reinterpret_cast<Address>(in), bytes, stream);
        const int64_t pitch = key.inner == 1 ? key.half() * item : item;
        for (int64_t k = 0; k < key.half() && code == 0; k += std::max<int64_t>(key.half() - 1, 1)) {
            if (k > 0 && key.n % 2 != 0) break;
            const auto imaginary = reinterpret_cast<Address>(copy.at(k * plane + key.real_bytes()));
            code = api.fill_rows(imaginary, pitch, 0, key.real_bytes() / 4, key.lines(), stream);
        }
        return code;
    }
};

inline Transforms transforms;

}  // namespace cuda
}  // namespace sdfgad
