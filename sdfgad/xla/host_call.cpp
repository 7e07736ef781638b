// A call of XLA's foreign function interface that hands the addresses of all buffers to a function of the process.
#include <cstdint>
#include <string>
#include <vector>

#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;

// Returns 0, or else the number of bytes of a message that it has written.
using Callback = std::int64_t (*)(std::int64_t site, void **arguments, void **results, char *message);
constexpr std::size_t MOST_CHARACTERS = 4096;
static Callback callback = nullptr;

extern "C" void sdfgad_set_callback(Callback given) { callback = given; }

static ffi::Error call(std::int64_t site, ffi::RemainingArgs arguments, ffi::RemainingRets results) {
  std::vector<void *> in, out;
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    auto buffer = arguments.get<ffi::AnyBuffer>(k);
    if (buffer.has_error()) return buffer.error();
    in.push_back(buffer->untyped_data());
  }
  for (std::size_t k = 0; k < results.size(); ++k) {
    auto buffer = results.get<ffi::AnyBuffer>(k);
    if (buffer.has_error()) return buffer.error();
    out.push_back((*buffer)->untyped_data());
  }
  std::string message(MOST_CHARACTERS, '\0');
  std::int64_t length = callback(site, in.data(), out.data(), message.data());
  return length == 0 ? ffi::Error::Success() : ffi::Error::Internal(message.substr(0, length));
}

XLA_FFI_DEFINE_HANDLER_SYMBOL(sdfgad_host_call, call,
                              ffi::Ffi::Bind().Attr<std::int64_t>("site").RemainingArgs().RemainingRets());
