#include "records/entry_summary.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/json_for_people.h"
#include "base/json_members.h"
#include "base/visible_text.h"
#include "terminal/terminal.h"

namespace sallyport::app {

namespace {

constexpr std::size_t kLongestValue = 400;

std::string compact(const json::value& value) {
  if (value.is_string()) {
    // Cut before it is escaped, so that a long text costs no more than a short one.
    return shortened(visible(std::string_view(value.get_string()).substr(0, 5 * kLongestValue)),
                     kLongestValue);
  }
  if (value.is_object() && value.get_object().contains("$sealed")) {
    const auto state = text_in(value.get_object(), "state");
    return fmt::format("({})", state ? visible(*state) : "sealed");
  }
  return shortened(compact_json(value), kLongestValue);
}

void add(std::string& out, std::string_view separator, const json::value* value) {
  if (value == nullptr || value->is_null()) return;
  if (!out.empty()) out += separator;
  out += compact(*value);
}

const json::value* first_of(const json::object& object, std::initializer_list<const char*> names) {
  for (const char* const name : names) {
    const json::value* const value = object.if_contains(name);
    if (value != nullptr && !value->is_null()) return value;
  }
  return nullptr;
}

std::string process_text(const json::object& by) {
  const json::value* const pid = by.if_contains("pid");
  std::string text = visible(text_or_empty(by, "host"));
  if (pid == nullptr || pid->is_null()) return text + ", a process that could not be seen";
  text += fmt::format(", process {}", compact(*pid));
  if (const auto program = text_in(by, "program")) text += fmt::format(" ({})", visible(*program));
  if (const auto started = text_in(by, "started")) text += fmt::format(" of {}", visible(*started));
  if (const json::value* const uid = by.if_contains("uid")) {
    text += fmt::format(", uid {}", compact(*uid));
  }
  return text;
}

// The question, and its outcome.
std::string of_audit(const json::object& body) {
  std::string out;
  add(out, "", first_of(body, {"effective_input", "requested_input", "input"}));
  const json::object* const outcome = object_in(body, "outcome");
  if (outcome == nullptr) return out;
  if (const json::object* const result = object_in(*outcome, "result")) {
    const bool failed = bool_in(*result, "success") == false;
    const json::object* const release = object_in(body, "post_invocation");
    const json::object* const asserted = release ? object_in(*release, "asserted") : nullptr;
    const std::string standing = asserted ? text_or_empty(*asserted, "standing") : "";
    if (standing == "other" || standing == "unasked") out += " -> asserted, not verified";
    add(out, failed ? " -> failed: " : " -> ", first_of(*result, {"output", "data", "$sealed"}));
  } else {
    add(out, ": ", first_of(*outcome, {"reason", "error", "description", "result"}));
  }
  return out;
}

std::string of_control(const json::object& body) {
  std::string out;
  add(out, "", body.if_contains("control"));
  for (const char* const name : {"role", "who", "hold", "guard", "cause", "count", "minimum_index",
                                 "calls", "last_entry_at", "clean", "against", "reason"}) {
    const json::value* const value = body.if_contains(name);
    if (value == nullptr || value->is_null()) continue;
    out += fmt::format("  {}={}", name, compact(*value));
  }
  return out;
}

std::string of_other(const json::object& body) {
  std::string out;
  add(out, "", first_of(body, {"kind", "event", "type", "name", "guard", "record"}));
  add(out, ": ", first_of(body, {"rule", "hook"}));
  add(out, ": ", first_of(body, {"verdict", "decision", "state", "status"}));
  add(out, ": ",
      first_of(body,
               {"reason", "message", "error", "detail", "description", "text", "output_preview",
                "effective_input", "requested_input", "input", "args", "payload"}));
  return out;
}

}  // namespace

std::string assertion_in(const json::value& body) {
  const json::object* const object = body.if_object();
  const json::object* const release = object ? object_in(*object, "post_invocation") : nullptr;
  const json::object* const asserted = release ? object_in(*release, "asserted") : nullptr;
  const json::object* const by = asserted ? object_in(*asserted, "by") : nullptr;
  if (by == nullptr) return {};
  const std::string standing = text_or_empty(*asserted, "standing");
  const char* const weight = standing == "holder"      ? "the process that was handed the call"
                             : standing == "successor" ? "the successor of the process that was "
                                                         "handed the call"
                             : standing == "other"     ? "not verified: another process was handed "
                                                         "the call"
                                                       : "not verified: no call was handed out";
  return fmt::format("by {}; {}", process_text(*by), weight);
}

std::string summary_of(const json::value& entry, const json::value& body) {
  const json::object* const object = body.if_object();
  if (object == nullptr) return {};
  const auto kind = text_in(entry.get_object(), "kind");
  if (kind == "tool_audit" || kind == "intent") return of_audit(*object);
  if (kind == "control") return of_control(*object);
  return of_other(*object);
}

}  // namespace sallyport::app
