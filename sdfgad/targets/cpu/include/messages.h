// Calls of the Python function that communicates for compiled code. Each reads and writes the order of messages.
#pragma once
#include <cstdint>
#include <type_traits>

namespace sdfgad {

// The number of a type in Python's table of them.
template <typename T> inline constexpr int64_t message_type() {
    using U = std::remove_cv_t<T>;
    if (std::is_same_v<U, bool>) return 12;
    if (std::is_same_v<U, float>) return 0;
    if (std::is_same_v<U, double>) return 1;
    if (!std::is_arithmetic_v<U>) return sizeof(U) == 8 ? 2 : 3;
    if (sizeof(U) == 4) return std::is_signed_v<U> ? 4 : 10;
    if (sizeof(U) == 8) return std::is_signed_v<U> ? 5 : 11;
    if (sizeof(U) == 2) return std::is_signed_v<U> ? 8 : 9;
    return std::is_signed_v<U> ? 6 : 7;
}

template <typename... A>
inline void message(const int64_t* place, bool is_back, int64_t inputs, const double* before, double* after, A*... all) {
    void* arrays[] = {const_cast<void*>(static_cast<const void*>(all))..., nullptr};
    const int64_t types[] = {message_type<A>()..., -1};
    using Function = void (*)(int64_t, int64_t, int64_t, void**, const int64_t*);
    reinterpret_cast<Function>(static_cast<intptr_t>(place[0]))(place[1], is_back, inputs, arrays, types);
    *after = *before;
}

template <typename X, typename Y>
inline void message_share(const int64_t* place, const double* before, X* x, Y* y, double* after, int64_t) {
    message(place, false, 1, before, after, x, y);
}

template <typename X, typename Y>
inline void message_share_back(const int64_t* place, const double* before, X* y_bar, Y* x_bar, double* after) {
    message(place, true, 1, before, after, y_bar, x_bar);
}

template <typename X, typename Z, typename Y>
inline void message_exchange(const int64_t* place, const double* before, X* x, Z* old, Y* y, int64_t* tag, double* after,
                             int64_t, int64_t) {
    message(place, false, 2, before, after, x, old, y, tag);
}

template <typename Y, typename X, typename Z>
inline void message_exchange_back(const int64_t* place, const double* before, Y* y_bar, const int64_t* tag, X* x_bar,
                                  Z* old_bar, double* after) {
    message(place, true, 2, before, after, y_bar, tag, x_bar, old_bar);
}

template <typename X> inline void message_send(const int64_t* place, const double* before, X* x, double* after, int64_t) {
    message(place, false, 1, before, after, x);
}

template <typename X> inline void message_send_back(const int64_t* place, const double* before, X* x_bar, double* after) {
    message(place, true, 0, before, after, x_bar);
}

template <typename Z, typename Y>
inline void message_receive(const int64_t* place, const double* before, Z* old, Y* y, int64_t* tag, double* after,
                            int64_t, int64_t) {
    message(place, false, 1, before, after, old, y, tag);
}

template <typename Y, typename Z>
inline void message_receive_back(const int64_t* place, const double* before, Y* y_bar, const int64_t* tag, Z* old_bar,
                                 double* after) {
    message(place, true, 2, before, after, y_bar, tag, old_bar);
}

inline void message_signal(const int64_t* place, const double* before, double* after, int64_t) {
    message(place, false, 0, before, after);
}

inline void message_signal_back(const int64_t* place, const double* before, double* after) {
    message(place, true, 0, before, after);
}

}  // namespace sdfgad
