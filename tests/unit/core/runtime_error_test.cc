#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "core/event/abort_reason.h"
#include "core/record/redactor.h"
#include "sallyport/model_error.h"

namespace sallyport::core {
namespace {

using Kind = RuntimeError::Kind;

const std::vector<Kind>& all_kinds() {
  static const std::vector<Kind> kinds = {Kind::SendRequest,         Kind::StreamResponse,
                                          Kind::CompactHistory,      Kind::Store,
                                          Kind::TranscriptIo,        Kind::LeaseUnavailable,
                                          Kind::Cancelled,           Kind::DeadlineExceeded,
                                          Kind::ModelBudgetExceeded, Kind::ToolBudgetExceeded,
                                          Kind::TokenBudgetExceeded, Kind::LeaseLost,
                                          Kind::OperationDenied,     Kind::InvalidInput};
  return kinds;
}

const ProviderError kTransient{.kind = ProviderError::Kind::Transport, .message = "reset"};
const ProviderError kLasting{.kind = ProviderError::Kind::Http, .status = 400};

std::string_view category(Kind kind, std::optional<ProviderError> cause) {
  return to_string(RuntimeError{kind, "m", std::move(cause)}.category());
}

// EV-96
TEST(RuntimeErrorTest, ModelWorkIsRetryableOnlyWhenItsCauseIsTransient) {
  for (const Kind kind : {Kind::SendRequest, Kind::StreamResponse, Kind::CompactHistory}) {
    EXPECT_EQ(category(kind, kTransient), "retryable");
    EXPECT_EQ(category(kind, kLasting), "terminal");
    EXPECT_EQ(category(kind, std::nullopt), "terminal");
  }
}

// EV-97
TEST(RuntimeErrorTest, StorageAndLeaseTroubleIsDegraded) {
  for (const Kind kind : {Kind::Store, Kind::TranscriptIo, Kind::LeaseUnavailable}) {
    EXPECT_EQ(category(kind, std::nullopt), "degraded");
    EXPECT_EQ(category(kind, kTransient), "degraded");
  }
}

// EV-98
TEST(RuntimeErrorTest, EndsOfARunAreTerminalWhateverTheirCause) {
  for (const Kind kind : {Kind::Cancelled, Kind::DeadlineExceeded, Kind::ModelBudgetExceeded,
                          Kind::ToolBudgetExceeded, Kind::TokenBudgetExceeded, Kind::LeaseLost,
                          Kind::OperationDenied, Kind::InvalidInput}) {
    EXPECT_EQ(category(kind, std::nullopt), "terminal") << to_string(kind);
    EXPECT_EQ(category(kind, kTransient), "terminal") << to_string(kind);
  }
}

// EV-95
TEST(RuntimeErrorTest, TransientIsTheSameAsRetryable) {
  for (const Kind kind : all_kinds()) {
    for (const auto& cause :
         {std::optional(kTransient), std::optional(kLasting), std::optional<ProviderError>()}) {
      const RuntimeError error{kind, "m", cause};
      EXPECT_EQ(is_transient(error), to_json(error).at("category") == json::value("retryable"));
    }
  }
}

// EV-95
TEST(RuntimeErrorTest, ErrorsAreWrittenInTheirShape) {
  const auto text = [](const RuntimeError& error) { return canonical_json(to_json(error)); };
  EXPECT_EQ(text({Kind::SendRequest, "m", kTransient}),
            R"({"category":"retryable","cause":)" + canonical_json(to_json(kTransient)) +
                R"(,"kind":"send_request","message":"m"})");
  EXPECT_EQ(text({Kind::StreamResponse, "m", kLasting}),
            R"({"category":"terminal","cause":)" + canonical_json(to_json(kLasting)) +
                R"(,"kind":"stream_response","message":"m"})");
  EXPECT_EQ(text({Kind::Store, "disk", {}}),
            R"({"category":"degraded","cause":null,"kind":"store","message":"disk"})");
}

// EV-107
TEST(RuntimeErrorTest, AbortReasonsFollowTheKind) {
  for (const Kind kind : {Kind::Cancelled, Kind::DeadlineExceeded, Kind::ModelBudgetExceeded,
                          Kind::ToolBudgetExceeded, Kind::TokenBudgetExceeded, Kind::LeaseLost}) {
    EXPECT_EQ(abort_reason(RuntimeError{kind, "m", {}}), std::string(to_string(kind)) + ": m");
  }
  for (const Kind kind : {Kind::SendRequest, Kind::Store, Kind::OperationDenied}) {
    EXPECT_EQ(abort_reason(RuntimeError{kind, "m", {}}), "error: m");
  }
}

}  // namespace
}  // namespace sallyport::core
