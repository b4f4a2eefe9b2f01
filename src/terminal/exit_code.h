// Exit codes, and errors as people read them.
#pragma once

#include <string>

#include "sallyport/result.h"

namespace sallyport::app {

// As documented in docs/cli.md.
inline constexpr int kRefused = 1;
inline constexpr int kUsage = 64;
inline constexpr int kInternal = 70;

int exit_code(ErrorCode code);
int exit_code(const Error& error);

// `sallyport: <what>, <where>; <what to do>`, one line without hidden characters.
std::string error_line(const Error& error);
// `<where>: <what>; <what to do>`, without a place that the text names itself.
std::string with_place(const Error& error);

}  // namespace sallyport::app
