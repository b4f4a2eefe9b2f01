#include "mcp/screen.h"

#include <boost/json.hpp>

#include "core/pipeline.h"
#include "core/protocol_frame.h"

namespace sallyport::mcp {

namespace {

bool is_frame(std::string_view method) {
  return method == "initialize" || method == "server/discover" || method.ends_with("/list");
}

}  // namespace

Async<Screened> Screen::pass(std::string what, json::value value) {
  const std::shared_ptr<const core::Plan> plan = plans_.current();
  if (plan->result_guards().empty()) co_return Screened{};
  core::FailOpen fail_open(fail_open_);
  ResultContext context{.tool = std::move(what), .policy_hash = plan->hash()};
  if (is_frame(context.tool)) context.effect_class = core::kProtocolFrame;
  const bool object = value.is_object();
  core::Release release = co_await core::run_pipeline(*plan, Envelope::of(std::move(value)),
                                                      std::move(context), clock_, fail_open);
  core::FailOpenLog::Share share = fail_open.take();
  if (!share.drafts.empty()) {
    for (core::Fact& fact : share.facts) share.drafts.back().facts.push_back(std::move(fact));
    auto written = co_await recorder_.append(share.drafts, core::Urgency::Reports);
    if (!written) recorder_.owe(std::move(share.drafts));
  }
  if (release.verdict == Verdict::Kind::Deny) {
    co_return Screened{.blocked = true, .notice = release.released.message};
  }
  if (release.verdict != Verdict::Kind::Rewrite) co_return Screened{};
  // One text in the place of an object is no message any more.
  if (object && !release.released.value.is_object()) {
    co_return Screened{.blocked = true, .notice = canonical_json(release.released.value)};
  }
  co_return Screened{.changed = true, .value = std::move(release.released.value)};
}

}  // namespace sallyport::mcp
