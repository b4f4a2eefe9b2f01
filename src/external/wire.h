// Requests to external programs and their answers: `sallyport.external.v1` (RU-65).
#pragma once

#include <boost/json/object.hpp>

#include "core/plan/guard.h"
#include "core/record/redactor.h"
#include "external/entry.h"
#include "external/scope.h"
#include "sallyport/approval.h"

namespace sallyport::external {

inline constexpr std::string_view kSchema = "sallyport.external.v1";

// The members that every request has, in their order. `at`: what it is about.
json::object request_at(std::string_view at, const Entry& entry, const std::string& policy_hash);

// Adds the call and its effects to a request, with the input or with a preview without secrets.
struct ShownCall {
  const Call& call;
  const Classification& classification;
  const Preview* preview = nullptr;  // null: it is computed from the call
  const Scope::Seen& seen;
  const json::array& rules;
};
void add_call(json::object& request, const Entry& entry, const ShownCall& shown,
              const core::Redactor& redactor);

// The value that a peer with `sees: preview` gets.
json::value redacted(const core::Redactor& redactor, std::string_view name, json::value value);

// Exactly one JSON object. `Corrupt`: it is something else.
Result<json::object> answer_from(std::string_view text);

// The verdict of a guard, a rewriter or an authorizer, within the rights of that kind. `Corrupt`
// names the error.
Result<Verdict> call_verdict(Kind kind, const json::object& answer);
// The verdict of a guard of results (PI-1).
Result<Verdict> result_verdict(const json::object& answer);
// Listeners say `allow`, or `deny` with a message. `Conflict` with the cause `kHookRefuses` is such
// a `deny`, and `Corrupt` is a failure.
Result<void> events_result(const json::object& answer);
// No value: it has no opinion, and people answer.
Result<std::optional<Reply>> reply_from(const json::object& answer, const std::string& reviewer);

}  // namespace sallyport::external
