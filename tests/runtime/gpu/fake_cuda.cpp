// A driver and a cuBLAS without a device: memory is the host's, and work is done when it is enqueued. What needs a
// current context fails without one, as the real ones do.
#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "fake_libraries.h"

using Code = int;
using Handle = void*;
using Address = unsigned long long;

namespace {

constexpr Code invalid_value = 1, out_of_memory = 2, no_context = 201, invalid_image = 200, invalid_handle = 400, not_found = 500,
               fault = 700, not_in_captures = 900, isolated = 905, captured_event = 907;

struct Kernel {
    std::string name;
};

int devices = 2, major = 9, minor = 0, pools = 1;
int64_t limit = int64_t(1) << 30, used = 0, held = 0, most = 0;
uint64_t threshold = 0;
std::map<Address, int64_t> blocks;
std::map<std::string, Code> failures;
std::string journal;
int contexts[2];
thread_local std::vector<Handle> current;
int modules = 0;
std::map<std::string, Kernel> kernels{{"scale", {"scale"}}, {"fault", {"fault"}}};
// Of cuBLAS.
bool has_workspace = false;
Handle blas_stream = nullptr;
// What is enqueued on streams that are captured; graphs have the same type.
using Graph = std::vector<std::function<Code()>>;
std::map<Handle, Graph*> captures;
uintptr_t streams = 0x500;
int graphs = 0;

Graph* captured(Handle stream) {
    const auto found = captures.find(stream);
    return found == captures.end() ? nullptr : found->second;
}

void say(const std::string& text) { journal += text + "\n"; }
std::string text(Handle stream) { return std::to_string(reinterpret_cast<uintptr_t>(stream)); }

Code entered(const char* name) {
    const auto found = failures.find(name);
    if (found != failures.end()) return found->second;
    return current.empty() || current.back() == nullptr ? no_context : 0;
}

#define ENTER(name) \
    if (const Code code = entered(name)) return code

bool is_held(Address place, size_t bytes) {
    auto block = blocks.upper_bound(place);
    if (block == blocks.begin()) return false;
    --block;
    return place + bytes <= block->first + block->second;
}

void scale(double* values, int64_t size, double factor, int64_t points) {
    for (int64_t i = 0; i < std::min(size, points); i++) values[i] *= factor;
}

}  // namespace

extern "C" {

// --- the test's side

void fake_reset() {
    devices = 2, major = 9, minor = 0, pools = 1;
    limit = int64_t(1) << 30;
    failures.clear();
    journal.clear();
}
void fake_set(int count, int first, int second, int has_pools) { devices = count, major = first, minor = second, pools = has_pools; }
void fake_limit(int64_t bytes) { limit = bytes; }
void fake_fail(const char* name, Code code) { failures[name] = code; }
const char* fake_log() { return journal.c_str(); }
int fake_blocks() { return int(blocks.size()); }
int fake_modules() { return modules; }
int fake_graphs() { return graphs; }
uint64_t fake_threshold() { return threshold; }
int fake_depth() { return int(current.size()); }
void fake_push(int ordinal) { current.push_back(&contexts[ordinal]); }
void fake_pop() { current.pop_back(); }

// --- the driver's

Code cuInit(unsigned) { return failures.count("cuInit") ? failures["cuInit"] : 0; }
Code cuDriverGetVersion(int* version) { return *version = 13000, 0; }
Code cuDeviceGetCount(int* count) { return *count = devices, 0; }
Code cuDeviceGet(int* device, int ordinal) { return *device = ordinal, ordinal < devices ? 0 : 101; }
Code cuDeviceGetName(char* name, int size, int) { return std::strncpy(name, "Fake 100", size), 0; }
Code cuDeviceGetAttribute(int* value, int attribute, int) {
    const std::map<int, int> values{{16, 132}, {38, 52428800}, {75, major}, {76, minor}, {115, pools}};
    return *value = values.at(attribute), 0;
}
Code cuDeviceTotalMem_v2(size_t* bytes, int) { return *bytes = size_t(limit), 0; }
Code cuDevicePrimaryCtxRetain(Handle* context, int device) { return *context = &contexts[device], 0; }
Code cuDevicePrimaryCtxRelease_v2(int) { return 0; }
Code cuCtxGetCurrent(Handle* context) { return *context = current.empty() ? nullptr : current.back(), 0; }
Code cuCtxGetDevice(int* device) {
    ENTER("cuCtxGetDevice");
    return *device = int(static_cast<int*>(current.back()) - contexts), 0;
}
Code cuCtxPushCurrent_v2(Handle context) { return current.push_back(context), 0; }
Code cuCtxPopCurrent_v2(Handle* context) {
    if (current.empty()) return no_context;
    *context = current.back();
    return current.pop_back(), 0;
}
Code cuCtxSynchronize() {
    ENTER("cuCtxSynchronize");
    return say("synchronise"), 0;
}
Code cuMemGetInfo_v2(size_t* free, size_t* total) {
    ENTER("cuMemGetInfo_v2");
    return *total = size_t(limit), *free = size_t(limit - held), 0;
}

struct Properties {
    int allocation, shared_as, place, ordinal;
    void* security;
    size_t most;
    unsigned short usage;
    unsigned char reserved[54];
};
Code cuMemPoolCreate(Handle* pool, const Properties* properties) {
    if (properties->allocation != 1 || properties->place != 1 || properties->ordinal >= devices) return invalid_value;
    return *pool = &used, 0;
}
Code cuMemPoolDestroy(Handle) { return held = used = most = 0, 0; }
Code cuMemPoolSetAttribute(Handle, int attribute, void* value) {
    return attribute == 4 ? (threshold = *static_cast<uint64_t*>(value), 0) : invalid_value;
}
Code cuMemPoolGetAttribute(Handle, int attribute, void* value) {
    const std::map<int, int64_t> values{{5, held}, {7, used}, {8, most}};
    return *static_cast<uint64_t*>(value) = uint64_t(values.at(attribute)), 0;
}
Code cuMemPoolTrimTo(Handle, size_t) { return held = used, say("trim"), 0; }
Code cuMemAllocFromPoolAsync(Address* place, size_t bytes, Handle, Handle stream) {
    ENTER("cuMemAllocFromPoolAsync");
    if (captured(stream)) return not_in_captures;
    if (used + int64_t(bytes) > limit) return out_of_memory;
    *place = reinterpret_cast<Address>(std::aligned_alloc(512, (bytes + 511) / 512 * 512));
    std::memset(reinterpret_cast<void*>(*place), 0xff, bytes);
    blocks[*place] = int64_t(bytes);
    used += int64_t(bytes);
    held = std::max(held, used);
    most = std::max(most, used);
    return say("take " + std::to_string(bytes) + " on " + text(stream)), 0;
}
Code cuMemFreeAsync(Address place, Handle stream) {
    ENTER("cuMemFreeAsync");
    const auto found = blocks.find(place);
    if (found == blocks.end()) return invalid_value;
    say("give " + std::to_string(found->second) + " on " + text(stream));
    used -= found->second;
    blocks.erase(found);
    std::free(reinterpret_cast<void*>(place));
    return 0;
}
Code cuPointerGetAttribute(void* data, int attribute, Address place) {
    ENTER("cuPointerGetAttribute");
    // Where memory is, or what kind of memory it is.
    return is_held(place, 1) ? (*static_cast<int*>(data) = attribute == 9 ? 0 : 2, 0) : invalid_value;
}
Code cuMemcpyHtoDAsync_v2(Address to, const void* from, size_t bytes, Handle) {
    ENTER("cuMemcpyHtoDAsync_v2");
    return is_held(to, bytes) ? (std::memcpy(reinterpret_cast<void*>(to), from, bytes), 0) : invalid_value;
}
Code cuMemcpyDtoHAsync_v2(void* to, Address from, size_t bytes, Handle) {
    ENTER("cuMemcpyDtoHAsync_v2");
    return is_held(from, bytes) ? (std::memcpy(to, reinterpret_cast<void*>(from), bytes), 0) : invalid_value;
}
Code cuMemcpyDtoDAsync_v2(Address to, Address from, size_t bytes, Handle stream) {
    ENTER("cuMemcpyDtoDAsync_v2");
    if (!is_held(to, bytes) || !is_held(from, bytes)) return invalid_value;
    if (Graph* graph = captured(stream)) return graph->push_back([=] { return cuMemcpyDtoDAsync_v2(to, from, bytes, nullptr); }), 0;
    return std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), bytes), 0;
}
Code cuMemsetD2D32Async(Address place, size_t pitch, unsigned value, size_t width, size_t height, Handle) {
    ENTER("cuMemsetD2D32Async");
    if (!is_held(place, (height - 1) * pitch + 4 * width)) return invalid_value;
    for (size_t row = 0; row < height; row++)
        std::fill_n(reinterpret_cast<unsigned*>(place + row * pitch), width, value);
    return 0;
}
Code cuStreamSynchronize(Handle stream) {
    ENTER("cuStreamSynchronize");
    return say("finish " + text(stream)), 0;
}
Code cuStreamWaitEvent(Handle stream, Handle event, unsigned) {
    ENTER("cuStreamWaitEvent");
    if (captured(stream)) return isolated;
    if (*static_cast<std::string*>(event) == "captured") return captured_event;
    return say(text(stream) + " waits for " + *static_cast<std::string*>(event)), 0;
}
// Streams with large handles keep in order with the default stream.
Code cuStreamGetFlags(Handle stream, unsigned* flags) {
    ENTER("cuStreamGetFlags");
    return *flags = reinterpret_cast<uintptr_t>(stream) < 0x7000 ? 1 : 0, 0;
}
Code cuEventCreate(Handle* event, unsigned) {
    ENTER("cuEventCreate");
    return *event = new std::string, 0;
}
Code cuEventRecord(Handle event, Handle stream) {
    ENTER("cuEventRecord");
    return *static_cast<std::string*>(event) = captured(stream) ? "captured" : text(stream), 0;
}
Code cuEventSynchronize(Handle) { return entered("cuEventSynchronize"); }
Code cuEventElapsedTime(float* milliseconds, Handle, Handle) { return *milliseconds = 1.5f, 0; }
Code cuEventDestroy_v2(Handle event) { return delete static_cast<std::string*>(event), 0; }
Code cuModuleLoadData(Handle* module, const void* image) {
    ENTER("cuModuleLoadData");
    if (std::strncmp(static_cast<const char*>(image), "cubin", 5) != 0) return invalid_image;
    return *module = &kernels, modules++, 0;
}
Code cuModuleGetFunction(Handle* function, Handle, const char* name) {
    ENTER("cuModuleGetFunction");
    const auto found = kernels.find(name);
    return found == kernels.end() ? not_found : (*function = &found->second, 0);
}
Code cuModuleUnload(Handle) { return modules--, 0; }
Code cuLaunchKernel(Handle kernel, unsigned x, unsigned y, unsigned z, unsigned a, unsigned b, unsigned c, unsigned shared,
                    Handle stream, void** arguments, void** extra) {
    ENTER("cuLaunchKernel");
    if (y * z * b * c != 1 || shared != 0 || extra != nullptr || a > 1024) return invalid_value;
    const std::string& name = static_cast<Kernel*>(kernel)->name;
    if (Graph* graph = captured(stream)) {
        auto* values = *static_cast<double**>(arguments[0]);
        const int64_t size = *static_cast<int64_t*>(arguments[1]);
        const double factor = *static_cast<double*>(arguments[2]);
        return graph->push_back([=] { return scale(values, size, factor, int64_t(x) * a), 0; }), 0;
    }
    say("launch " + name + " " + std::to_string(x) + " of " + std::to_string(a) + " on " + text(stream));
    if (name == "fault") return fault;
    scale(*static_cast<double**>(arguments[0]), *static_cast<int64_t*>(arguments[1]), *static_cast<double*>(arguments[2]),
          int64_t(x) * a);
    return 0;
}
Code cuStreamCreate(Handle* stream, unsigned flags) {
    ENTER("cuStreamCreate");
    return *stream = reinterpret_cast<Handle>(streams++), flags == 1 ? 0 : invalid_value;
}
Code cuStreamDestroy_v2(Handle) { return 0; }
Code cuStreamBeginCapture_v2(Handle stream, int mode) {
    ENTER("cuStreamBeginCapture_v2");
    if (stream == nullptr || mode != 2) return invalid_value;
    return captures[stream] = new Graph, 0;
}
Code cuStreamEndCapture(Handle stream, Handle* graph) {
    const auto found = captures.find(stream);
    *graph = found->second;
    captures.erase(found);
    return entered("cuStreamEndCapture");
}
Code cuGraphInstantiateWithFlags(Handle* instance, Handle graph, unsigned long long) {
    ENTER("cuGraphInstantiateWithFlags");
    ++graphs;
    return *instance = new Graph(*static_cast<Graph*>(graph)), 0;
}
Code cuGraphLaunch(Handle instance, Handle stream) {
    ENTER("cuGraphLaunch");
    say("graph of " + std::to_string(static_cast<Graph*>(instance)->size()) + " on " + text(stream));
    for (const auto& node : *static_cast<Graph*>(instance))
        if (const Code code = node()) return code;
    return 0;
}
Code cuGraphDestroy(Handle graph) { return delete static_cast<Graph*>(graph), 0; }
Code cuGraphExecDestroy(Handle instance) { return delete static_cast<Graph*>(instance), --graphs, 0; }
Code cuGetErrorName(Code code, const char** name) {
    static const std::map<Code, const char*> names{{1, "CUDA_ERROR_INVALID_VALUE"}, {2, "CUDA_ERROR_OUT_OF_MEMORY"},
                                                   {3, "CUDA_ERROR_NOT_INITIALIZED"}, {100, "CUDA_ERROR_NO_DEVICE"},
                                                   {200, "CUDA_ERROR_INVALID_IMAGE"}, {500, "CUDA_ERROR_NOT_FOUND"},
                                                   {700, "CUDA_ERROR_ILLEGAL_ADDRESS"}};
    return names.count(code) ? (*name = names.at(code), 0) : invalid_value;
}
Code cuGetErrorString(Code, const char** description) { return *description = "as the driver says it", 0; }

// --- cuBLAS's

int cublasCreate_v2(Handle* handle) { return *handle = &has_workspace, current.empty() ? 1 : 0; }
int cublasDestroy_v2(Handle) { return 0; }
int cublasSetStream_v2(Handle, Handle stream) { return has_workspace = false, blas_stream = stream, say("cuBLAS on " + text(stream)), 0; }
int cublasSetWorkspace_v2(Handle, void* place, size_t bytes) {
    return has_workspace = is_held(reinterpret_cast<Address>(place), bytes), has_workspace ? 0 : 7;
}
int cublasSetMathMode(Handle, int mode) { return mode == 0 ? 0 : 7; }
const char* cublasGetStatusString(int) { return "as cuBLAS says it"; }

}  // extern "C"

template <typename T> T conjugate(T value) {
    if constexpr (std::is_floating_point_v<T>) return value;
    else return std::conj(value);
}

template <typename T> T element(const T* matrix, int64_t leading, int operation, int64_t row, int64_t column) {
    if (operation == 0) return matrix[row + column * leading];
    const T value = matrix[column + row * leading];
    return operation == 2 ? conjugate(value) : value;
}

template <typename T>
int multiply(int op_a, int op_b, int64_t m, int64_t n, int64_t k, const void* alpha, const void* a, int64_t lda, const void* b,
             int64_t ldb, const void* beta, void* c, int64_t ldc) {
    if (!has_workspace) return 7;
    if (lda < std::max<int64_t>(1, op_a ? k : m) || ldb < std::max<int64_t>(1, op_b ? n : k) || ldc < m) return 7;
    if (Graph* graph = captured(blas_stream)) {
        // Numbers are the host's, which go.
        const T one = *static_cast<const T*>(alpha), other = *static_cast<const T*>(beta);
        graph->push_back([=] {
            blas_stream = nullptr;
            return multiply<T>(op_a, op_b, m, n, k, &one, a, lda, b, ldb, &other, c, ldc);
        });
        return 0;
    }
    const T scale = *static_cast<const T*>(alpha), kept = *static_cast<const T*>(beta);
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++) {
            T sum = 0;
            for (int64_t p = 0; p < k; p++) {
                sum += element(static_cast<const T*>(a), lda, op_a, i, p) * element(static_cast<const T*>(b), ldb, op_b, p, j);
            }
            T& target = static_cast<T*>(c)[i + j * ldc];
            target = kept == T(0) ? scale * sum : scale * sum + kept * target;
        }
    }
    return 0;
}

#define MULTIPLY(name, T)                                                                                                      \
    extern "C" int name(Handle, int op_a, int op_b, int64_t m, int64_t n, int64_t k, const void* alpha, const void* a,         \
                        int64_t lda, const void* b, int64_t ldb, const void* beta, void* c, int64_t ldc) {                     \
        return multiply<T>(op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                                          \
    }
MULTIPLY(cublasDgemm_v2_64, double)
MULTIPLY(cublasSgemm_v2_64, float)
MULTIPLY(cublasZgemm_v2_64, std::complex<double>)
MULTIPLY(cublasCgemm_v2_64, std::complex<float>)
