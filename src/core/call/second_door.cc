#include "core/call/second_door.h"

#include <algorithm>
#include <boost/json.hpp>
#include <iterator>

#include "core/plan/grant_use.h"
#include "core/record/plain_text.h"

namespace sallyport::core {

namespace {

// Only if the content has a place for it (PI-48).
void add_redaction_notice(Envelope& envelope) {
  constexpr std::string_view kNotice = "[redacted by policy]";
  if (envelope.value.is_string()) {
    envelope.value = std::string(envelope.value.get_string()) + "\n" + std::string(kNotice);
  } else if (json::object* const object = envelope.value.if_object()) {
    json::value* const content = object->if_contains("content");
    if (content != nullptr && content->is_array()) {
      content->get_array().push_back(json::object{{"type", "text"}, {"text", kNotice}});
    }
  }
}

// Keeps what guards found in a text that the record does not hold as a result.
void keep_found(Trail& trail, Release release) {
  trail.note(std::move(release.findings));
  std::ranges::move(release.escalations, std::back_inserter(trail.escalations));
}

}  // namespace

ResultContext result_context(const Trail& trail) {
  return {
      .tool = trail.call().tool,
      .call = trail.shared_call(),
      .scope = trail.grant ? trail.grant->scope : no_grants(),
      .effect_class = trail.classification().effect_class,
      .policy_hash = trail.plan().hash(),
      .matched_grant_index = trail.grant ? std::optional(trail.grant->index) : std::nullopt,
      .rules = trail.rules ? std::make_shared<const ResultRules>(trail.rules->results) : nullptr,
      .around = trail.plan().asks_outside() ? trail.surroundings() : nullptr};
}

// Runs the pipeline and returns its texts as people and agents may see them.
Async<Release> SecondDoor::look_at(const Plan& plan, Envelope envelope, ResultContext context,
                                   FailOpen& fail_open, std::stop_token cancel) const {
  Release release = co_await run_pipeline(plan, std::move(envelope), std::move(context), clock_,
                                          fail_open, std::move(cancel));
  if (release.verdict == Verdict::Kind::Deny) {
    release.released = Envelope::error(plain_text(redactor_, release.released.message));
  } else if (release.verdict == Verdict::Kind::Rewrite && plan.redaction_notice()) {
    add_redaction_notice(release.released);
  }
  for (Escalation& escalation : release.escalations) {
    escalation.message = plain_text(redactor_, std::move(escalation.message));
  }
  co_return release;
}

Async<Ending> SecondDoor::release(Trail& trail, Performed performed, const Upstream& upstream,
                                  std::stop_token cancel) const {
  ResultContext context = result_context(trail);
  context.is_error = performed.envelope.kind == Envelope::Kind::Error;
  Release release = co_await look_at(trail.plan(), std::move(performed.envelope),
                                     std::move(context), trail.fail_open, std::move(cancel));
  release.advisory = !upstream.shows_release();
  release.asserted = upstream.assertion();
  // The result of a call that was never decided here is an assertion, and no more.
  if (release.asserted && !release.asserted->counts()) performed.effect = EffectState::Unknown;
  if (performed.other_revision) {
    Outcome outcome = Outcome::invalidated(release.released.message);
    keep_found(trail, std::move(release));
    co_return Ending{.outcome = std::move(outcome)};
  }
  trail.repeated_redactions = std::move(performed.redactions);
  ToolResult result = upstream.result_of(release.released);
  result.duration_ms = performed.duration_ms;
  Outcome outcome = performed.recalled ? Outcome::cached(std::move(result))
                                       : Outcome::completed(std::move(result));
  co_return Ending{.outcome = std::move(outcome),
                   .effect = performed.recalled ? EffectState::None : performed.effect,
                   .release = std::move(release)};
}

// The text of a tool from its preparation reaches the agent, so it passes the second door too.
Async<void> SecondDoor::pass_tool_text(Trail& trail, std::stop_token cancel) const {
  const Refusal& refusal = *trail.refusal();
  if (refusal.by != Refusal::By::Preparation && refusal.by != Refusal::By::Tool) co_return;
  ResultContext context = result_context(trail);
  context.is_error = true;
  Release release = co_await look_at(trail.plan(), Envelope::error(refusal.reason),
                                     std::move(context), trail.fail_open, std::move(cancel));
  trail.reword(release.released.message);
  keep_found(trail, std::move(release));
}

}  // namespace sallyport::core
