// Products of matrices by cuBLAS, which is loaded when the first is asked for. In double and single precision as they
// are: no TF32, which CUBLAS_DEFAULT_MATH leaves out. And its functions for batches of small matrices.
#pragma once
#include <algorithm>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

#include "devices.h"
#include "foreign_library.h"

namespace sdfgad {
namespace cuda {

// What solvers take of cuBLAS, for double and for complex double. Matrices are column-major; those of a batch are an
// array of addresses on the device.
struct Batched {
    int (*factor)(Handle, int n, const void* a, int lead, int* pivots, int* failed, int batch) = nullptr;
    int (*solve)(Handle, int kind, int n, int m, const void* lu, int lead, const int* pivots, const void* x, int lead_x,
                 int* wrong, int batch) = nullptr;
    int (*triangle)(Handle, int side, int fill, int kind, int diagonal, int n, int m, const void* one, const void* u, int lead,
                    const void* x, int lead_x, int batch) = nullptr;
    int (*one_triangle)(Handle, int side, int fill, int kind, int diagonal, int n, int m, const void* one, const void* u,
                        int lead, void* x, int lead_x) = nullptr;
};

class Products {
public:
    ForeignLibrary library{"libcublas.so", "libcublasLt.so", no_cublas};

    // Column-major products of row-major matrices, which are the transposes of what they are: in exchanged order.
    int gemm(Device& device, int type, int transpose_a, int transpose_b, int64_t m, int64_t n, int64_t k, const void* alpha,
             const void* a, int64_t lda, const void* b, int64_t ldb, const void* beta, void* c, int64_t ldc) {
        if (type < 0 || type > 3) return invalid_value;
        if (m <= 0 || n <= 0) return 0;
        return in_turn(device, [&](Handle handle) {
            const int64_t one = 1;
            return multiply[type](handle, transpose_b, transpose_a, n, m, k, alpha, b, std::max(one, ldb), a,
                                  std::max(one, lda), beta, c, std::max(one, ldc));
        });
    }

    // Calls `run` with cuBLAS's handle and its functions; it returns a status of cuBLAS.
    template <typename Run> int batched(Device& device, bool is_complex, const Run& run) {
        return in_turn(device, [&](Handle handle) { return run(handle, functions[is_complex]); });
    }

    // Calls `run`, which launches a graph of products and returns a code, after what others enqueued.
    template <typename Run> int turn(Device& device, const Run& run) {
        const std::lock_guard lock(mutex);
        int code = follow(device);
        if (code == 0) code = run();
        return code != 0 ? code : api.record(device.multiplied, stream);
    }

    // The stream that was captured last goes.
    void detach(Device& device) {
        const std::lock_guard lock(mutex);
        device.followed = nowhere;
    }

    // A text that lives as long as the library.
    const char* text(int status) const { return library.is_open() ? describe(status) : ""; }

    void close(Device& device) {
        if (device.products == nullptr) return;
        library.forget();
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
    // No stream's handle.
    static inline const Handle nowhere = reinterpret_cast<Handle>(~uintptr_t(0));

    std::mutex mutex;
    int (*create)(Handle*) = nullptr;
    int (*destroy)(Handle) = nullptr;
    int (*set_stream)(Handle, Handle) = nullptr;
    int (*set_workspace)(Handle, void*, size_t) = nullptr;
    int (*set_mode)(Handle, int) = nullptr;
    const char* (*describe)(int) = nullptr;
    Multiply* multiply[4] = {};
    Batched functions[2];

    template <typename Function> bool found(Function*& function, const char* name) { return library.find(function, name); }

    bool has_all() {
        return found(create, "cublasCreate_v2") && found(destroy, "cublasDestroy_v2") && found(set_stream, "cublasSetStream_v2") &&
               found(set_workspace, "cublasSetWorkspace_v2") && found(set_mode, "cublasSetMathMode") &&
               found(describe, "cublasGetStatusString") && found(multiply[0], "cublasDgemm_v2_64") &&
               found(multiply[1], "cublasSgemm_v2_64") && found(multiply[2], "cublasZgemm_v2_64") &&
               found(multiply[3], "cublasCgemm_v2_64") && has_batched(functions[0], "cublasD") &&
               has_batched(functions[1], "cublasZ");
    }
    bool has_batched(Batched& batched, const std::string& prefix) {
        return library.find(batched.factor, prefix + "getrfBatched") && library.find(batched.solve, prefix + "getrsBatched") &&
               library.find(batched.triangle, prefix + "trsmBatched") && library.find(batched.one_triangle, prefix + "trsm_v2");
    }

    template <typename Run> int in_turn(Device& device, const Run& run) {
        const std::lock_guard lock(mutex);
        if (recording != nullptr) recording->has_products = true;
        int code = open(device);
        if (code == 0) code = follow(device);
        if (code != 0) return code;
        const int status = run(device.products);
        if (status != 0) return cublas_codes + status;
        return is_captured() ? 0 : api.record(device.multiplied, stream);
    }

    int open(Device& device) {
        if (device.products != nullptr) return 0;
        int code = library.open([this] { return has_all(); });
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
        int code = is_captured() ? 0 : api.wait(stream, device.multiplied, 0);
        if (code == 0) code = attach(device.products, device.workspace);
        if (code == 0) device.followed = stream;
        return code;
    }
};

inline Products products;

}  // namespace cuda
}  // namespace sdfgad
