// Stores that go past the cache, for arrays larger than it: an ordinary store reads the line from memory first.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>

namespace sdfgad {

constexpr int64_t stream_line = 64;

// Compilers' own names for the instructions: <immintrin.h>, which wraps them, has 60,000 lines, a fifth of what the
// precompiled headers held.
#if defined(__SSE2__)
#if defined(__AVX512F__)
constexpr int stream_width = 64;
#elif defined(__AVX__)
constexpr int stream_width = 32;
#else
constexpr int stream_width = 16;
#endif
typedef long long Streamed __attribute__((vector_size(stream_width), may_alias));

inline void store_past(Streamed* to, Streamed value) {
#if defined(__clang__)
    __builtin_nontemporal_store(value, to);
#elif defined(__AVX512F__)
    __builtin_ia32_movntdq512(to, value);
#elif defined(__AVX__)
    __builtin_ia32_movntdq256(to, value);
#else
    __builtin_ia32_movntdq(to, value);
#endif
}
#endif

// A whole line of memory, which must be aligned.
inline void stream_one(char* to, const char* from) {
#if defined(__SSE2__)
    for (int k = 0; k < stream_line; k += stream_width) {
        Streamed value;
        std::memcpy(&value, from + k, stream_width);
        store_past(reinterpret_cast<Streamed*>(to + k), value);
    }
#else
    std::memcpy(to, from, stream_line);
#endif
}

// Copies elements from the cache past it; lines of which they are only a part are stored as usual.
template <typename T> inline void stream(T* target, const T* source, int64_t count) {
    char* to = reinterpret_cast<char*>(target);
    const char* from = reinterpret_cast<const char*>(source);
    const int64_t bytes = count * int64_t(sizeof(T));
    int64_t at = std::min<int64_t>(-reinterpret_cast<uintptr_t>(to) % stream_line, bytes);
    std::memcpy(to, from, at);
    for (; at + stream_line <= bytes; at += stream_line) stream_one(to + at, from + at);
    std::memcpy(to + at, from + at, bytes - at);
}

// What its scope stores past the cache is there for other threads when it ends: such stores keep no order by themselves.
struct Streams {
    Streams() {}
    ~Streams() {
#if defined(__SSE2__)
        __builtin_ia32_sfence();
#endif
    }
};

}  // namespace sdfgad
