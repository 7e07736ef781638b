// The dialect of kernels, for a device; `emulated.h` has the same words for the host.
#pragma once

#define SDFGAD_KERNEL extern "C" __global__
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

}  // namespace sdfgad

#include "block_total.h"
