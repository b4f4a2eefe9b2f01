#include "core/call/not_run.h"

#include <fmt/format.h>

#include <boost/json.hpp>

namespace sallyport::core {

namespace {

constexpr std::uint64_t kRetryAfterSeconds = 5;

std::string_view said(std::string_view status) {
  if (status == "skipped") return "was not run and will not be";
  if (status == "proposed") return "was not run, it is proposed to a person";
  return "was not run yet, it waits for a person";
}

}  // namespace

ToolResult not_run(const Trail& trail, std::string_view status, const std::string& url) {
  const Call& call = trail.call();
  const std::string_view tier = to_string(trail.autonomy);
  json::object about{{"status", status}, {"tier", tier}, {"call_id", call.call_id}};
  std::string text = fmt::format("{}: `{}` {} (tier {}, call {}", status, call.tool, said(status),
                                 tier, call.call_id);
  if (!trail.approval_id.empty()) {
    about["approval_id"] = trail.approval_id;
    text += ", approval " + trail.approval_id;
  }
  if (trail.rules && status != "skipped" && !trail.rules->text.empty()) {
    const RuleAnswer& rules = *trail.rules;
    about["rule"] = rules.rule.empty() ? json::value() : json::value(rules.rule);
    about["message"] = rules.message;
  }
  if (!url.empty()) about["url"] = url;
  if (status == "pending_approval") about["retry_after_s"] = kRetryAfterSeconds;
  return {
      .success = true, .output = text + ")", .data = json::object{{"sallyport", std::move(about)}}};
}

}  // namespace sallyport::core
