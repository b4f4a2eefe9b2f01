// Who is registered to approve and to control.
//
//   reviewers:
//     - {name: "user:ada", key: "ed25519:...", roles: [approver, controller]}
//
// The list stands in a file of its own, or under `approvals:` of a policy.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "app/context.h"
#include "app/file_state.h"
#include "trust/reviewers.h"

namespace sallyport::app {

// The file that was named, else `<data-dir>/reviewers.yaml`; nobody where there is no such file.
// `InvalidInput` with its place when it cannot be read.
Result<trust::Reviewers> registered_reviewers(const Context& context,
                                              const std::optional<std::filesystem::path>& file);

// The list of one file as it is now, for whoever asks often: read again when the file has changed,
// so that whoever was struck off it is gone at once.
class ReviewerFile {
 public:
  using List = std::shared_ptr<const trust::Reviewers>;
  // `optional`: nobody is registered where there is no such file; else that is an error.
  explicit ReviewerFile(std::filesystem::path file, bool optional = false)
      : file_(std::move(file)), optional_(optional) {}

  Result<List> now();

 private:
  std::filesystem::path file_;
  bool optional_;
  std::optional<FileState> state_;  // as `list_` was read
  List list_;
};

}  // namespace sallyport::app
