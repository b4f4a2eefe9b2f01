#include "proxy/input_stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <iterator>

#include "base/json_members.h"
#include "base/try.h"
#include "core/handoff/model_calls.h"
#include "core/plan/grant_use.h"
#include "core/plan/pipeline.h"
#include "proxy/call_session.h"

namespace sallyport::proxy {

namespace {

using core::TextStage;
using llm::Leaf;

constexpr std::string_view kBypassed = "bypassed";

bool is_below(const std::string& path, const std::string& parent) {
  return path.size() > parent.size() && path.starts_with(parent) && path[parent.size()] == '/';
}

// The texts of a result, joined.
std::string text_of(const json::value& content) {
  if (content.is_string()) return std::string(content.get_string());
  std::string text;
  if (const json::array* const parts = content.if_array()) {
    for (const json::value& part : *parts) {
      const json::object* const object = part.if_object();
      if (object == nullptr) continue;
      if (!text.empty()) text += '\n';
      text += text_or_empty(*object, "text");
    }
  }
  return text.empty() ? json::serialize(content) : text;
}

std::string content_path(const llm::ToolReturn& result) {
  return pointer_to(result.path, result.member);
}

ToolResult result_of(const llm::ToolReturn& result) {
  ToolResult out{.success = !result.is_error, .output = text_of(result.content)};
  if (!result.content.is_string()) out.data = result.content;
  return out;
}

Envelope envelope_of(const ToolResult& result) {
  if (result.success) {
    return Envelope::of(result.data.is_null() ? json::value(result.output) : result.data);
  }
  Envelope envelope = Envelope::error(result.output);
  envelope.data = result.data;
  return envelope;
}

}  // namespace

void add_edits(llm::Splice& edits, const std::string& pointer, const json::value& from,
               const json::value& to) {
  if (from == to) return;
  const bool objects =
      from.is_object() && to.is_object() && from.get_object().size() == to.get_object().size();
  if (objects && std::ranges::all_of(from.get_object(), [&](const json::key_value_pair& member) {
        return to.get_object().contains(member.key());
      })) {
    for (const json::key_value_pair& member : from.get_object()) {
      add_edits(edits, pointer_to(pointer, member.key()), member.value(),
                to.get_object().at(member.key()));
    }
    return;
  }
  const bool arrays =
      from.is_array() && to.is_array() && from.get_array().size() == to.get_array().size();
  if (arrays) {
    for (std::size_t i = 0; i < from.get_array().size(); ++i) {
      add_edits(edits, pointer_to(pointer, i), from.get_array()[i], to.get_array()[i]);
    }
    return;
  }
  edits.replace(pointer, json::serialize(to));
}

Task<InputStage::Decision> InputStage::run(const llm::Request& request, const json::value& body,
                                           llm::Splice& edits) {
  Decision out;
  std::vector<std::string> results;  // where their contents stand
  for (const llm::ToolReturn& returned : request.returns) {
    SALLYPORT_CO_CHECK_OK(co_await pass_result(request, returned, body, edits));
    results.push_back(content_path(returned));
  }
  for (const Leaf& leaf : request.leaves) {
    out.text_bytes += leaf.text.size();
    // The content of a result has passed the second door. Its other members have not.
    const auto holds = [&](const std::string& content) {
      return leaf.path == content || is_below(leaf.path, content);
    };
    if (leaf.kind == Leaf::Kind::ToolOutput && std::ranges::any_of(results, holds)) continue;
    check(leaf, out, edits);
    if (out.block) break;
  }
  for (const Leaf& name : request.names) {
    if (out.block) break;
    check(name, out, edits);
  }
  co_return out;
}

void InputStage::check(const Leaf& leaf, Decision& out, llm::Splice& edits) {
  const std::shared_ptr<const core::StreamGuard>& guard = parts_.plan->stream_guard();
  if (!guard) return;
  const TextStage stage =
      leaf.kind == Leaf::Kind::ToolOutput ? TextStage::ToolOutput : TextStage::Input;
  const std::optional<std::string_view> tool =
      leaf.tool.empty() ? std::nullopt : std::optional<std::string_view>(leaf.tool);
  const std::string channel(to_string(stage));
  if (!parts_.record.coverage.contains(channel)) {
    parts_.record.coverage[channel] = guard->coverage(stage, tool);
  }
  core::PassedText passed = guard->look_at(stage, leaf.text, tool);
  add_findings(parts_, std::move(passed.findings), channel);
  if (passed.block) {
    out.block = std::move(passed.block);
    return;
  }
  if (!passed.changed()) return;
  ++parts_.record.changes;
  if (leaf.kind == Leaf::Kind::Fixed) {
    out.block = core::TextBlock{
        .notice = "[This prompt was refused by a guardrail.]",
        .reason = fmt::format("a redaction at `{}` would break what the provider has signed or "
                              "what only it reads",
                              leaf.path),
        .reason_code = "guardrail.unchangeable"};
    return;
  }
  edits.replace(leaf.path, llm::json_string(passed.text()));
}

// The tool name from the same request, else from the recorded call, else none (MP-31).
std::string InputStage::tool_of(const llm::ToolReturn& result) {
  const std::string name = [&]() -> std::string {
    if (!result.tool.empty()) return result.tool;
    core::Idempotency& rows = parts_.governor.idempotency();
    const auto session = session_of_result(parts_, "", result.tool_call_id);
    if (!session) return {};
    const auto row =
        rows.row(rows.key({.tool_call_id = result.tool_call_id, .session_id = *session}));
    if (!row || !*row) return {};
    const auto entry = parts_.governor.recorder().entry((*row)->sequence);
    return entry ? text_or_empty(*entry, "tool_name") : std::string();
  }();
  return name.empty() ? name : tool_name(name, parts_.record.agent_id).tool;
}

Task<std::optional<Envelope>> InputStage::released(const llm::ToolReturn& result,
                                                   const std::string& tool, bool latest) {
  const ToolResult given = result_of(result);
  const Envelope envelope = envelope_of(given);
  SALLYPORT_CO_TRY(const std::string session, session_of_result(parts_, tool, result.tool_call_id));
  SALLYPORT_CO_TRY(std::optional<Continuation> out,
                   parts_.hand_offs.hand_off_of(session, result.tool_call_id));
  // Clients choose session names, so a result completes only calls that were handed to this agent.
  const bool ours =
      latest && out && out->payload.state == core::HandOffs::proposed_to(parts_.record.agent_id);
  if (ours) {
    SALLYPORT_CO_TRY(const std::vector<Answer> answers,
                     co_await parts_.hand_offs.submit(
                         {std::move(*out), {{result.tool_call_id, given}}}, session));
    const Envelope& released = answers.front().released;
    if (same(released, envelope)) co_return std::nullopt;
    co_return released;
  }
  const core::Plan& plan = *parts_.plan;
  if (plan.result_guards().empty()) co_return std::nullopt;
  core::FailOpen fail_open(fail_open_);
  ResultContext context{.tool = tool,
                        .call = std::make_shared<const Call>(
                            Call{.tool_call_id = result.tool_call_id,
                                 .agent_id = parts_.record.agent_id,
                                 .session_id = parts_.session_id,
                                 .server = tool_name(result.tool, parts_.record.agent_id).server,
                                 .tool = tool}),
                        .scope = core::no_grants(),
                        .policy_hash = plan.hash(),
                        .is_error = result.is_error};
  core::ShortRelease passed =
      co_await core::run_pipeline_short(plan, envelope, std::move(context), clock_, fail_open);
  add_findings(parts_, std::move(passed.findings), "tool_output");
  core::FailOpenLog::Share share = fail_open.take();
  for (core::Draft& draft : share.drafts) {
    draft.subject.set(&Subject::policy_hash, plan.hash());
    parts_.findings.push_back(std::move(draft));
  }
  std::ranges::move(share.facts, std::back_inserter(parts_.facts));
  if (same(passed.released, envelope)) co_return std::nullopt;
  co_return std::move(passed.released);
}

Task<void> InputStage::pass_result(const llm::Request& request, const llm::ToolReturn& result,
                                   const json::value& body, llm::Splice& edits) {
  const std::string tool = tool_of(result);
  if (const auto& guard = parts_.plan->stream_guard();
      guard && !parts_.record.coverage.contains("tool_output")) {
    parts_.record.coverage["tool_output"] = guard->coverage(
        TextStage::ToolOutput, tool.empty() ? std::nullopt : std::optional<std::string_view>(tool));
  }
  bool withheld = false;
  const Result<void> looked = co_await note_bypass(result, withheld);
  if (!looked) co_return std::unexpected(looked.error());
  if (withheld) {
    ++parts_.record.changes;
    llm::withhold(edits, request.kind, result,
                  "[This tool result was withheld: no door has seen the call that it answers.]",
                  body);
    co_return Result<void>{};
  }
  const auto is_later = [&](const llm::ToolReturn& other) {
    return &other > &result && other.tool_call_id == result.tool_call_id;
  };
  const bool latest = std::ranges::none_of(request.returns, is_later);
  SALLYPORT_CO_TRY(const std::optional<Envelope> changed, co_await released(result, tool, latest));
  if (!changed) co_return Result<void>{};
  ++parts_.record.changes;
  const bool value = changed->kind == Envelope::Kind::Value;
  const json::value& now = value ? changed->value : changed->data;
  if (now.is_null() || now.kind() != result.content.kind()) {
    llm::withhold(edits, request.kind, result,
                  value ? std::string_view("[redacted]") : std::string_view(changed->message),
                  body);
  } else {
    add_edits(edits, content_path(result), result.content, now);
  }
  co_return Result<void>{};
}

// Records a call that was left to a later door but never reached one (MP-62).
Task<void> InputStage::note_bypass(const llm::ToolReturn& result, bool& withheld) {
  using core::model_calls::Deferred;
  core::RecordReader& recorder = parts_.governor.recorder();
  const std::string key = core::model_calls::deferred_key(parts_.record.agent_id, parts_.session_id,
                                                          result.tool_call_id);
  SALLYPORT_CO_TRY(std::optional<Deferred> deferred,
                   core::model_calls::find_deferred(recorder, key));
  if (!deferred) co_return Result<void>{};
  core::Idempotency& rows = parts_.governor.idempotency();
  SALLYPORT_CO_TRY(
      const auto row,
      rows.row(rows.key({.tool_call_id = result.tool_call_id, .session_id = parts_.session_id})));
  if (row || deferred->state == Deferred::State::Seen) {
    parts_.facts.push_back({std::string(core::model_calls::kDeferred), key, std::nullopt});
    co_return Result<void>{};
  }
  if (deferred->state == Deferred::State::Open) {
    parts_.record.calls.push_back({result.tool_call_id, "", std::string(kBypassed)});
    deferred->state = Deferred::State::Bypassed;
    parts_.facts.push_back(core::model_calls::deferred_fact(key, *deferred));
  }
  withheld = parts_.plan->model_rules().withholds_bypassed;
  co_return Result<void>{};
}

}  // namespace sallyport::proxy
