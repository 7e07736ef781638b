// Products of matrices by cuBLAS, which is loaded when the first is asked for. In double and single precision as they
// are: no TF32, which CUBLAS_DEFAULT_MATH leaves out.
#pragma once
#include <algorithm>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

#include <dlfcn.h>

#include "devices.h"

namespace sdfgad {
namespace cuda {

class Products {
public:
    // Where cuBLAS may be, separated by newlines.
    std::string paths;
    std::string trouble;

    // Column-major products of row-major matrices, which are the transposes of what they are: in exchanged order.
    int gemm(Device& device, int type, int transpose_a, int transpose_b, int64_t m, int64_t n, int64_t k, const void* alpha,
             const void* a, int64_t lda, const void* b, int64_t ldb, const void* beta, void* c, int64_t ldc) {
        if (type < 0 || type > 3) return invalid_value;
        if (m <= 0 || n <= 0) return 0;
        const std::lock_guard lock(mutex);
        int code = open(device);
        if (code == 0) code = follow(device);
        if (code != 0) return code;
        const int64_t one = 1;
        const int status = multiply[type](device.products, transpose_b, transpose_a, n, m, k, alpha, b, std::max(one, ldb), a,
                                          std::max(one, lda), beta, c, std::max(one, ldc));
        return status != 0 ? cublas_codes + status : api.record(device.multiplied, stream);
    }

    // A text that lives as long as the library.
    const char* text(int status) const { return library == nullptr ? "" : describe(status); }

    // The library is looked for again where it is needed next.
    void close(Device& device) {
        if (device.products == nullptr) return;
        library = nullptr;
        destroy(device.products);
        api.give(reinterpret_cast<Address>(device.workspace), nullptr);
        api.destroy_event(device.multiplied);
        device.products = device.workspace = device.multiplied = nullptr;
    }

private:
    using Multiply = int(Handle, int, int, int64_t, int64_t, int64_t, const void*, const void*, int64_t, const void*, int64_t,
                         const void*, void*, int64_t);
    // What cuBLAS itself takes on Hopper.
    static constexpr int64_t workspace_bytes = int64_t(32) << 20;

    std::mutex mutex;
    void* library = nullptr;
    int (*create)(Handle*) = nullptr;
    int (*destroy)(Handle) = nullptr;
    int (*set_stream)(Handle, Handle) = nullptr;
    int (*set_workspace)(Handle, void*, size_t) = nullptr;
    int (*set_mode)(Handle, int) = nullptr;
    const char* (*describe)(int) = nullptr;
    Multiply* multiply[4] = {};

    template <typename Function> bool found(Function*& function, const char* name) {
        function = reinterpret_cast<Function*>(dlsym(library, name));
        if (function == nullptr) trouble = name;
        return function != nullptr;
    }

    bool has_all() {
        return found(create, "cublasCreate_v2") && found(destroy, "cublasDestroy_v2") && found(set_stream, "cublasSetStream_v2") &&
               found(set_workspace, "cublasSetWorkspace_v2") && found(set_mode, "cublasSetMathMode") &&
               found(describe, "cublasGetStatusString") && found(multiply[0], "cublasDgemm_v2_64") &&
               found(multiply[1], "cublasSgemm_v2_64") && found(multiply[2], "cublasZgemm_v2_64") &&
               found(multiply[3], "cublasCgemm_v2_64");
    }

    // The library that cuBLAS needs is beside it, where the dynamic linker may not look.
    static void* opened(const std::string& path) {
        const std::string name = "libcublas.so";
        const size_t at = path.rfind("/" + name);
        if (at != std::string::npos) {
            std::string needed = path;
            dlopen(needed.replace(at + 1, name.size(), "libcublasLt.so").c_str(), RTLD_NOW | RTLD_LOCAL);
        }
        return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    }

    int load() {
        trouble.clear();
        for (size_t begin = 0; begin < paths.size() && library == nullptr;) {
            const size_t end = std::min(paths.find('\n', begin), paths.size());
            library = opened(paths.substr(begin, end - begin));
            if (library == nullptr) trouble += std::string(trouble.empty() ? "" : "; ") + dlerror();
            begin = end + 1;
        }
        if (library == nullptr || has_all()) return library == nullptr ? no_cublas : 0;
        library = nullptr;
        return no_cublas;
    }

    int open(Device& device) {
        if (device.products != nullptr) return 0;
        int code = library != nullptr ? 0 : load();
        if (code != 0) return code;
        Handle handle = nullptr;
        if (const int status = create(&handle)) return cublas_codes + status;
        Address workspace = 0;
        if (const int status = set_mode(handle, 0)) code = cublas_codes + status;
        if (code == 0) code = api.take(&workspace, workspace_bytes, device.pool, stream);
        if (code == 0) code = api.make_event(&device.multiplied, event_without_time);
        if (code == 0) code = attach(handle, reinterpret_cast<void*>(workspace));
        if (code == 0) code = api.record(device.multiplied, stream);
        if (code != 0) {
            destroy(handle);
            if (workspace != 0) api.give(workspace, stream);
            if (device.multiplied != nullptr) api.destroy_event(std::exchange(device.multiplied, nullptr));
            return code;
        }
        device.products = handle;
        device.workspace = reinterpret_cast<void*>(workspace);
        device.followed = stream;
        return 0;
    }

    // A new stream makes cuBLAS forget the workspace.
    int attach(Handle handle, void* workspace) {
        int status = set_stream(handle, stream);
        if (status == 0) status = set_workspace(handle, workspace, workspace_bytes);
        return status == 0 ? 0 : cublas_codes + status;
    }

    // Streams take turns with the workspace.
    int follow(Device& device) {
        if (device.followed == stream) return 0;
        int code = api.wait(stream, device.multiplied, 0);
        if (code == 0) code = attach(device.products, device.workspace);
        if (code == 0) device.followed = stream;
        return code;
    }
};

inline Products products;

}  // namespace cuda
}  // namespace sdfgad
