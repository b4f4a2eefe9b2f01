#include "policy/reviewer_file.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <fstream>

#include "base/json_members.h"
#include "base/try.h"
#include "config/yaml_json.h"
#include "trust/reviewers.h"

namespace sallyport::policy {

namespace {

constexpr std::size_t kLongestList = 8u << 20;  // as of a policy, which it may be

Result<std::string> text_of(const std::filesystem::path& file) {
  std::error_code code;
  if (std::filesystem::is_directory(file, code)) {
    return fail(ErrorCode::InvalidInput, "is a folder, name a file", file.string());
  }
  std::ifstream in(file, std::ios::binary);
  if (!in) return fail(ErrorCode::NotFound, "there is no such file", file.string());
  std::string text;
  std::string part(64u << 10, '\0');
  while (in && text.size() <= kLongestList) {
    in.read(part.data(), static_cast<std::streamsize>(part.size()));
    text.append(part, 0, static_cast<std::size_t>(in.gcount()));
  }
  if (in.bad()) return fail(ErrorCode::Unavailable, "it cannot be read", file.string());
  if (text.size() <= kLongestList) return text;
  return fail(ErrorCode::InvalidInput, "it is over 8 MiB", file.string());
}

// A policy has keys of its own. A list of people has only these, so that a misspelled key does not
// make an empty list.
Result<void> check_keys(const json::object& document, const std::filesystem::path& file) {
  if (document.contains("version")) return {};
  for (const auto& member : document) {
    if (member.key() == "reviewers" || member.key() == "approvals") continue;
    return fail(ErrorCode::InvalidInput,
                fmt::format("`{:.80}` is unknown; a file of people has `reviewers:` with a list",
                            std::string_view(member.key())),
                file.string());
  }
  return {};
}

}  // namespace

Result<trust::Reviewers> read_reviewers(const std::filesystem::path& file) {
  SALLYPORT_TRY(const std::string text, text_of(file));
  SALLYPORT_TRY(const config::YamlNode root, config::parse_yaml(text, file.string()));
  SALLYPORT_TRY(const json::value document, to_json(root, file.string()));
  const json::object* const object = document.if_object();
  if (object != nullptr) SALLYPORT_CHECK_OK(check_keys(*object, file));
  const json::object* const section = object == nullptr ? nullptr : object_in(*object, "approvals");
  const json::value* list = nullptr;
  if (section != nullptr) list = section->if_contains("reviewers");
  if (object != nullptr && list == nullptr) list = object->if_contains("reviewers");
  if (list == nullptr) return trust::Reviewers{};
  Result<trust::Reviewers> reviewers = trust::reviewers_from_json(*list);
  if (!reviewers) return fail(ErrorCode::InvalidInput, reviewers.error().message, file.string());
  return reviewers;
}

Result<ReviewerFile::List> ReviewerFile::now() {
  if (state_ && state_->still_holds(file_)) return list_;
  state_.reset();
  const std::optional<FileState> state = FileState::of(file_);
  if (!state && optional_) return std::make_shared<const trust::Reviewers>();
  SALLYPORT_TRY(trust::Reviewers read, read_reviewers(file_));
  list_ = std::make_shared<const trust::Reviewers>(std::move(read));
  state_ = state;
  return list_;
}

Result<std::shared_ptr<const trust::ApproverBook>> DataFolderReviewers::book() const {
  return now_.with([](Now& now) -> Result<std::shared_ptr<const trust::ApproverBook>> {
    SALLYPORT_TRY(ReviewerFile::List list, now.file.now());
    if (!now.book || list != now.list) {
      now.book = std::make_shared<const trust::ApproverBook>(*list);
      now.list = std::move(list);
    }
    return now.book;
  });
}

Result<void> DataFolderReviewers::check(const std::string& reviewer, std::string_view statement,
                                        std::string_view signature) const {
  SALLYPORT_TRY(const std::shared_ptr<const trust::ApproverBook> people, book());
  return people->check(reviewer, statement, signature);
}

Result<void> DataFolderReviewers::check_answer(const std::string& reviewer,
                                               std::string_view statement,
                                               std::string_view signature,
                                               const std::vector<std::string>& enrolled) const {
  SALLYPORT_TRY(const std::shared_ptr<const trust::ApproverBook> people, book());
  return people->check_answer(reviewer, statement, signature, enrolled);
}

Result<void> DataFolderReviewers::check_control(const std::string& reviewer,
                                                std::string_view statement,
                                                std::string_view signature) const {
  SALLYPORT_TRY(const std::shared_ptr<const trust::ApproverBook> people, book());
  return people->check_control(reviewer, statement, signature);
}

bool DataFolderReviewers::is_program(const std::string& reviewer) const {
  const auto people = book();
  return people && (*people)->is_program(reviewer);
}

std::string DataFolderReviewers::of_client(const std::string& principal) const {
  const auto people = book();
  return people ? (*people)->of_client(principal) : std::string();
}

std::vector<std::string> DataFolderReviewers::with_role(std::string_view role) const {
  const auto people = book();
  return people ? (*people)->with_role(role) : std::vector<std::string>();
}

std::string DataFolderReviewers::credential(const std::string& reviewer) const {
  const auto people = book();
  return people ? (*people)->credential(reviewer) : std::string();
}

}  // namespace sallyport::policy
