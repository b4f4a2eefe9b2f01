// Macros that return errors to the caller: libstdc++ 12 has no monadic operations on std::expected.
#pragma once

#include "sallyport/result.h"

#define SALLYPORT_JOIN_(a, b) a##b
#define SALLYPORT_JOIN(a, b) SALLYPORT_JOIN_(a, b)

// SALLYPORT_TRY(auto size, store.size());
#define SALLYPORT_TRY(target, ...) \
  SALLYPORT_TRY_(SALLYPORT_JOIN(result_, __LINE__), return, target, __VA_ARGS__)
// SALLYPORT_CO_TRY(auto size, co_await store.size());
#define SALLYPORT_CO_TRY(target, ...) \
  SALLYPORT_TRY_(SALLYPORT_JOIN(result_, __LINE__), co_return, target, __VA_ARGS__)
#define SALLYPORT_TRY_(result, leave, target, ...)               \
  auto result = __VA_ARGS__;                                     \
  if (!result) leave std::unexpected(std::move(result).error()); \
  target = std::move(*result)

// The same for Result<void>.
#define SALLYPORT_CHECK_OK(...) \
  if (auto result = __VA_ARGS__; !result) return std::unexpected(std::move(result).error())
#define SALLYPORT_CO_CHECK_OK(...) \
  if (auto result = __VA_ARGS__; !result) co_return std::unexpected(std::move(result).error())

// Checks an invariant of our own code. Input from outside can never break one.
#define SALLYPORT_INVARIANT(condition) \
  ((condition) ? void(0) : ::sallyport::broken_invariant(#condition, __FILE__, __LINE__))

namespace sallyport {
[[noreturn]] void broken_invariant(const char* condition, const char* file, int line);
}  // namespace sallyport
