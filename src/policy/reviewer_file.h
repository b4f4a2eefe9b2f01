// Who is registered to approve and to control, in a file:
//
//   reviewers:
//     - {name: "user:ada", key: "ed25519:...", roles: [approver, controller]}
//
// The list is in its own file, or under `approvals:` of a policy.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "base/file_state.h"
#include "base/guarded.h"
#include "core/plan/approval_rules.h"
#include "trust/approver_book.h"
#include "trust/control.h"

namespace sallyport::policy {

// The file in a data folder, for fronts whose policy names no reviewers.
inline constexpr const char* kReviewersFile = "reviewers.yaml";

// `InvalidInput` with its place if the file cannot be read, or is over 8 MiB.
Result<trust::Reviewers> read_reviewers(const std::filesystem::path& file);

// The list of one file as it is now, for frequent use. It is read again when the file has changed,
// so that a removed person loses access at once.
class ReviewerFile {
 public:
  using List = std::shared_ptr<const trust::Reviewers>;
  // If `optional`, a missing file registers no one; otherwise it is an error.
  explicit ReviewerFile(std::filesystem::path file, bool optional = false)
      : file_(std::move(file)), optional_(optional) {}

  Result<List> now();

 private:
  std::filesystem::path file_;
  bool optional_;
  std::optional<FileState> state_;  // of the file when `list_` was read
  List list_;
};

// The reviewers of a data folder at the moment when an answer or a control record is checked. If no
// one is registered, no answer counts.
class DataFolderReviewers final : public core::ReviewerBook {
 public:
  // `file`: `kReviewersFile` of the folder, or the one that the configuration names instead.
  explicit DataFolderReviewers(std::filesystem::path file)
      : now_(Now{ReviewerFile(std::move(file), true), {}, {}}) {}

  Result<void> check(const std::string& reviewer, std::string_view statement,
                     std::string_view signature) const override;
  Result<void> check_answer(const std::string& reviewer, std::string_view statement,
                            std::string_view signature,
                            const std::vector<std::string>& enrolled) const override;
  Result<void> check_control(const std::string& reviewer, std::string_view statement,
                             std::string_view signature) const override;
  std::string credential(const std::string& reviewer) const override;
  bool is_program(const std::string& reviewer) const override;
  std::string of_client(const std::string& principal) const override;
  std::vector<std::string> with_role(std::string_view role) const override;
  json::value dump() const override { return "reviewers of the data folder"; }

 private:
  struct Now {
    ReviewerFile file;
    ReviewerFile::List list;
    std::shared_ptr<const trust::ApproverBook> book;
  };
  Result<std::shared_ptr<const trust::ApproverBook>> book() const;

  mutable Guarded<Now> now_;
};

}  // namespace sallyport::policy
