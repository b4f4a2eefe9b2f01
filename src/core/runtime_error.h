// What went wrong in a run, and what that means for it.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "core/abort_reason.h"
#include "core/provider_error.h"
#include "sallyport/json.h"
#include "sallyport/result.h"

namespace sallyport::core {

enum class ErrorCategory {
  Retryable,  // trying again may help
  Degraded,   // the run can go on without it
  Terminal,   // the run ends
};

std::string_view to_string(ErrorCategory category);

struct RuntimeError {
  enum class Kind {
    SendRequest,
    StreamResponse,
    CompactHistory,
    Store,
    TranscriptIo,
    LeaseUnavailable,
    Cancelled,
    DeadlineExceeded,
    ModelBudgetExceeded,
    ToolBudgetExceeded,
    TokenBudgetExceeded,
    LeaseLost,
    OperationDenied,
    InvalidInput,
  };

  Kind kind = Kind::InvalidInput;
  std::string message{};
  std::optional<ProviderError> cause{};

  // Follows from kind and cause; nobody chooses it.
  ErrorCategory category() const;

  bool operator==(const RuntimeError&) const = default;
};

std::string_view to_string(RuntimeError::Kind kind);

bool is_transient(const RuntimeError& error);

json::object to_json(const RuntimeError& error);

// The word with which `run_aborted` tells of it; `error` for kinds that have none of their own.
AbortCause abort_cause(const RuntimeError& error);

}  // namespace sallyport::core
