// The dialect of kernels, for a device; `emulated.h` has the same words for the host.
#pragma once

#define SDFGAD_KERNEL extern "C" __global__
#define SDFGAD_IN(T) const T* __restrict__
#define SDFGAD_OUT(T) T* __restrict__

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

// The total of what the threads of a block have, the same for each of them: a tree, whose shape depends on their number.
template <int threads, typename T, typename Combine> __device__ inline T block_total(T value, Combine combine) {
    __shared__ alignas(16) unsigned char room[threads * sizeof(T)];
    T* totals = reinterpret_cast<T*>(room);
    totals[lane()] = value;
    __syncthreads();
    for (int half = threads / 2; half > 0; half /= 2) {
        if (lane() < half) totals[lane()] = combine(totals[lane()], totals[lane() + half]);
        __syncthreads();
    }
    return totals[0];
}

}  // namespace sdfgad
