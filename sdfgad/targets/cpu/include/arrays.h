// Arrays of counted memory that release themselves, for functions that need some for themselves.
#pragma once
#include <cstdint>
#include <vector>

#include "memory.h"

namespace sdfgad {
namespace memory {

template <typename T> struct Allocator {
    using value_type = T;

    Allocator() = default;
    template <typename Other> Allocator(const Allocator<Other>&) {}

    T* allocate(size_t size) { return static_cast<T*>(memory::allocate(bytes_of<T>(size))); }
    void deallocate(T* block, size_t size) { memory::release(block, bytes_of<T>(size)); }

    template <typename Other> bool operator==(const Allocator<Other>&) const { return true; }
};

}  // namespace memory

template <typename T> using Vector = std::vector<T, memory::Allocator<T>>;

// An array of one owner; its elements begin without values.
template <typename T> class Array {
public:
    explicit Array(int64_t size) : size(size), block(static_cast<T*>(memory::allocate(memory::bytes_of<T>(size)))) {}
    Array(Array&& other) : size(other.size), block(other.block) { other.block = nullptr; }
    Array& operator=(Array&&) = delete;
    ~Array() { memory::release(block, memory::bytes_of<T>(size)); }

    T* get() const { return block; }
    T& operator[](int64_t place) const { return block[place]; }

private:
    int64_t size;
    T* block;
};

template <typename T> inline Array<T> array(int64_t size) { return Array<T>(size); }

}  // namespace sdfgad
