#include "mcp/message/screen.h"

#include <algorithm>
#include <boost/json.hpp>

#include "core/plan/grant_use.h"
#include "core/plan/protocol_frame.h"
#include "mcp/message/json_text.h"

namespace sallyport::mcp {

namespace {

bool is_frame(std::string_view method) {
  return method == "initialize" || method == "server/discover" || method.ends_with("/list");
}

// The one member of a message with the sender's content. There is no other: `Message::read` removes
// other members.
std::string_view content_member(const Message& message) {
  if (message.kind != Message::Kind::Response) return "params";
  return message.is_error() ? "error" : "result";
}

std::string evidence_of(const core::Release& release) {
  std::string text;
  for (const core::Release::Evidence& evidence : release.evidence) {
    if (!text.empty()) text += ", ";
    text += evidence.guard;
    if (!evidence.details.empty()) text += ": " + evidence.details;
  }
  return text.empty() ? release.guard : text;
}

}  // namespace

Task<Message> Screen::pass(std::string method, Message message, bool granted) {
  const std::shared_ptr<const core::Plan> plan = plans_.current();
  const std::string_view member = content_member(message);
  const json::value* const given = message.object().if_contains(member);
  if (plan->result_guards().empty() || given == nullptr) co_return std::move(message);
  core::FailOpen fail_open(fail_open_);
  // Messages that are no results of calls are judged by the rules that name no calls.
  ResultContext context{.tool = method,
                        .policy_hash = plan->hash(),
                        .rules = std::make_shared<const core::ResultRules>()};
  if (is_frame(context.tool)) context.effect_class = core::kProtocolFrame;
  if (is_frame(context.tool) || !granted) context.scope = core::no_grants();
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
  const bool unchanged =
      release.verdict == Verdict::Kind::Allow || release.verdict == Verdict::Kind::Escalate;
  const bool denied = release.verdict == Verdict::Kind::Deny;
  // A text in the place of an object makes no valid message.
  const bool misshapen = !denied && !unchanged && object && !release.released.value.is_object();
  if (!unchanged || !release.findings.empty() || !release.escalations.empty()) {
    report_({.withheld = denied || misshapen,
             .unchanged = unchanged,
             .method = std::move(method),
             .evidence = evidence_of(release),
             .findings = std::move(release.findings),
             .escalations = std::move(release.escalations)});
  }
  if (denied) co_return fail(ErrorCode::Conflict, release.released.message);
  if (unchanged) co_return std::move(message);
  if (misshapen) co_return fail(ErrorCode::Conflict, canonical_json(release.released.value));
  std::string text = with_member(message.text, member, json::serialize(release.released.value));
  JsonLimits limits = limits_;
  limits.bytes = std::max(limits.bytes, text.size());
  co_return Message::read(std::move(text), limits);
}

}  // namespace sallyport::mcp
