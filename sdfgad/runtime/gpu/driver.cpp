// The device through the CUDA driver API: memory, kernels, copies and streams, and functions of its libraries.
//
// Every function returns 0 or an error code: the driver's, or one of our own (driver_api.h).
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

#include "blocks.h"
#include "device.h"
#include "devices.h"
#include "graphs.h"
#include "products.h"
#include "solvers.h"
#include "transforms.h"

using namespace sdfgad::cuda;

namespace {

Address address(const void* place) { return reinterpret_cast<Address>(place); }

void* take_here(int64_t bytes) { return take(active(), std::max<int64_t>(bytes, 1)); }

void give(void* block) {
    within(active(), [&](const Device&) { return api.give(address(block), stream); });
}

int launch(void* kernel, int64_t blocks, int64_t threads, void** arguments) {
    if (blocks <= 0) return 0;
    if (blocks > INT32_MAX) return noted(invalid_value);
    if (recording != nullptr) ++recording->launches;
    return within(active(), [&](const Device&) {
        return api.launch(kernel, unsigned(blocks), 1, 1, unsigned(threads), 1, 1, 0, stream, arguments, nullptr);
    });
}

int to_device(void* device, const void* host, int64_t bytes) {
    if (bytes <= 0) return 0;
    return within(active(), [&](const Device&) {
        const int code = api.to_device(address(device), host, bytes, stream);
        // Ordinary memory has been read when the copy returns, page-locked memory, which the driver knows, has not.
        int kind;
        const bool is_locked = code == 0 && api.ask_pointer(&kind, pointer_memory_type, address(host)) == 0;
        return is_locked ? api.finish(stream) : code;
    });
}

int to_host(void* host, const void* device, int64_t bytes) {
    if (bytes <= 0) return 0;
    return within(active(), [&](const Device&) {
        const int code = api.to_host(host, address(device), bytes, stream);
        return code != 0 ? code : api.finish(stream);
    });
}

int copy(void* to, const void* from, int64_t bytes) {
    if (bytes <= 0) return 0;
    return within(active(), [&](const Device&) { return api.copy(address(to), address(from), bytes, stream); });
}

int gemm(int type, int transpose_a, int transpose_b, int64_t m, int64_t n, int64_t k, const void* alpha, const void* a,
         int64_t lda, const void* b, int64_t ldb, const void* beta, void* c, int64_t ldc) {
    const int ordinal = active();
    if (recording != nullptr) ++recording->launches;
    return within(ordinal, [&](const Device&) {
        return products.gemm(devices[ordinal], type, transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    });
}

int call(int number, int type, void* const* arrays, const int64_t* sizes) {
    const int ordinal = active();
    const auto function = sdfgad::device::Function(number);
    if (recording != nullptr) ++recording->launches;
    return within(ordinal, [&](const Device&) {
        const bool is_transform = function <= sdfgad::device::Function::half_fourier;
        return is_transform ? transforms.run(ordinal, devices[ordinal], function, type, arrays, sizes)
                            : solvers.run(ordinal, devices[ordinal], function, type, arrays, sizes);
    });
}

int replay(const void* key, int64_t bytes, void (*run)(void*), void* context) {
    const int ordinal = active();
    return within(ordinal, [&](const Device&) {
        return graphs.replay(ordinal, devices[ordinal], {static_cast<const char*>(key), size_t(bytes)}, run, context);
    });
}

constexpr sdfgad::device::Functions table{take_here, give, launch, to_device, to_host, copy, gemm, call, replay};

ForeignLibrary& library_of(int code) {
    return code == no_cublas ? products.library : code == no_cufft ? transforms.library : solvers.library;
}

template <int... attributes> int ask(int ordinal, int64_t* numbers) {
    int code = 0, value = 0, at = 0;
    ((code = code != 0 ? code : api.attribute(&value, attributes, ordinal), numbers[at++] = value), ...);
    return code;
}

}  // namespace

extern "C" {

// Loads the driver. Then, of the functions that return a code, any may be called.
int sdfgad_device_load(const char* path) {
    const std::lock_guard lock(mutex);
    return api.open(path);
}

// How many devices there are, and the ordinal of that of the thread's current context, or -1.
int sdfgad_device_count(int* count, int* current) {
    *current = -1;
    Handle context = nullptr;
    int code = api.count(count);
    if (code == 0) code = api.current(&context);
    return code == 0 && context != nullptr ? api.current_device(current) : code;
}

// The compute capability's two numbers, the number of multiprocessors, the bytes of the second-level cache and of the
// memory, and the driver's version.
int sdfgad_device_properties(int ordinal, char* name, int size, int64_t* numbers) {
    int device, version;
    int code = api.get(&device, ordinal);
    if (code == 0) code = api.name(name, size, device);
    if (code == 0) code = ask<capability_major, capability_minor, multiprocessors, l2_bytes>(device, numbers);
    size_t bytes = 0;
    if (code == 0) code = api.total(&bytes, device);
    if (code == 0) code = api.version(&version);
    numbers[4] = int64_t(bytes);
    numbers[5] = version;
    return code;
}

int sdfgad_device_open(int ordinal) { return noted(open(ordinal)); }

// Forgets all devices; there must be no arrays left.
void sdfgad_device_close() {
    const std::lock_guard lock(mutex);
    for (int ordinal = 0; ordinal < most_devices; ordinal++) {
        if (!devices[ordinal].is_open) continue;
        within(ordinal, [&](Device& device) {
            api.synchronise();
            graphs.close(ordinal);
            transforms.close(ordinal, device);
            solvers.close(device);
            products.close(device);
            return api.destroy_pool(device.pool);
        });
        int which;
        if (api.get(&which, ordinal) == 0) api.release(which);
        devices[ordinal] = {};
    }
    first = chosen = -1;
    stream = nullptr;
    api.library = nullptr;
}

// What this thread works on from now on.
int sdfgad_device_use(int ordinal) {
    if (ordinal == active()) return 0;
    if (const int code = Entered(ordinal).code) return noted(code);
    chosen = ordinal;
    stream = nullptr;
    return 0;
}

// The thread's stream, which waits for what is enqueued on the former one, which must still exist; nullptr is the legacy
// default stream.
int sdfgad_device_set_stream(void* wanted) {
    const Handle former = stream, next = named(wanted);
    if (former == next) return 0;
    const int code = within(active(), [&](const Device&) { return order(former, next); });
    if (code == 0) stream = next;
    return code;
}

void* sdfgad_device_stream() { return stream; }

// The thread's stream waits for another stream's work, or the other way round.
int sdfgad_device_wait_for(void* other) {
    return within(active(), [&](const Device&) { return order(named(other), stream); });
}
int sdfgad_device_let_wait(void* other) {
    return within(active(), [&](const Device&) { return order(stream, named(other)); });
}

int sdfgad_device_synchronise(int ordinal) {
    return within(ordinal, [](const Device&) { return api.synchronise(); });
}

// Gives idle memory of the pool back to the device.
int sdfgad_device_trim(int ordinal) {
    return within(ordinal, [](const Device& device) {
        const int code = api.synchronise();
        return code != 0 ? code : api.trim(device.pool, 0);
    });
}

// Bytes: free on the device, held by the pool, in use of these, and the most that ever were in use.
int sdfgad_device_memory(int ordinal, int64_t* numbers) {
    return within(ordinal, [&](const Device& device) {
        size_t free, total;
        int code = api.free(&free, &total);
        numbers[0] = int64_t(free);
        for (int at = 0; at < 3 && code == 0; at++) {
            constexpr int attributes[] = {reserved_now, used_now, used_most};
            uint64_t value = 0;
            code = api.ask_pool(device.pool, attributes[at], &value);
            numbers[at + 1] = int64_t(value);
        }
        return code;
    });
}

int sdfgad_device_load_module(int ordinal, const void* image, void** module) {
    return within(ordinal, [&](const Device&) { return api.load(module, image); });
}

int sdfgad_device_function(int ordinal, void* module, const char* name, void** function) {
    return within(ordinal, [&](const Device&) { return api.function(function, module, name); });
}

// Kernels of the module may still run.
int sdfgad_device_unload_module(int ordinal, void* module) {
    return within(ordinal, [&](const Device&) {
        const int code = api.synchronise();
        graphs.close(ordinal);
        return code != 0 ? code : api.unload(module);
    });
}

// An event on the thread's stream.
int sdfgad_device_mark(void** event) {
    return within(active(), [&](const Device&) {
        int code = api.make_event(event, 0);
        if (code == 0) code = api.record(*event, stream);
        return code;
    });
}

// The milliseconds between two events, after waiting for the second; both are gone afterwards.
int sdfgad_device_elapsed(void* begin, void* end, float* milliseconds) {
    return within(active(), [&](const Device&) {
        int code = api.finish_event(end);
        if (code == 0) code = api.elapsed(milliseconds, begin, end);
        api.destroy_event(begin);
        api.destroy_event(end);
        return code;
    });
}

// Where a library may be, separated by newlines: that which a code says is not there.
void sdfgad_device_set_library(int code, const char* paths) { library_of(code).paths = paths; }

void* sdfgad_device_take(int ordinal, int64_t bytes) { return Block::take(ordinal, std::max<int64_t>(bytes, 1)); }
void* sdfgad_device_place(void* block) { return static_cast<Block*>(block)->place; }
void sdfgad_device_show(void* block, void* other) { static_cast<Block*>(block)->show(named(other)); }
void sdfgad_device_release(void* block) { static_cast<Block*>(block)->release(); }
void* sdfgad_device_export(void* block, int is_versioned, int dimensions, const int64_t* shape, int code, int bits) {
    return sdfgad::dlpack::make(static_cast<Block*>(block), is_versioned, dimensions, shape, code, bits);
}

const sdfgad::device::Functions* sdfgad_device_functions() { return &table; }

// The device that an address is on.
int sdfgad_device_of(void* place, int* ordinal) {
    return within(active(), [&](const Device&) { return api.ask_pointer(ordinal, pointer_device, address(place)); });
}

// The thread's last error, which is forgotten.
int sdfgad_device_last_error() { return std::exchange(last_error, 0); }

// Whatever is known of a code.
void sdfgad_device_error_text(int code, char* text, int size) {
    const char *name = nullptr, *description = nullptr;
    if (code > cusolver_codes) {
        std::snprintf(text, size, "cuSOLVER status %d", code - cusolver_codes);
    } else if (code > cufft_codes) {
        std::snprintf(text, size, "cuFFT status %d", code - cufft_codes);
    } else if (code > cublas_codes) {
        std::snprintf(text, size, "cuBLAS status %d: %s", code - cublas_codes, products.text(code - cublas_codes));
    } else if (code >= no_driver) {
        std::snprintf(text, size, "%s", (code >= no_cublas ? library_of(code).trouble : api.trouble).c_str());
    } else if (api.error_name != nullptr && api.error_name(code, &name) == 0 && api.error_text(code, &description) == 0) {
        std::snprintf(text, size, "%s: %s", name, description);
    } else {
        std::snprintf(text, size, "CUDA error %d", code);
    }
}

}  // extern "C"
