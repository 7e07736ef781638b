// Stores that go past the cache, for arrays larger than it: an ordinary store reads the line from memory first.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace sdfgad {

constexpr int64_t stream_line = 64;

// A whole line of memory, which must be aligned.
inline void stream_one(char* to, const char* from) {
#if defined(__AVX512F__)
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to), _mm512_loadu_si512(from));
#elif defined(__AVX__)
    for (int k = 0; k < stream_line; k += 32)
        _mm256_stream_si256(reinterpret_cast<__m256i*>(to + k),
                            _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + k)));
#elif defined(__SSE2__)
    for (int k = 0; k < stream_line; k += 16)
        _mm_stream_si128(reinterpret_cast<__m128i*>(to + k), _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + k)));
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
        _mm_sfence();
#endif
    }
};

}  // namespace sdfgad
