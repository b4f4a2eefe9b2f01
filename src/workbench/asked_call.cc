#include "workbench/asked_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"
#include "llm/json_splice.h"
#include "records/opened_entries.h"

namespace sallyport::app {

namespace {

// The source of the tier of a call that was refused before its tier was resolved.
constexpr std::string_view kNotWeighed = "not_weighed";

// A folder, or several of them.
Result<void> workspace_in(const json::value& value, const std::string& where,
                          std::vector<std::string>& out) {
  const json::array* const list = value.if_array();
  for (const json::value& folder : list ? *list : json::array{value}) {
    if (!folder.is_string()) {
      return fail(ErrorCode::InvalidInput, "`workspace` is neither a text nor a list of texts",
                  where);
    }
    out.emplace_back(folder.get_string());
  }
  return {};
}

// The members of `call` in a case (RU-75). Null is a member that is left out.
Result<Call> call_in(const json::value& value, const std::string& where) {
  constexpr std::string_view kFronts[] = {"", "mcp", "http", "hook", "library", "agent"};
  const json::object* const object = value.if_object();
  if (object == nullptr) return fail(ErrorCode::InvalidInput, "a call is an object", where);
  Call call{.input = json::object{}};
  for (const json::key_value_pair& pair : *object) {
    const std::string_view name = pair.key();
    std::string* const member = name == "agent" || name == "agent_id"       ? &call.agent_id
                                : name == "session" || name == "session_id" ? &call.session_id
                                : name == "server"                          ? &call.server
                                : name == "tool"                            ? &call.tool
                                : name == "front"                           ? &call.setting.front
                                : name == "cwd"                             ? &call.setting.folder
                                                                            : nullptr;
    const bool is_other = name == "input" || name == "workspace" || name == "interactive";
    if (member == nullptr && !is_other) {
      return fail(
          ErrorCode::InvalidInput,
          fmt::format("unknown member `{:.80}`; a call has agent, session, server, tool, input, "
                      "front, interactive, cwd and workspace",
                      name),
          where);
    }
    if (name == "input") {
      call.input = pair.value();
    } else if (pair.value().is_null()) {
      continue;
    } else if (name == "workspace") {
      SALLYPORT_CHECK_OK(workspace_in(pair.value(), where, call.setting.workspace));
    } else if (name == "interactive") {
      if (!pair.value().is_bool()) {
        return fail(ErrorCode::InvalidInput, "`interactive` is neither true nor false", where);
      }
      call.setting.interactive = pair.value().get_bool();
    } else if (!pair.value().is_string()) {
      return fail(ErrorCode::InvalidInput, fmt::format("`{}` is not a text", name), where);
    } else {
      *member = pair.value().get_string();
    }
  }
  if (std::ranges::find(kFronts, call.setting.front) == std::end(kFronts)) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("`{:.80}` is not a front; use mcp, http, hook, library or agent",
                            call.setting.front),
                where);
  }
  if (call.tool.empty()) return fail(ErrorCode::InvalidInput, "a call names its `tool`", where);
  return call;
}

// True if a guard or a rule asks for a person, whatever the tier.
bool asks_anyway(const json::object& body) {
  const json::object* const rules = object_in(body, "rules");
  if (rules != nullptr && text_in(*rules, "verdict") == "asks") return true;
  const json::value* const guards = body.if_contains("guards");
  const json::array* const runs = guards ? guards->if_array() : nullptr;
  return runs && std::ranges::any_of(*runs, [](const json::value& run) {
           return run.is_object() && text_in(run.get_object(), "verdict") == "ask";
         });
}

// The outcome of the call, as a verdict. The decision that used an approval is the one on record
// (AP-9): by then the call may be refused, or may need no person any more.
CallVerdict recorded_verdict(const RecordedDecision& then, const json::object& body) {
  const std::optional<Outcome::Kind> outcome = outcome_kind_from(then.outcome);
  const std::optional<Autonomy> tier = autonomy_from(then.tier);
  const bool asked = !text_or_empty(body, "approval_id").empty();
  const bool ended = outcome == Outcome::Kind::Blocked || outcome == Outcome::Kind::Invalidated;
  // A refusal that came first left the tier unweighed; a tool that only observes needs no tier.
  const bool weighed = then.tier_source != kNotWeighed && text_or_empty(body, "tier") != "observe";
  if (ended && weighed && tier == Autonomy::Shadow) return CallVerdict::Shadow;
  const bool refused_later = ended && then.tier_source == kNotWeighed;
  const bool free_later = !ended && tier == Autonomy::ActAuto && !asks_anyway(body);
  if ((asked && !refused_later && !free_later) || outcome == Outcome::Kind::RequiresConfirmation) {
    return tier == Autonomy::Suggest ? CallVerdict::Proposed : CallVerdict::Asks;
  }
  return ended ? CallVerdict::Refused : CallVerdict::Runs;
}

std::vector<Hole> holes_in(const json::object& entry) {
  constexpr std::string_view kInput = "/requested_input";
  std::vector<Hole> holes;
  const json::value* const all = entry.if_contains("redactions");
  if (all == nullptr || !all->is_array()) return holes;
  for (const json::value& each : all->get_array()) {
    const json::object& one = each.as_object();
    const std::string path = text_or_empty(one, "path");
    // A cut list ends with an empty path: further holes may be anywhere (AU-83).
    if (!path.empty() && path != kInput && !path.starts_with(std::string(kInput) + "/")) continue;
    holes.push_back({.path = path.empty() ? path : path.substr(kInput.size()),
                     .category = text_or_empty(one, "category"),
                     .detector = path.empty() ? "" : text_or_empty(one, "detector"),
                     .digest = text_or_empty(one, "digest"),
                     .whole = bool_in(one, "whole").value_or(false)});
  }
  return holes;
}

// Content that was erased, or is not opened here.
bool is_absent(const json::value& content) {
  const json::object* const object = content.if_object();
  return object && object->size() == 2 && object->contains("$sealed") && object->contains("state");
}

// Earlier releases did not list the holes of a call that another process ended.
bool has_marks(const json::value& input) {
  return json::serialize(input).contains("[REDACTED:");
}

// The result of the tool, if the record has it: released unchanged, and not erased since.
std::optional<Envelope> result_in(const json::object& entry, const json::object& body) {
  constexpr std::string_view kReleased = "/post_invocation/released";
  const json::object* const post = object_in(body, "post_invocation");
  const json::value* const released = post ? post->if_contains("released") : nullptr;
  if (released == nullptr || post->contains("original")) return std::nullopt;
  if (const json::value* const all = entry.if_contains("redactions"); all && all->is_array()) {
    for (const json::value& each : all->get_array()) {
      const std::string path = text_or_empty(each.as_object(), "path");
      if (path.empty() || path.starts_with(kReleased)) return std::nullopt;
    }
  }
  Result<Envelope> whole = Envelope::from_json(*released);
  if (!whole) return std::nullopt;
  return std::move(*whole);
}

}  // namespace

AskedCall asked_in(const json::object& entry, const json::object& body) {
  const json::value* const input = body.if_contains("requested_input");
  AskedCall asked{.call = {.agent_id = text_or_empty(entry, "agent_id"),
                           .session_id = text_or_empty(entry, "session_id"),
                           .server = text_or_empty(entry, "server"),
                           .tool = text_or_empty(entry, "tool_name"),
                           .input = input ? *input : json::value(),
                           .setting = {.front = text_or_empty(body, "front")}},
                  .then = RecordedCall{.body = body, .result = result_in(entry, body)}};
  RecordedDecision& then = asked.then->decision;
  then.sequence = number_in(entry, "sequence").value_or(0);
  then.policy_hash = text_or_empty(entry, "policy_hash");
  then.tier = text_or_empty(body, "autonomy");
  then.tier_source = text_or_empty(body, "autonomy_source");
  then.holes = holes_in(entry);
  if (then.holes.empty() && has_marks(asked.call.input)) then.holes.emplace_back();
  then.redacted = !then.holes.empty();
  then.input_gone = is_absent(asked.call.input);
  if (then.input_gone) asked.call.input = json::object{};
  if (const json::object* const outcome = object_in(body, "outcome")) {
    then.outcome = text_or_empty(*outcome, "kind");
    for (const char* const name : {"reason", "error", "description"}) {
      if (then.reason.empty()) then.reason = text_or_empty(*outcome, name);
    }
  }
  then.verdict = recorded_verdict(then, body);
  return asked;
}

Result<AskedCall> asked_call(const json::value& value, const std::string& where) {
  SALLYPORT_TRY(Call call, call_in(value, where));
  return AskedCall{.call = std::move(call)};
}

Result<AskedCall> asked_call(const std::string& text, const std::string& where) {
  const Result<ParsedJson> parsed = parse_json(text);
  if (!parsed) {
    return fail(ErrorCode::InvalidInput, parsed.error().message,
                fmt::format("{}:{}", where, parsed.error().where));
  }
  SALLYPORT_TRY(AskedCall asked, asked_call(parsed->value, where));
  if (!parsed->exact) asked.call.raw_input = inexact_input(text);
  return asked;
}

std::optional<std::string> inexact_input(std::string_view call) {
  const std::string_view input = llm::value_at(call, "/input");
  const Result<ParsedJson> parsed = parse_json(input);
  if (!parsed || parsed->exact) return std::nullopt;
  return std::string(input);
}

Result<AskedCall> recorded_call(ledger::LedgerStore& store, const std::string& id) {
  std::optional<AskedCall> found;
  const ledger::Filter filter{
      .facets = {{ledger::Facet::Call, id}, {ledger::Facet::Kind, "tool_audit"}}};
  SALLYPORT_CHECK_OK(store.read([&](ledger::ReadView& view) {
    return visit_opened(view, filter, [&](const json::object& entry, const json::object& body) {
      found = asked_in(entry, body);
      return !bool_in(body, "terminal").value_or(false);
    });
  }));
  if (found) return std::move(*found);
  return fail(ErrorCode::NotFound,
              fmt::format("`{:.80}` is not a file, and no call of that id is recorded", id));
}

}  // namespace sallyport::app
