// Linear algebra by cuSOLVER, which is loaded when it is asked for first, and by cuBLAS's functions for batches. The
// functions are those of columns.h.
//
// Nothing waits for the device but what cuSOLVER itself waits for, in eigenvalues and singular values.
#pragma once
#include <algorithm>
#include <cstdint>
#include <mutex>
#include <vector>

#include "device.h"
#include "products.h"
#include "solver_api.h"
#include "turns.h"

namespace sdfgad {
namespace cuda {

class Solvers {
public:
    ForeignLibrary library{"libcusolver.so", "", no_cusolver};

    int run(int ordinal, Device& device, device::Function function, int type, void* const* arrays, const int64_t* sizes) {
        if (type != 0 && type != 2) return invalid_value;
        const Call call{ordinal, device, type == 2, arrays, sizes};
        if (sizes[0] <= 0 || sizes[1] <= 0) return 0;
        switch (function) {
        case device::Function::lu_columns: return factor(call);
        case device::Function::lu_solve_columns: return solve(call);
        case device::Function::cholesky_columns: return cholesky(call);
        case device::Function::upper_solve_columns: return solve_upper(call);
        case device::Function::hermitian_columns: return hermitian(call);
        case device::Function::singular_columns: return singular(call);
        case device::Function::qr_columns: return orthogonal(call);
        default: return invalid_value;
        }
    }

    // All work on the device is done.
    void close(Device& device) {
        if (device.solver == nullptr) return;
        library.forget();
        destroy(device.solver);
        device.solver = nullptr;
        cuda::close(device.solving);
    }

private:
    struct Call {
        int ordinal;
        Device& device;
        bool is_complex;
        void* const* arrays;
        const int64_t* sizes;

        int64_t batch() const { return sizes[0]; }
        int size(int at) const { return int(sizes[at]); }
        int64_t bytes(int64_t numbers) const { return numbers * (is_complex ? 16 : 8); }
        template <typename T> T* array(int at) const { return static_cast<T*>(arrays[at]); }
        // The matrix of a batch, of so many numbers.
        void* matrix(int at, int64_t number, int64_t numbers) const { return array<char>(at) + bytes(number * numbers); }
        int copy(int to, int from, int64_t numbers) const {
            return api.copy(reinterpret_cast<Address>(arrays[to]), reinterpret_cast<Address>(arrays[from]), bytes(numbers), stream);
        }
    };
    // The addresses of the matrices of a batch, on the device.
    struct Addresses : Work {
        int take(const Call& call, int at, int64_t numbers) {
            std::vector<void*> found(call.batch());
            for (int64_t i = 0; i < call.batch(); i++) found[i] = call.matrix(at, i, numbers);
            const int64_t size = call.batch() * int64_t(sizeof(void*));
            const int code = Work::take(call.ordinal, size);
            return code != 0 ? code : api.to_device(reinterpret_cast<Address>(this->at()), found.data(), size, stream);
        }
    };
    // Of larger matrices one after another fills the device.
    static constexpr int largest_in_batch = 256;

    std::mutex mutex;
    int (*create)(Handle*) = nullptr;
    int (*destroy)(Handle) = nullptr;
    int (*set_stream)(Handle, Handle) = nullptr;
    int (*set_mode)(Handle, int) = nullptr;
    Factorisations functions[2];

    bool has_all() {
        return library.find(create, "cusolverDnCreate") && library.find(destroy, "cusolverDnDestroy") &&
               library.find(set_stream, "cusolverDnSetStream") && functions[0].has_all(library, false) &&
               functions[1].has_all(library, true);
    }

    static bool is_batch(const Call& call) { return call.batch() > 1 && call.sizes[1] <= largest_in_batch; }
    static int code_of(int status) { return status == 0 ? 0 : cusolver_codes + status; }

    int open(Device& device) {
        if (device.solver != nullptr) return 0;
        if (const int code = library.open([this] { return has_all(); })) return code;
        Handle handle = nullptr;
        if (const int status = create(&handle)) return code_of(status);
        // Before CUDA 12.2 there is no other mode.
        constexpr int deterministic = 1;
        const int status = library.find(set_mode, "cusolverDnSetDeterministicMode") ? set_mode(handle, deterministic) : 0;
        if (status != 0) {
            destroy(handle);
            return code_of(status);
        }
        device.solver = handle;
        return 0;
    }

    // Calls `run` with cuSOLVER's handle and functions; it returns a code.
    template <typename Run> int solving(const Call& call, const Run& run) {
        const std::lock_guard lock(mutex);
        Device& device = call.device;
        if (const int code = open(device)) return code;
        const auto attach = [&] { return code_of(set_stream(device.solver, stream)); };
        return in_turn(device.solving, attach, [&] { return run(device.solver, functions[call.is_complex]); });
    }

    // Calls `run`, which returns a status of cuSOLVER, for each matrix of a batch.
    template <typename Run> static int each(const Call& call, const Run& run) {
        int status = 0;
        for (int64_t i = 0; i < call.batch() && status == 0; i++) status = run(i);
        return code_of(status);
    }

    int factor(const Call& call) {
        const int n = call.size(1);
        const int64_t whole = int64_t(n) * n;
        int *pivots = call.array<int>(2), *failed = call.array<int>(3);
        if (const int code = call.copy(1, 0, call.batch() * whole)) return code;
        if (is_batch(call)) {
            Addresses lu;
            if (const int code = lu.take(call, 1, whole)) return code;
            return products.batched(call.device, call.is_complex, [&](Handle handle, const Batched& with) {
                return with.factor(handle, n, lu.at(), n, pivots, failed, call.size(0));
            });
        }
        return solving(call, [&](Handle handle, const Factorisations& with) {
            int size = 0;
            Work work;
            int code = code_of(with.lu_size(handle, n, n, call.arrays[1], n, &size));
            if (code == 0) code = work.take(call.ordinal, call.bytes(size));
            return code != 0 ? code : each(call, [&](int64_t i) {
                return with.lu(handle, n, n, call.matrix(1, i, whole), n, work.at(), pivots + i * n, failed + i);
            });
        });
    }

    int solve(const Call& call) {
        const int n = call.size(1), m = call.size(2), kind = call.size(3);
        const int64_t whole = int64_t(n) * n, right = int64_t(n) * m;
        const int* pivots = call.array<int>(1);
        if (const int code = call.copy(3, 2, call.batch() * right)) return code;
        if (is_batch(call)) {
            Addresses lu, x;
            int wrong = 0, code = lu.take(call, 0, whole);
            if (code == 0) code = x.take(call, 3, right);
            return code != 0 ? code : products.batched(call.device, call.is_complex, [&](Handle handle, const Batched& with) {
                return with.solve(handle, kind, n, m, lu.at(), n, pivots, x.at(), n, &wrong, call.size(0));
            });
        }
        return solving(call, [&](Handle handle, const Factorisations& with) {
            Work wrong;
            const int code = wrong.take(call.ordinal, sizeof(int));
            return code != 0 ? code : each(call, [&](int64_t i) {
                return with.lu_solve(handle, kind, n, m, call.matrix(0, i, whole), n, pivots + i * n, call.matrix(3, i, right), n,
                                     wrong.at<int>());
            });
        });
    }

    int cholesky(const Call& call) {
        const int n = call.size(1), upper = 1;
        const int64_t whole = int64_t(n) * n;
        int* failed = call.array<int>(2);
        if (const int code = call.copy(1, 0, call.batch() * whole)) return code;
        return solving(call, [&](Handle handle, const Factorisations& with) {
            if (is_batch(call)) {
                Addresses u;
                const int code = u.take(call, 1, whole);
                return code != 0 ? code : code_of(with.cholesky_batch(handle, upper, n, u.at<void*>(), n, failed, call.size(0)));
            }
            int size = 0;
            Work work;
            int code = code_of(with.cholesky_size(handle, upper, n, call.arrays[1], n, &size));
            if (code == 0) code = work.take(call.ordinal, call.bytes(size));
            return code != 0 ? code : each(call, [&](int64_t i) {
                return with.cholesky(handle, upper, n, call.matrix(1, i, whole), n, work.at(), size, failed + i);
            });
        });
    }

    int solve_upper(const Call& call) {
        constexpr int left = 0, upper = 1, no_unit = 0;
        constexpr double one[2] = {1.0, 0.0};
        const int n = call.size(1), m = call.size(2), kind = call.size(3);
        const int64_t whole = int64_t(n) * n, right = int64_t(n) * m;
        if (const int code = call.copy(2, 1, call.batch() * right)) return code;
        Addresses u, x;
        if (is_batch(call)) {
            int code = u.take(call, 0, whole);
            if (code == 0) code = x.take(call, 2, right);
            if (code != 0) return code;
        }
        return products.batched(call.device, call.is_complex, [&](Handle handle, const Batched& with) {
            if (is_batch(call)) return with.triangle(handle, left, upper, kind, no_unit, n, m, one, u.at(), n, x.at(), n, call.size(0));
            int status = 0;
            for (int64_t i = 0; i < call.batch() && status == 0; i++)
                status = with.one_triangle(handle, left, upper, kind, no_unit, n, m, one, call.matrix(0, i, whole), n,
                                           call.matrix(2, i, right), n);
            return status;
        });
    }

    int hermitian(const Call& call) {
        constexpr int has_vectors = 1;
        const int n = call.size(1), fill = call.size(2) != 0;
        const int64_t whole = int64_t(n) * n;
        double* w = call.array<double>(1);
        int* failed = call.array<int>(3);
        if (const int code = call.copy(2, 0, call.batch() * whole)) return code;
        return solving(call, [&](Handle handle, const Factorisations& with) {
            int size = 0;
            Work work;
            int code = code_of(with.eigen_size(handle, has_vectors, fill, n, call.arrays[2], n, w, &size));
            if (code == 0) code = work.take(call.ordinal, call.bytes(size));
            return code != 0 ? code : each(call, [&](int64_t i) {
                return with.eigen(handle, has_vectors, fill, n, call.matrix(2, i, whole), n, w + i * n, work.at(), size, failed + i);
            });
        });
    }

    int singular(const Call& call) {
        const int m = call.size(1), n = call.size(2), left = call.size(3) ? m : n;
        const int64_t whole = int64_t(m) * n, of_u = int64_t(m) * left, of_vh = int64_t(n) * n;
        double* s = call.array<double>(2);
        int* failed = call.array<int>(4);
        const signed char job = call.size(3) ? 'A' : 'S';
        return solving(call, [&](Handle handle, const Factorisations& with) {
            int size = 0;
            Work work, columns, reals;
            int code = code_of(with.singular_size(handle, m, n, &size));
            if (code == 0) code = work.take(call.ordinal, call.bytes(size));
            // The matrices are lost.
            if (code == 0) code = columns.take(call.ordinal, call.bytes(whole));
            if (code == 0) code = reals.take(call.ordinal, n * int64_t(sizeof(double)));
            for (int64_t i = 0; i < call.batch() && code == 0; i++) {
                const auto a = reinterpret_cast<Address>(call.matrix(0, i, whole));
                code = api.copy(reinterpret_cast<Address>(columns.at()), a, call.bytes(whole), stream);
                if (code == 0)
                    code = code_of(with.singular(handle, job, job, m, n, columns.at(), m, s + i * n, call.matrix(1, i, of_u), m,
                                                 call.matrix(3, i, of_vh), n, work.at(), size, reals.at<double>(), failed + i));
            }
            return code;
        });
    }

    int orthogonal(const Call& call) {
        const int m = call.size(1), n = call.size(2), k = std::min(m, n);
        const int64_t whole = int64_t(m) * n, of_q = int64_t(m) * k;
        if (const int code = call.copy(2, 0, call.batch() * whole)) return code;
        return solving(call, [&](Handle handle, const Factorisations& with) {
            int sizes[2] = {};
            Work work, tau, wrong;
            int code = code_of(with.reflect_size(handle, m, n, call.arrays[2], m, &sizes[0]));
            if (code == 0) code = tau.take(call.ordinal, call.bytes(k));
            if (code == 0) code = code_of(with.form_q_size(handle, m, k, k, call.arrays[1], m, tau.at(), &sizes[1]));
            if (code == 0) code = work.take(call.ordinal, call.bytes(std::max(sizes[0], sizes[1])));
            if (code == 0) code = wrong.take(call.ordinal, sizeof(int));
            for (int64_t i = 0; i < call.batch() && code == 0; i++) {
                void *r = call.matrix(2, i, whole), *q = call.matrix(1, i, of_q);
                code = code_of(with.reflect(handle, m, n, r, m, tau.at(), work.at(), sizes[0], wrong.at<int>()));
                if (code == 0)
                    code = api.copy(reinterpret_cast<Address>(q), reinterpret_cast<Address>(r), call.bytes(of_q), stream);
                if (code == 0)
                    code = code_of(with.form_q(handle, m, k, k, q, m, tau.at(), work.at(), sizes[1], wrong.at<int>()));
            }
            return code;
        });
    }
};

inline Solvers solvers;

}  // namespace cuda
}  // namespace sdfgad
