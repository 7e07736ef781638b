// Functions of a device's libraries in the emulation: those of the host, on what must be memory of the device. They are
// compiled once for all programs (cpu/separate/emulated_library.cpp).
#pragma once
#include "emulated.h"

namespace sdfgad {
namespace emulated {

int call_host(int number, int type, void* const* arrays, const int64_t* sizes);

[[gnu::visibility("hidden")]] inline const bool has_library = (functions.call = call_host, true);

}  // namespace emulated
}  // namespace sdfgad
