#include "mcp/message/screen.h"

#include <algorithm>
#include <boost/json.hpp>

#include "core/plan/pipeline.h"
#include "core/plan/protocol_frame.h"
#include "mcp/message/json_text.h"

namespace sallyport::mcp {

namespace {

bool is_frame(std::string_view method) {
  return method == "initialize" || method == "server/discover" || method.ends_with("/list");
}

// The one member of a message that holds what its sender says. There is no other: `Message::read`
// leaves out what stands beside it.
std::string_view content_member(const Message& message) {
  if (message.kind != Message::Kind::Response) return "params";
  return message.is_error() ? "error" : "result";
}

std::string evidence_of(const core::Release& release) {
  std::string text;
  for (const core::Release::Evidence& one : release.evidence) {
    if (!text.empty()) text += ", ";
    text += one.guard;
    if (!one.details.empty()) text += ": " + one.details;
  }
  return text.empty() ? release.guard : text;
}

}  // namespace

Task<Message> Screen::pass(std::string what, Message message) {
  const std::shared_ptr<const core::Plan> plan = plans_.current();
  const std::string_view member = content_member(message);
  const json::value* const given = message.object().if_contains(member);
  if (plan->result_guards().empty() || given == nullptr) co_return std::move(message);
  core::FailOpen fail_open(fail_open_);
  // What is no result of a call is judged by the rules that name no calls.
  ResultContext context{.tool = what,
                        .policy_hash = plan->hash(),
                        .rules = std::make_shared<const core::ResultRules>()};
  if (is_frame(context.tool)) context.effect_class = core::kProtocolFrame;
  const bool object = given->is_object();
  json::value value = message.exact ? *given : exact_value(*find(message.text, {member}));
  core::Release release = co_await core::run_pipeline(*plan, Envelope::of(std::move(value)),
                                                      std::move(context), clock_, fail_open);
  core::FailOpenLog::Share share = fail_open.take();
  if (!share.drafts.empty()) {
    for (core::Fact& fact : share.facts) share.drafts.back().facts.push_back(std::move(fact));
    auto written = co_await records_.append(share.drafts, core::Urgency::Reports);
    if (!written) records_.owe(std::move(share.drafts));
  }
  if (release.verdict == Verdict::Kind::Deny) {
    tell_({.withheld = true, .method = std::move(what), .evidence = evidence_of(release)});
    co_return fail(ErrorCode::Conflict, release.released.message);
  }
  if (release.verdict != Verdict::Kind::Rewrite) co_return std::move(message);
  // One text in the place of an object is no message any more.
  if (object && !release.released.value.is_object()) {
    tell_({.withheld = true, .method = std::move(what), .evidence = evidence_of(release)});
    co_return fail(ErrorCode::Conflict, canonical_json(release.released.value));
  }
  tell_({.method = std::move(what), .evidence = evidence_of(release)});
  std::string text = with_member(message.text, member, json::serialize(release.released.value));
  JsonLimits limits = limits_;
  limits.bytes = std::max(limits.bytes, text.size());
  co_return Message::read(std::move(text), limits);
}

}  // namespace sallyport::mcp
