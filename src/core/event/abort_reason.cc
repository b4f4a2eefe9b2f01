#include "core/event/abort_reason.h"

#include <fmt/format.h>

#include "core/record/read_field.h"

namespace sallyport::core {

namespace {

constexpr Word<AbortCause> kCauses[] = {
    {"cancelled", AbortCause::Cancelled},
    {"deadline_exceeded", AbortCause::DeadlineExceeded},
    {"model_budget_exceeded", AbortCause::ModelBudgetExceeded},
    {"tool_budget_exceeded", AbortCause::ToolBudgetExceeded},
    {"token_budget_exceeded", AbortCause::TokenBudgetExceeded},
    {"lease_lost", AbortCause::LeaseLost},
    {"interrupted", AbortCause::Interrupted},
    {"error", AbortCause::Error},
};

// `errors everywhere` begins with no word of ours.
bool begins_with_word(std::string_view text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  if (text.size() == word.size()) return true;
  const char next = text[word.size()];
  return next == ':' || next == ' ';
}

}  // namespace

std::string_view to_string(AbortCause cause) {
  return word_of(kCauses, cause);
}

std::string abort_reason(AbortCause cause, std::string_view detail) {
  if (detail.empty()) return std::string(to_string(cause));
  return fmt::format("{}: {}", to_string(cause), detail);
}

std::optional<AbortCause> abort_cause(std::string_view reason) {
  for (const Word<AbortCause>& cause : kCauses) {
    if (begins_with_word(reason, cause.text)) return cause.value;
  }
  return std::nullopt;
}

std::string abort_cause_rule() {
  std::string listed;
  for (const Word<AbortCause>& cause : kCauses) {
    listed += fmt::format("{}`{}`", listed.empty() ? "" : ", ", cause.text);
  }
  return fmt::format("must begin with one of {}", listed);
}

}  // namespace sallyport::core
