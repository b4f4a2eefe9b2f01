#include "proxy/doors.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/json.hpp>
#include <iterator>

#include "core/handoff/model_calls.h"
#include "core/record/finding.h"
#include "proxy/call_session.h"

namespace sallyport::proxy {

namespace {

using core::PassedText;
using core::TextStage;
using llm::CallRuling;
using llm::ChannelId;
using llm::ChannelKind;
using llm::ProposedCall;

constexpr std::size_t kMostFindings = 256;
constexpr std::string_view kRefused = "[This tool call was refused by a guardrail.]";

TextStage stage_of(const ChannelId& channel) {
  return channel.kind == ChannelKind::ProviderResult ? TextStage::ToolOutput : TextStage::Output;
}

PassedText untouched(std::string_view text) {
  PassedText passed;
  passed.pieces.push_back({0, text.size(), std::string(text), false});
  return passed;
}

// JSON answers are also checked in their JSON view, because the client decodes escapes in strings.
std::shared_ptr<const core::StreamGuard> guard_of(DoorParts& parts) {
  const std::shared_ptr<const core::StreamGuard>& guard = parts.plan->stream_guard();
  if (!guard || !parts.json_format) return guard;
  const auto more = guard->for_json_answers();
  if (!more) parts.record.degrade("json_view");
  return more && *more ? *more : guard;
}

class Door final : public llm::MessageDoor {
 public:
  Door(DoorParts& parts, std::uint64_t number)
      : parts_(parts),
        number_(number),
        guard_(guard_of(parts)),
        rules_(parts.plan->model_rules()),
        mode_(rules_.tool_calls_of(parts.record.agent_id)) {}

  PassedText push(const ChannelId& channel, std::string_view delta) override {
    parts_.record.answer_bytes += delta.size();
    if (over_) return {};
    Channel& open = channel_of(channel);
    if (!open.text) return untouched(delta);
    PassedText passed = open.text->push(delta);
    parts_.record.held_max = std::max(parts_.record.held_max, held());
    return recorded(channel, std::move(passed));
  }

  PassedText finish(const ChannelId& channel) override {
    if (over_) return {};
    const auto found = channels_.find(channel);
    if (found == channels_.end() || !found->second.text) return {};
    PassedText passed = found->second.text->finish();
    channels_.erase(found);  // text after the end is checked as a new text
    return recorded(channel, std::move(passed));
  }

  PassedText whole(const ChannelId& channel, std::string_view text) override {
    parts_.record.answer_bytes += text.size();
    if (over_) return {};
    return recorded(channel, pass_whole(channel, text));
  }

  PassedText signed_block(const ChannelId& channel, std::string_view text) override {
    parts_.record.answer_bytes += text.size();
    if (over_) return {};
    PassedText passed = pass_whole(channel, text);
    note(channel, passed);
    if (!passed.block && !passed.changed()) keep(channel, passed);  // else it does not leave
    return passed;
  }

  bool enforces_output() const override { return guard_ && guard_->enforces(TextStage::Output); }
  bool holds_calls() const override { return mode_ != core::ToolCallMode::Observe; }

  Async<CallRuling> decide(ProposedCall call) override {
    parts_.record.answer_bytes += json::serialize(call.input).size();
    switch (mode_) {
      case core::ToolCallMode::HandOff:
        return hand_out(std::move(call));
      case core::ToolCallMode::Defer:
        return defer(std::move(call));
      case core::ToolCallMode::Observe:
        break;
    }
    return observe(std::move(call));
  }

  std::string drop(const std::string& id, const std::string& name, std::string why) override {
    add_call(id, "", "not_run");
    note_change();
    return fmt::format("[Tool call `{}` was not handed out: {}.] (record {})", name, why,
                       parts_.record.request_id);
  }

  void note_unknown(std::string type) override {
    auto& unknown = parts_.record.unknown;
    if (std::ranges::find(unknown, type) == unknown.end() && unknown.size() < 2 * kLongestList) {
      unknown.push_back(std::move(type));
    }
  }
  void note_unread(std::string path, std::string kind) override {
    auto& unread = parts_.record.unread;
    if (unread.size() < 2 * kLongestList) unread.emplace_back(std::move(path), std::move(kind));
  }
  void note_degraded(std::string part) override { parts_.record.degrade(std::move(part)); }
  void note_change() override { ++parts_.record.changes; }

 private:
  struct Channel {
    std::unique_ptr<core::GuardedText> text{};  // null: nothing looks at it
  };

  static std::optional<std::string_view> tool_of(const ChannelId& channel) {
    if (channel.tool.empty()) return std::nullopt;
    return channel.tool;
  }

  Channel& channel_of(const ChannelId& channel) {
    const auto [found, fresh] = channels_.try_emplace(channel);
    if (fresh && guard_) {
      cover(channel);
      found->second.text = guard_->arm(stage_of(channel), tool_of(channel));
    }
    return found->second;
  }

  // Records which checks read each kind of channel.
  void cover(const ChannelId& channel) {
    const std::string kind(to_string(channel.kind));
    if (parts_.record.coverage.contains(kind)) return;
    parts_.record.coverage[kind] = guard_->coverage(stage_of(channel), tool_of(channel));
  }

  // As if the text came in one delta: the text before a match leaves, streamed or not (MP-38).
  PassedText pass_whole(const ChannelId& channel, std::string_view text) {
    if (!guard_) return untouched(text);
    cover(channel);
    const auto gate = guard_->arm(stage_of(channel), tool_of(channel));
    if (!gate) return untouched(text);
    PassedText passed = gate->push(text);
    if (passed.block) return passed;
    PassedText rest = gate->finish();
    std::ranges::move(rest.pieces, std::back_inserter(passed.pieces));
    std::ranges::move(rest.findings, std::back_inserter(passed.findings));
    passed.block = std::move(rest.block);
    return passed;
  }

  std::uint64_t held() const {
    std::uint64_t bytes = 0;
    for (const auto& [id, channel] : channels_) {
      if (channel.text) bytes += channel.text->held();
    }
    return bytes;
  }

  void note(const ChannelId& channel, PassedText& passed) {
    if (passed.changed()) note_change();
    add_findings(parts_, std::move(passed.findings), to_string(channel.kind));
  }

  // A block ends the message on all channels (GR-55).
  PassedText recorded(const ChannelId& channel, PassedText passed) {
    note(channel, passed);
    keep(channel, passed);
    over_ = passed.block.has_value();
    return passed;
  }

  void keep(const ChannelId& channel, const PassedText& passed) {
    if (parts_.kept == nullptr) return;
    parts_.kept->add(
        fmt::format("{} {}.{}.{}", to_string(channel.kind), number_, channel.item, channel.part),
        passed.text());
  }

  void add_call(const std::string& id, std::string call_id, std::string verdict) {
    auto& calls = parts_.record.calls;
    if (calls.size() < 4 * kLongestList)
      calls.push_back({id, std::move(call_id), std::move(verdict)});
  }

  Call call_of(const ProposedCall& proposed, const std::string& session) const {
    ToolName name = tool_name(proposed.name, parts_.record.agent_id);
    Call call{.tool_call_id = proposed.id,
              .agent_id = parts_.record.agent_id,
              .session_id = session,
              .trace_id = parts_.record.trace_id,
              .server = std::move(name.server),
              .tool = std::move(name.tool),
              .input = proposed.input,
              .raw_input = proposed.raw_input};
    call.provenance = {.provider = parts_.record.upstream, .model = parts_.record.upstream_model};
    call.setting.front = "http";
    return call;
  }

  Async<CallRuling> observe(ProposedCall call) {
    add_call(call.id, "", "observed");
    if (guard_) {
      json::array& checks = parts_.record.coverage["tool_use"];
      checks = guard_->coverage(TextStage::ToolUse, call.name);
      for (json::value& check : checks) {
        json::object& entry = check.as_object();
        if (entry["status"] != "ran") continue;
        entry["status"] = "skipped";
        entry["why"] = "caller";
      }
    }
    co_return CallRuling{};
  }

  // The checks of `tool_use` decide. The later door asks a person and writes the intent.
  Async<CallRuling> defer(ProposedCall call) {
    if (!guard_) {
      leave_to_later_door(call_of(call, parts_.session_id), "deferred");
      co_return CallRuling{};
    }
    const ToolName name = tool_name(call.name, parts_.record.agent_id);
    core::CheckedCall checked = guard_->look_at_call(name.tool, call.input, call.raw_input);
    add_findings(parts_, std::move(checked.findings), "tool_use");
    parts_.record.coverage["tool_use"] = guard_->coverage(TextStage::ToolUse, name.tool);
    if (checked.block) {
      add_call(call.id, "", "refused");
      note_change();
      co_return refusal(call, fmt::format("{} {}", checked.block->notice, checked.block->reason),
                        parts_.record.request_id);
    }
    if (checked.rewritten && call.raw_input) {
      add_call(call.id, "", "refused");
      note_change();
      co_return refusal(
          call, fmt::format("{} what was found cannot be taken out of these arguments", kRefused),
          parts_.record.request_id);
    }
    Call left = call_of(call, parts_.session_id);
    if (checked.rewritten) left.input = *checked.rewritten;
    leave_to_later_door(left, checked.rewritten ? "rewritten" : "deferred");
    if (!checked.rewritten) co_return CallRuling{};
    note_change();
    co_return CallRuling{.kind = CallRuling::Kind::Rewrite, .input = *checked.rewritten};
  }

  // Adds to the record of the request that another door decides about the call, and the key by
  // which that door finds it.
  void leave_to_later_door(const Call& call, std::string verdict) {
    const bool known = std::ranges::find(parts_.record.calls, call.tool_call_id,
                                         &RecordedCall::tool_call_id) != parts_.record.calls.end();
    add_call(call.tool_call_id, "", std::move(verdict));
    if (known) return;  // two calls of one message with one id: the first is the one that is known
    const std::string key =
        core::model_calls::deferred_key(call.agent_id, call.session_id, call.tool_call_id);
    const WallTime now = parts_.clock.wall();
    parts_.facts.push_back(
        core::model_calls::deferred_fact(key, {.request_id = parts_.record.request_id,
                                               .asked = core::model_calls::asked_digest(call),
                                               .at = now}));
    parts_.changes.push_back(
        core::model_calls::add(call, {.deferred = key}, parts_.governor.recorder(), now));
  }

  CallRuling refusal(const ProposedCall& call, std::string text, const std::string& record_id) {
    std::string notice = fmt::format("{} (record {})", text, record_id);
    parts_.unanswered.push_back({call.type, call.id, notice});
    return {.kind = CallRuling::Kind::Refuse, .notice = std::move(notice)};
  }

  // The whole first door, with a durable intent, before a byte of the call leaves (MP-56).
  Async<CallRuling> hand_out(ProposedCall proposed) {
    if (guard_) {
      const ToolName name = tool_name(proposed.name, parts_.record.agent_id);
      parts_.record.coverage["tool_use"] = guard_->coverage(TextStage::ToolUse, name.tool);
    }
    const auto until = std::chrono::steady_clock::now() + rules_.hold;
    const Result<std::string> session =
        session_of_call(parts_, call_of(proposed, parts_.session_id));
    if (!session) co_return failed(proposed, session.error());
    Result<core::HandOffs::HandedOut> given = co_await give(proposed, *session, {});
    while (given && given->hand_off.tool_calls.empty()) {
      const Answer answer = given->answered.front();
      if (answer.outcome.kind != sallyport::Outcome::Kind::RequiresConfirmation) {
        co_return refused(proposed, *session, answer, *given);
      }
      const std::optional<Reply> reply = co_await answer_of(answer.approval_id, until);
      if (!reply) co_return pending(proposed, answer);
      if (reply->kind != Reply::Kind::Approved) co_return denied(proposed, answer, *reply);
      given = co_await give(proposed, *session, answer);
    }
    if (given) co_return handed_out(proposed, *session, given->hand_off.tool_calls.front());
    co_return failed(proposed, given.error());
  }

  CallRuling failed(const ProposedCall& proposed, const Error& error) {
    add_call(proposed.id, "", "failed");
    note_change();
    return refusal(
        proposed,
        fmt::format("[Tool call `{}` was not handed out: {}.]", proposed.name, error.message),
        parts_.record.request_id);
  }

  // `waited` is set if a person has answered and the same call continues.
  Task<core::HandOffs::HandedOut> give(ProposedCall proposed, std::string session, Answer waited) {
    Continuation::Payload frame{.session_id = session,
                                .state = core::HandOffs::proposed_to(parts_.record.agent_id)};
    core::Caller caller{.cancel = parts_.gone, .leaves = true};
    Call call = call_of(proposed, session);
    if (waited.approval_id.empty()) {
      std::vector<Call> calls;
      calls.push_back(std::move(call));
      return parts_.hand_offs.hand_out(std::move(frame), std::move(calls), std::move(caller));
    }
    call.call_id = waited.call_id;
    return parts_.hand_offs.hand_out_answered(
        std::move(frame), {.call = std::move(call), .approval_id = waited.approval_id},
        std::move(caller));
  }

  CallRuling handed_out(const ProposedCall& proposed, const std::string& session,
                        const PendingCall& call) {
    const bool rewritten = call.effective_input != call.input;
    // For a call without an id, the id of the Governor is used for both (AU-8).
    const bool named = !proposed.id.empty();
    add_call(named ? proposed.id : call.id, named ? call_id_of(proposed, session) : call.id,
             rewritten ? "rewritten" : "handed_off");
    if (!rewritten) return {};
    note_change();
    return {.kind = CallRuling::Kind::Rewrite, .input = call.effective_input};
  }

  std::string call_id_of(const ProposedCall& proposed, const std::string& session) {
    core::Idempotency& rows = parts_.governor.idempotency();
    const auto row = rows.row(rows.key({.tool_call_id = proposed.id, .session_id = session}));
    return row && *row ? (*row)->call_id : "";
  }

  CallRuling refused(const ProposedCall& proposed, const std::string& session, const Answer& answer,
                     const core::HandOffs::HandedOut& given) {
    // The client repeats a request, and the call is already handed out. It leaves as it left the
    // first time.
    const auto clash = given.clashes.find(proposed.id);
    if (clash != given.clashes.end() && clash->second == core::HandOffs::HandedOut::Clash::Out) {
      const auto out = parts_.hand_offs.hand_off_of(session, proposed.id);
      const auto is_same = [&](const PendingCall& call) { return call.id == proposed.id; };
      if (out && *out) {
        const std::vector<PendingCall>& calls = (*out)->payload.pending_tool_calls;
        const auto found = std::ranges::find_if(calls, is_same);
        if (found != calls.end()) return handed_out(proposed, session, *found);
      }
    }
    add_call(proposed.id, answer.call_id, "refused");
    note_change();
    const bool cached = answer.outcome.kind == sallyport::Outcome::Kind::Cached;
    std::string why =
        cached ? fmt::format("`{}` has its result already", proposed.id) : answer.outcome.text;
    std::string opening = "[This tool call was refused.]";
    // The replacement of a check follows its reason; the notice must begin with it (GR-17).
    if (why.starts_with("guardrail check '")) {
      const std::size_t end = why.find("): ", why.find("' refused this call ("));
      opening = end == std::string::npos ? kRefused : why.substr(end + 3);
      if (end != std::string::npos) why.resize(end + 1);
    }
    return refusal(proposed, fmt::format("{} {}", opening, why), answer.record_id);
  }

  CallRuling denied(const ProposedCall& proposed, const Answer& answer, const Reply& reply) {
    add_call(proposed.id, answer.call_id, "refused");
    note_change();
    const std::string why =
        reply.kind == Reply::Kind::Denied
            ? fmt::format("a person denied it{}{}", reply.reason.empty() ? "" : ": ", reply.reason)
            : std::string("no approver answered in time");
    return refusal(proposed, fmt::format("[This tool call was refused.] {}", why),
                   answer.record_id);
  }

  CallRuling pending(const ProposedCall& proposed, const Answer& answer) {
    add_call(proposed.id, answer.call_id, "pending_approval");
    note_change();
    const std::string place =
        parts_.approvals_url.empty()
            ? std::string()
            : fmt::format(" at {}{}", parts_.approvals_url, answer.approval_id);
    return refusal(
        proposed,
        fmt::format("[pending_approval] A person has to approve the call of `{}` first (approval "
                    "{}{}). Make exactly the same call again after that.",
                    proposed.name, answer.approval_id, place),
        answer.record_id);
  }

  // No value: the hold is over, and the question stays open. If the client leaves, the question is
  // cancelled (AP-18).
  Async<std::optional<Reply>> answer_of(std::string approval_id,
                                        std::chrono::steady_clock::time_point until) {
    core::Approvals& approvals = parts_.governor.approvals();
    std::stop_source end;
    const std::stop_callback on_gone(parts_.gone, [&end] { end.request_stop(); });
    boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, until);
    timer.async_wait([end](const boost::system::error_code& error) mutable {
      if (!error) end.request_stop();
    });
    constexpr auto kLong = std::chrono::hours(24 * 365);
    const WallTime deadline = parts_.clock.wall() + kLong;
    const Result<Reply> reply = co_await approvals.wait(approval_id, deadline, end.get_token(),
                                                        core::Approvals::Role::Guest);
    timer.cancel();
    if (parts_.gone.stop_requested()) {
      (void)co_await approvals.answer(
          approval_id, {.kind = Reply::Kind::Cancelled, .reason = "the client went away"});
      co_return Reply{.kind = Reply::Kind::Cancelled};
    }
    if (end.stop_requested() || !reply) co_return std::nullopt;
    co_return *reply;
  }

  DoorParts& parts_;
  std::uint64_t number_;                            // of the message in the answer
  std::shared_ptr<const core::StreamGuard> guard_;  // shared with the plan
  const core::ModelRules& rules_;
  core::ToolCallMode mode_;
  std::map<ChannelId, Channel> channels_;
  bool over_ = false;  // a block ended the message
};

}  // namespace

void add_findings(DoorParts& parts, std::vector<Finding> findings, std::string_view channel) {
  for (Finding& finding : findings) {
    if (parts.findings.size() >= kMostFindings) {
      parts.record.degrade("findings_cut");
      return;
    }
    finding.body["channel"] = channel;
    parts.findings.push_back(core::finding_row(std::move(finding), parts.record.subject()));
  }
}

ToolName tool_name(const std::string& name, const std::string& agent) {
  constexpr std::string_view kPrefix = "mcp__";
  if (name.starts_with(kPrefix)) {
    const std::string_view rest = std::string_view(name).substr(kPrefix.size());
    const std::size_t end = rest.find("__");
    if (end != std::string_view::npos && end > 0 && end + 2 < rest.size()) {
      return {std::string(rest.substr(0, end)), std::string(rest.substr(end + 2))};
    }
  }
  return {agent, name};
}

void KeptTexts::add(const std::string& channel, std::string_view text) {
  if (text.empty()) return;
  bytes += text.size();
  if (bytes <= most) texts[channel] += text;
}

std::string KeptTexts::json() const {
  if (texts.empty() || bytes > most) return {};
  return json::serialize(json::value_from(texts));
}

std::unique_ptr<llm::MessageDoor> RequestDoors::open(std::uint64_t index) {
  return std::make_unique<Door>(parts_, index);
}

}  // namespace sallyport::proxy
