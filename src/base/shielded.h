// Calls code of a host and turns any exception into an error.
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include "sallyport/result.h"

namespace sallyport {

// `function` names the host's function in the error. The exception's own text is not reported.
template <class Work>
auto shielded(std::string function, Work&& work) -> Result<std::invoke_result_t<Work>> {
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<Work>>) {
      std::forward<Work>(work)();
      return {};
    } else {
      return std::forward<Work>(work)();
    }
  } catch (...) {
    return fail(ErrorCode::Internal, std::move(function) + " failed");
  }
}

}  // namespace sallyport
