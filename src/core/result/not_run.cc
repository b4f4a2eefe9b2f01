#include "core/result/not_run.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "core/record/read_field.h"

namespace sallyport::core {

namespace {

constexpr std::uint64_t kRetryAfterSeconds = 5;

constexpr Word<NotRun> kNotRunWords[] = {{"skipped", NotRun::Skipped},
                                         {"proposed", NotRun::Proposed},
                                         {"pending_approval", NotRun::PendingApproval}};

std::string_view status_text(NotRun why) {
  switch (why) {
    case NotRun::Skipped:
      return "was not run and will not be";
    case NotRun::Proposed:
      return "was not run, it is proposed to a person";
    case NotRun::PendingApproval:
      break;
  }
  return "was not run yet, it waits for a person";
}

}  // namespace

std::string not_run_text(NotRun why, std::string_view tool, std::string_view tier,
                         std::string_view call_id, std::string_view approval_id) {
  return fmt::format("{}: `{}` {} (tier {}, call {}{}{})", word_of(kNotRunWords, why), tool,
                     status_text(why), tier, call_id, approval_id.empty() ? "" : ", approval ",
                     approval_id);
}

ToolResult not_run(const Trail& trail, NotRun why, const std::string& url) {
  const Call& call = trail.call();
  const std::string_view tier = to_string(trail.autonomy);
  json::object about{
      {"status", word_of(kNotRunWords, why)}, {"tier", tier}, {"call_id", call.call_id}};
  if (!trail.approval_id.empty()) about["approval_id"] = trail.approval_id;
  if (trail.rules && why != NotRun::Skipped && !trail.rules->text.empty()) {
    const RuleAnswer& rules = *trail.rules;
    about["rule"] = rules.rule.empty() ? json::value() : json::value(rules.rule);
    about["message"] = rules.message;
  }
  if (!url.empty()) about["url"] = url;
  if (why == NotRun::PendingApproval) about["retry_after_s"] = kRetryAfterSeconds;
  return {.success = true,
          .output = not_run_text(why, call.tool, tier, call.call_id, trail.approval_id),
          .data = json::object{{"sallyport", std::move(about)}}};
}

}  // namespace sallyport::core
