// The workspace of a session, which its first call fixes (RU-36).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/record/record_reader.h"
#include "sallyport/call.h"

namespace sallyport::core {

inline constexpr std::string_view kWorkspaceSpace = "workspace";

// The key of the fact that pins it.
std::string workspace_key(const Call& call);

// Empty: unknown. `pins`: this call is the first of its session, and its workspace is to be stored.
std::vector<std::string> session_workspace(const Call& call, RecordReader& records,
                                           bool* pins = nullptr);

}  // namespace sallyport::core
