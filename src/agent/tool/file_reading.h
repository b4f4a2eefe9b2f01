// The tools that look at files: `read_file`, `list_files`, `search_files` (RT-34, RT-35). Each
// blocks on the disk and belongs on a pool. An error is a refusal (`is_refusal`) or a failure.
#pragma once

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>

#include "agent/tool/roots.h"

namespace sallyport::agent {

struct ReadFile {
  std::string path{};
  std::uint64_t offset = 1;              // the first line to return, counted from 1
  std::optional<std::uint64_t> limit{};  // lines
};
Result<std::string> read_file(const Roots& roots, const ReadFile& query, std::stop_token cancel);

struct ListFiles {
  std::string path{};
  bool recursive = false;
};
Result<std::string> list_files(const Roots& roots, const ListFiles& query, std::stop_token cancel);

struct SearchFiles {
  std::string pattern{};
  std::string path{};  // empty: the first root
  std::string glob{};  // empty: every file
  std::uint64_t limit = 200;
  std::chrono::milliseconds longest{5'000};
};
Result<std::string> search_files(const Roots& roots, const SearchFiles& query,
                                 std::stop_token cancel);

}  // namespace sallyport::agent
