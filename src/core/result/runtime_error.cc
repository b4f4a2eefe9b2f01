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

using RuntimeKind = RuntimeError::Kind;

constexpr Word<RuntimeKind> kRuntimeKinds[] = {
    {"send_request", RuntimeKind::SendRequest},
    {"stream_response", RuntimeKind::StreamResponse},
    {"compact_history", RuntimeKind::CompactHistory},
    {"store", RuntimeKind::Store},
    {"transcript_io", RuntimeKind::TranscriptIo},
    {"lease_unavailable", RuntimeKind::LeaseUnavailable},
    {"cancelled", RuntimeKind::Cancelled},
    {"deadline_exceeded", RuntimeKind::DeadlineExceeded},
    {"model_budget_exceeded", RuntimeKind::ModelBudgetExceeded},
    {"tool_budget_exceeded", RuntimeKind::ToolBudgetExceeded},
    {"token_budget_exceeded", RuntimeKind::TokenBudgetExceeded},
    {"lease_lost", RuntimeKind::LeaseLost},
    {"operation_denied", RuntimeKind::OperationDenied},
    {"invalid_input", RuntimeKind::InvalidInput},
};
constexpr Word<ErrorCategory> kCategories[] = {
    {"retryable", ErrorCategory::Retryable},
    {"degraded", ErrorCategory::Degraded},
    {"terminal", ErrorCategory::Terminal},
};

// Its own word, or `error`.
AbortCause abort_cause(RuntimeKind kind) {
  switch (kind) {
    case RuntimeKind::Cancelled:
      return AbortCause::Cancelled;
    case RuntimeKind::DeadlineExceeded:
      return AbortCause::DeadlineExceeded;
    case RuntimeKind::ModelBudgetExceeded:
      return AbortCause::ModelBudgetExceeded;
    case RuntimeKind::ToolBudgetExceeded:
      return AbortCause::ToolBudgetExceeded;
    case RuntimeKind::TokenBudgetExceeded:
      return AbortCause::TokenBudgetExceeded;
    case RuntimeKind::LeaseLost:
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
  return word_of(kRuntimeKinds, kind);
}

ErrorCategory RuntimeError::category() const {
  switch (kind) {
    case RuntimeKind::SendRequest:
    case RuntimeKind::StreamResponse:
    case RuntimeKind::CompactHistory:
      return cause && sallyport::is_transient(*cause) ? ErrorCategory::Retryable
                                                      : ErrorCategory::Terminal;
    case RuntimeKind::Store:
    case RuntimeKind::TranscriptIo:
    case RuntimeKind::LeaseUnavailable:
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
