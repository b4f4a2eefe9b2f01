// The change of one file by `write_file` or `edit_file`. It is planned first and applied only if
// the file has not changed since (RT-36..RT-39). Both steps block on the disk: use a pool.
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

// Conversion to the snapshot that a person approves, and back.
json::object to_json(const FileChange& change);
Result<FileChange> file_change_from_json(const json::value& snapshot);

// `input` is the input of `write_file` (it has `content`) or of `edit_file` and fits its schema.
// An error is a refusal or says what is wrong with the input.
Result<FileChange> plan_change(const Roots& roots, const json::object& input);

// True: the file was replaced. False: it has the new content already. `Conflict`, cause
// `other_revision`: it changed since the plan, and is untouched. `operation` names the temporary
// file that replaces it; one that a crash left is overwritten.
Result<bool> apply_change(const Roots& roots, const json::object& input, const FileChange& change,
                          const std::string& operation);

}  // namespace sallyport::agent
