// Calls code of a host that may throw anything: what it throws becomes an error.
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include "sallyport/result.h"

namespace sallyport {

// `what` names the host's function in the error; what it threw may hold anything and is not told.
template <class Work>
auto shielded(std::string what, Work&& work) -> Result<std::invoke_result_t<Work>> {
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<Work>>) {
      std::forward<Work>(work)();
      return {};
    } else {
      return std::forward<Work>(work)();
    }
  } catch (...) {
    return fail(ErrorCode::Internal, std::move(what) + " failed");
  }
}

}  // namespace sallyport
