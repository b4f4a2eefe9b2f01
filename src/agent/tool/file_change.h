// What `write_file` and `edit_file` do to one file: planned first, then done only if the file is
// still what it was (RT-36..RT-39). Both block on the disk and belong on a pool.
#pragma once

#include <optional>
#include <string>

#include "agent/tool/roots.h"
#include "sallyport/json.h"

namespace sallyport::agent {

struct FileChange {
  std::string path{};                          // absolute, without links
  std::optional<std::string> before_sha256{};  // no value: there is no file yet
  std::string after_sha256{};
  std::string diff{};
  bool operator==(const FileChange&) const = default;
};

// The snapshot that a person approves, and back.
json::object to_json(const FileChange& change);
Result<FileChange> file_change_from_json(const json::value& snapshot);

// `input` is that of `write_file` (it has `content`) or of `edit_file`, and fits its schema.
// Errors: a refusal, or what is wrong with the input.
Result<FileChange> plan_change(const Roots& roots, const json::object& input);

// True: the file was replaced. False: it was what it shall be already. `Conflict`, cause
// `other_revision`: it is not what it was when it was planned, and is untouched. `operation` names
// the file that is written beside it and takes its place; one that a crash left is written anew.
Result<bool> apply_change(const Roots& roots, const json::object& input, const FileChange& change,
                          const std::string& operation);

}  // namespace sallyport::agent
