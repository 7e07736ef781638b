// The dialect of kernels, for a device; `emulated.h` has the same words for the host.
#pragma once

#define SDFGAD_KERNEL extern "C" __global__ void
// For blocks of so many threads, more than have 255 registers each. Others need no bound, with which ptxas spills some.
#define SDFGAD_WIDE_KERNEL(threads) SDFGAD_KERNEL __launch_bounds__(threads)
#define SDFGAD_UNROLL _Pragma("unroll 4")
#define SDFGAD_IN(T) const T* __restrict__
#define SDFGAD_OUT(T) T* __restrict__
#define SDFGAD_FUNCTION __device__ inline
#define SDFGAD_SHARED(T, name, count)                                   \
    __shared__ alignas(16) unsigned char name##_room[count * sizeof(T)]; \
    T* const name = reinterpret_cast<T*>(name##_room)

namespace sdfgad {

__device__ inline int64_t point() { return int64_t(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ inline int64_t block() { return blockIdx.x; }
__device__ inline int lane() { return threadIdx.x; }
__device__ inline int64_t extent(int64_t n) { return n > 0 ? n : 0; }

template <typename T> __device__ inline T load(const T* array, int64_t at) { return array[at]; }
template <typename T, typename V> __device__ inline void store(T* array, int64_t at, V value) { array[at] = T(value); }

// Of what may not have a value yet.
template <typename T> __device__ inline T peek(const T* array, int64_t at) { return array[at]; }
template <typename T> __device__ inline void move(T* to, int64_t at, const T* of, int64_t place) { to[at] = of[place]; }

__device__ inline void barrier() { __syncthreads(); }

// What another thread of the same warp has; of a thread of another warp nothing is known. All threads of the warp call it.
template <typename T> __device__ inline T from_lane(T value, int lane) {
    constexpr int count = (sizeof(T) + sizeof(unsigned int) - 1) / sizeof(unsigned int);
    unsigned int words[count] = {};
    memcpy(words, &value, sizeof(T));
    for (int k = 0; k < count; k++) words[k] = __shfl_sync(0xFFFFFFFFu, words[k], lane);
    memcpy(&value, words, sizeof(T));
    return value;
}

// --- atomic operations, whose results are the same in each order

template <size_t bytes> struct Bits;
template <> struct Bits<4> { using type = unsigned int; };
template <> struct Bits<8> { using type = unsigned long long; };

template <typename T> __device__ inline void atomic_add(T* array, int64_t at, T value) {
    using Word = typename Bits<sizeof(T)>::type;
    atomicAdd(reinterpret_cast<Word*>(array + at), Word(value));
}

// Compare and swap, until what is there is the combined value already.
template <typename T, typename Combine> __device__ inline void atomic_extremum(T* array, int64_t at, T value, Combine combine) {
    using Word = typename Bits<sizeof(T)>::type;
    Word* const place = reinterpret_cast<Word*>(array + at);
    Word now = *place, next;
    while (true) {
        T there;
        memcpy(&there, &now, sizeof(T));
        const T wanted = combine(there, value);
        memcpy(&next, &wanted, sizeof(T));
        if (next == now) return;
        const Word seen = atomicCAS(place, now, next);
        if (seen == now) return;
        now = seen;
    }
}

}  // namespace sdfgad

#include "extrema.h"
#include "block_total.h"
