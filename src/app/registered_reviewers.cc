#include "app/registered_reviewers.h"

#include <boost/json.hpp>

#include "app/input.h"
#include "base/json_members.h"
#include "base/try.h"
#include "policy/yaml_json.h"

namespace sallyport::app {

namespace {

constexpr std::size_t kMostBytes = 1 << 20;

Result<trust::Reviewers> read_reviewers(const std::filesystem::path& file) {
  SALLYPORT_TRY(const std::string text, read_input(file, kMostBytes));
  SALLYPORT_TRY(const policy::YamlNode root, policy::parse_yaml(text, file.string()));
  SALLYPORT_TRY(const json::value document, policy::to_json(root, file.string()));
  const json::object* const object = document.if_object();
  const json::object* const section = object == nullptr ? nullptr : object_in(*object, "approvals");
  const json::value* list = nullptr;
  if (section != nullptr) list = section->if_contains("reviewers");
  if (object != nullptr && list == nullptr) list = object->if_contains("reviewers");
  if (list == nullptr) return trust::Reviewers{};
  Result<trust::Reviewers> reviewers = trust::reviewers_from_json(*list);
  if (!reviewers) return fail(ErrorCode::InvalidInput, reviewers.error().message, file.string());
  return reviewers;
}

}  // namespace

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

Result<trust::Reviewers> registered_reviewers(const Context& context,
                                              const std::optional<std::filesystem::path>& file) {
  if (file) return read_reviewers(*file);
  SALLYPORT_TRY(const std::filesystem::path folder, context.data_dir());
  const std::filesystem::path usual = folder / "reviewers.yaml";
  std::error_code code;
  if (!std::filesystem::exists(usual, code)) return trust::Reviewers{};
  return read_reviewers(usual);
}

}  // namespace sallyport::app
