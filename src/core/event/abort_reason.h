// Why a run was aborted: a word that programs count, and a text for people.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sallyport::core {

enum class AbortCause {
  Cancelled,
  DeadlineExceeded,
  ModelBudgetExceeded,
  ToolBudgetExceeded,
  TokenBudgetExceeded,
  LeaseLost,
  Interrupted,
  Error,
};

std::string_view to_string(AbortCause cause);

// `deadline_exceeded: 30 s for the whole run`, or the word alone.
std::string abort_reason(AbortCause cause, std::string_view detail = {});

// No value: the reason begins with none of the words.
std::optional<AbortCause> abort_cause(std::string_view reason);

// The error text for a reason that does not begin with one of the words; it lists them.
std::string abort_cause_rule();

}  // namespace sallyport::core
