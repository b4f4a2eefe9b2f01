// Runs a child process to its end, with bounded output. A cancel kills its whole group.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "base/async.h"

namespace sallyport::net {

struct ProcessSpec {
  std::vector<std::string> arguments;  // the first is the program, looked up in PATH
  std::filesystem::path folder{};      // empty: the current one
  std::size_t max_output = 1u << 20;   // of both streams together; the rest is dropped
};

struct ProcessResult {
  int exit_code = -1;  // -1: ended by a signal
  int signal = 0;
  std::string output;  // stdout and stderr, interleaved
  bool truncated = false;
};

// `Unavailable` when it cannot be started, `Cancelled` when `cancel` was requested: every process
// of the group is dead then.
Task<ProcessResult> run_process(ProcessSpec spec, std::stop_token cancel);

}  // namespace sallyport::net
