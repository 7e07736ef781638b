// What is used of the CUDA driver API, declared here and looked up at run time: neither a toolkit nor a driver is needed
// to compile this.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include <dlfcn.h>

namespace sdfgad {
namespace cuda {

// A context, stream, event, module, function or memory pool.
using Handle = void*;
// CUdeviceptr.
using Address = unsigned long long;

// CUmemPoolProps.
struct PoolProperties {
    int allocation = 1;  // Pinned, the only one there is.
    int shared_as = 0;   // Not between processes.
    int place = 1;       // On a device,
    int ordinal = 0;     // this one.
    void* security = nullptr;
    size_t most = 0;
    unsigned short usage = 0;
    unsigned char reserved[54] = {};
};
static_assert(sizeof(PoolProperties) == 88);

// CUresult, as far as it matters which.
constexpr int invalid_value = 1, out_of_memory = 2;
// CUdevice_attribute.
constexpr int multiprocessors = 16, l2_bytes = 38, capability_major = 75, capability_minor = 76, has_pools = 115;
// CUmemPool_attribute.
constexpr int release_threshold = 4, reserved_now = 5, used_now = 7, used_most = 8;
// CUpointer_attribute.
constexpr int pointer_memory_type = 2, pointer_device = 9;
constexpr unsigned event_without_time = 2, stream_without_order = 1;
// CUstreamCaptureMode: functions that wait are allowed, which concern other streams.
constexpr int capture_anything = 2;

// Codes of our own, besides the driver's (below 1000).
constexpr int no_driver = 10000, no_symbol = 10001, no_pools = 10002, not_open = 10003, no_cublas = 10004,
              no_cufft = 10005, no_cusolver = 10006;
// To what a library returned.
constexpr int cublas_codes = 20000, cufft_codes = 21000, cusolver_codes = 22000;

// F(our name, the driver's, its type): of several versions of a function those of 64-bit addresses.
#define SDFGAD_DRIVER_FUNCTIONS(F)                                                                                             \
    F(initialise, cuInit, int(unsigned))                                                                                       \
    F(version, cuDriverGetVersion, int(int*))                                                                                  \
    F(count, cuDeviceGetCount, int(int*))                                                                                      \
    F(get, cuDeviceGet, int(int*, int))                                                                                        \
    F(name, cuDeviceGetName, int(char*, int, int))                                                                             \
    F(attribute, cuDeviceGetAttribute, int(int*, int, int))                                                                    \
    F(total, cuDeviceTotalMem_v2, int(size_t*, int))                                                                           \
    F(retain, cuDevicePrimaryCtxRetain, int(Handle*, int))                                                                     \
    F(release, cuDevicePrimaryCtxRelease_v2, int(int))                                                                         \
    F(current, cuCtxGetCurrent, int(Handle*))                                                                                  \
    F(current_device, cuCtxGetDevice, int(int*))                                                                               \
    F(push, cuCtxPushCurrent_v2, int(Handle))                                                                                  \
    F(pop, cuCtxPopCurrent_v2, int(Handle*))                                                                                   \
    F(synchronise, cuCtxSynchronize, int())                                                                                    \
    F(free, cuMemGetInfo_v2, int(size_t*, size_t*))                                                                            \
    F(make_pool, cuMemPoolCreate, int(Handle*, const PoolProperties*))                                                         \
    F(destroy_pool, cuMemPoolDestroy, int(Handle))                                                                             \
    F(set_pool, cuMemPoolSetAttribute, int(Handle, int, void*))                                                                \
    F(ask_pool, cuMemPoolGetAttribute, int(Handle, int, void*))                                                                \
    F(trim, cuMemPoolTrimTo, int(Handle, size_t))                                                                              \
    F(take, cuMemAllocFromPoolAsync, int(Address*, size_t, Handle, Handle))                                                    \
    F(give, cuMemFreeAsync, int(Address, Handle))                                                                              \
    F(ask_pointer, cuPointerGetAttribute, int(void*, int, Address))                                                            \
    F(to_device, cuMemcpyHtoDAsync_v2, int(Address, const void*, size_t, Handle))                                              \
    F(to_host, cuMemcpyDtoHAsync_v2, int(void*, Address, size_t, Handle))                                                      \
    F(copy, cuMemcpyDtoDAsync_v2, int(Address, Address, size_t, Handle))                                                       \
    F(fill_rows, cuMemsetD2D32Async, int(Address, size_t, unsigned, size_t, size_t, Handle))                                    \
    F(finish, cuStreamSynchronize, int(Handle))                                                                                \
    F(wait, cuStreamWaitEvent, int(Handle, Handle, unsigned))                                                                  \
    F(flags, cuStreamGetFlags, int(Handle, unsigned*))                                                                         \
    F(make_event, cuEventCreate, int(Handle*, unsigned))                                                                       \
    F(record, cuEventRecord, int(Handle, Handle))                                                                              \
    F(finish_event, cuEventSynchronize, int(Handle))                                                                           \
    F(elapsed, cuEventElapsedTime, int(float*, Handle, Handle))                                                                \
    F(destroy_event, cuEventDestroy_v2, int(Handle))                                                                           \
    F(load, cuModuleLoadData, int(Handle*, const void*))                                                                       \
    F(function, cuModuleGetFunction, int(Handle*, Handle, const char*))                                                        \
    F(unload, cuModuleUnload, int(Handle))                                                                                     \
    F(launch, cuLaunchKernel,                                                                                                  \
      int(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle, void**, void**))               \
    F(make_stream, cuStreamCreate, int(Handle*, unsigned))                                                                     \
    F(destroy_stream, cuStreamDestroy_v2, int(Handle))                                                                         \
    F(begin_capture, cuStreamBeginCapture_v2, int(Handle, int))                                                                \
    F(end_capture, cuStreamEndCapture, int(Handle, Handle*))                                                                   \
    F(instantiate, cuGraphInstantiateWithFlags, int(Handle*, Handle, unsigned long long))                                      \
    F(launch_graph, cuGraphLaunch, int(Handle, Handle))                                                                        \
    F(destroy_plan, cuGraphDestroy, int(Handle))                                                                               \
    F(destroy_graph, cuGraphExecDestroy, int(Handle))                                                                          \
    F(error_name, cuGetErrorName, int(int, const char**))                                                                      \
    F(error_text, cuGetErrorString, int(int, const char**))

struct Api {
#define SDFGAD_FUNCTION(ours, theirs, ...)                                                                                     \
    using ours##_type = __VA_ARGS__;                                                                                           \
    ours##_type* ours = nullptr;
    SDFGAD_DRIVER_FUNCTIONS(SDFGAD_FUNCTION)
#undef SDFGAD_FUNCTION

    void* library = nullptr;
    // What the dynamic linker said, or the name of the function that is not there.
    std::string trouble;

    int open(const char* path) {
        if (library != nullptr) return 0;
        void* opened = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (opened == nullptr) {
            trouble = dlerror();
            return no_driver;
        }
#define SDFGAD_FUNCTION(ours, theirs, ...)                                                                                     \
    ours = reinterpret_cast<ours##_type*>(dlsym(opened, #theirs));                                                             \
    if (ours == nullptr) return missing(opened, #theirs);
        SDFGAD_DRIVER_FUNCTIONS(SDFGAD_FUNCTION)
#undef SDFGAD_FUNCTION
        // Never closed: it may have threads of its own.
        const int code = initialise(0);
        if (code == 0) library = opened;
        return code;
    }

private:
    int missing(void* opened, const char* name) {
        trouble = name;
        dlclose(opened);
        return no_symbol;
    }
};

}  // namespace cuda
}  // namespace sdfgad
