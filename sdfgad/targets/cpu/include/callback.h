// Calls of Python functions from compiled code.
#pragma once
#include <cstdint>

namespace sdfgad {

// Runs the function at an address, which takes the addresses of all arrays; whether it has failed.
template <typename... A> inline int pure_callback(const int64_t* address, A*... arrays) {
    void* all[] = {const_cast<void*>(static_cast<const void*>(arrays))...};
    return reinterpret_cast<int (*)(void**)>(static_cast<intptr_t>(*address))(all);
}

}  // namespace sdfgad
