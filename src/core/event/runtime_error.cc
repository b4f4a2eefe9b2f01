#include <boost/json.hpp>
#include <utility>

#include "core/event/abort_reason.h"
#include "core/record/read_field.h"
#include "sallyport/model_error.h"

namespace sallyport {

namespace {

using core::AbortCause;
using core::Word;
using core::word_of;

using Kind = RuntimeError::Kind;

constexpr Word<Kind> kKinds[] = {
    {"send_request", Kind::SendRequest},
    {"stream_response", Kind::StreamResponse},
    {"compact_history", Kind::CompactHistory},
    {"store", Kind::Store},
    {"transcript_io", Kind::TranscriptIo},
    {"lease_unavailable", Kind::LeaseUnavailable},
    {"cancelled", Kind::Cancelled},
    {"deadline_exceeded", Kind::DeadlineExceeded},
    {"model_budget_exceeded", Kind::ModelBudgetExceeded},
    {"tool_budget_exceeded", Kind::ToolBudgetExceeded},
    {"token_budget_exceeded", Kind::TokenBudgetExceeded},
    {"lease_lost", Kind::LeaseLost},
    {"operation_denied", Kind::OperationDenied},
    {"invalid_input", Kind::InvalidInput},
};
constexpr Word<ErrorCategory> kCategories[] = {
    {"retryable", ErrorCategory::Retryable},
    {"degraded", ErrorCategory::Degraded},
    {"terminal", ErrorCategory::Terminal},
};

// The word of its own, or `error`.
AbortCause abort_cause(Kind kind) {
  switch (kind) {
    case Kind::Cancelled:
      return AbortCause::Cancelled;
    case Kind::DeadlineExceeded:
      return AbortCause::DeadlineExceeded;
    case Kind::ModelBudgetExceeded:
      return AbortCause::ModelBudgetExceeded;
    case Kind::ToolBudgetExceeded:
      return AbortCause::ToolBudgetExceeded;
    case Kind::TokenBudgetExceeded:
      return AbortCause::TokenBudgetExceeded;
    case Kind::LeaseLost:
      return AbortCause::LeaseLost;
    default:
      return AbortCause::Error;
  }
}

}  // namespace

std::string_view to_string(ErrorCategory category) {
  return word_of(kCategories, category);
}

std::string_view to_string(RuntimeError::Kind kind) {
  return word_of(kKinds, kind);
}

ErrorCategory RuntimeError::category() const {
  switch (kind) {
    case Kind::SendRequest:
    case Kind::StreamResponse:
    case Kind::CompactHistory:
      return cause && sallyport::is_transient(*cause) ? ErrorCategory::Retryable
                                                      : ErrorCategory::Terminal;
    case Kind::Store:
    case Kind::TranscriptIo:
    case Kind::LeaseUnavailable:
      return ErrorCategory::Degraded;
    default:
      return ErrorCategory::Terminal;
  }
}

bool is_transient(const RuntimeError& error) {
  return error.category() == ErrorCategory::Retryable;
}

json::object to_json(const RuntimeError& error) {
  return {{"kind", to_string(error.kind)},
          {"category", to_string(error.category())},
          {"message", error.message},
          {"cause", error.cause ? json::value(to_json(*error.cause)) : json::value(nullptr)}};
}

std::string abort_reason(const RuntimeError& error) {
  return core::abort_reason(abort_cause(error.kind), error.message);
}

}  // namespace sallyport
