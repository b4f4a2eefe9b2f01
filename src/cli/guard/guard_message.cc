#include "cli/guard/guard_message.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <set>

#include "base/try.h"
#include "cli/guard/stream_report.h"
#include "guardrails/stream/message_delta.h"
#include "guardrails/stream/message_gate.h"
#include "terminal/input.h"
#include "terminal/output.h"
#include "workbench/guard_config.h"

namespace sallyport::app {

namespace {

constexpr std::size_t kLargestMessage = std::size_t{1} << 30;

using guardrails::CallDecision;
using guardrails::Channel;
using guardrails::MessageCall;
using guardrails::MessageDelta;

// Passes a message through its gate, line by line, and prints the result of each.
class MessageRun {
 public:
  MessageRun(const Context& context, std::shared_ptr<const guardrails::Guardrails> guardrails)
      : json_(context.json()),
        guardrails_(std::move(guardrails)),
        gate_(guardrails_),
        reports_{StreamReport(*guardrails_, json_, "text"),
                 StreamReport(*guardrails_, json_, "reasoning")} {}

  bool blocked() const { return gate_.blocked_on().has_value(); }

  Result<void> take(const MessageDelta& delta) {
    gate_.count_tokens(delta.tokens);
    if (delta.channel) {
      SALLYPORT_CHECK_OK(take_text(*delta.channel, delta));
    } else if (!delta.call.empty()) {
      SALLYPORT_CHECK_OK(take_call(delta));
    }
    if (blocked()) print_dropped();
    ++taken_;
    return {};
  }

  // Open channels end with the message.
  Result<void> finish() {
    for (const Channel channel : {Channel::Text, Channel::Reasoning}) {
      if (!finished_.contains(channel)) SALLYPORT_CHECK_OK(finish(channel));
      if (!blocked()) continue;
      print_dropped();
      return {};
    }
    return {};
  }

  void print_end() const {
    const bool redacted = std::ranges::any_of(
        reports_, [](const StreamReport& report) { return report.verdict() == "redact"; });
    const char* const verdict = blocked() ? "block" : redacted ? "redact" : "allow";
    if (!json_) return print_line(fmt::format("verdict: {}", verdict));
    json::object end{{"event", "end"},         {"verdict", verdict}, {"blocked_on", nullptr},
                     {"armed", gate_.armed()}, {"deltas", taken_},   {"tokens", gate_.tokens()}};
    if (blocked()) end["blocked_on"] = to_string(*gate_.blocked_on());
    json::object channels;
    for (const Channel channel : {Channel::Text, Channel::Reasoning}) {
      channels[to_string(channel)] = report(channel).sums(
          gate_.bytes_in(channel), held_max_[place(channel)], gate_.invalid_utf8(channel));
    }
    end["channels"] = std::move(channels);
    json::array calls;
    for (const MessageCall& call : gate_.calls()) {
      calls.push_back(
          json::object{{"id", call.id}, {"tool", call.tool}, {"state", to_string(call.state)}});
    }
    end["calls"] = std::move(calls);
    report(Channel::Text).add_document(end, gate_.coverage(Channel::Text));
    print_line(json::serialize(end));
  }

 private:
  static std::size_t place(Channel channel) { return static_cast<std::size_t>(channel); }
  const StreamReport& report(Channel channel) const { return reports_[place(channel)]; }

  Result<void> take_text(Channel channel, const MessageDelta& delta) {
    if (delta.delta) {
      SALLYPORT_TRY(const auto passed, gate_.push(channel, *delta.delta));
      reports_[place(channel)].print(passed, taken_);
      held_max_[place(channel)] = std::max(held_max_[place(channel)], gate_.held(channel));
    }
    return delta.done && !blocked() ? finish(channel) : Result<void>();
  }

  Result<void> finish(Channel channel) {
    finished_.insert(channel);
    SALLYPORT_TRY(const auto passed, gate_.finish(channel));
    reports_[place(channel)].print(passed, taken_);
    return {};
  }

  Result<void> take_call(const MessageDelta& delta) {
    const auto known = std::ranges::find(gate_.calls(), delta.call, &MessageCall::id);
    if (known == gate_.calls().end()) {
      SALLYPORT_CHECK_OK(gate_.open_call(delta.call, delta.tool));
    } else if (!delta.tool.empty() && delta.tool != known->tool) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("call `{}` began with the tool `{}`; give the tool on its first line",
                              delta.call, known->tool));
    }
    if (delta.delta) {
      SALLYPORT_TRY(const std::string out, gate_.push_arguments(delta.call, *delta.delta));
      if (!out.empty()) print_arguments(delta.call, out);
    }
    if (delta.done) {
      SALLYPORT_TRY(const CallDecision decision, gate_.close_call(delta.call));
      report_decision(delta.call, decision);
    }
    if (delta.started) {
      SALLYPORT_TRY(const bool runs, gate_.start_call(delta.call));
      print_call(runs ? "start" : "refuse", delta.call, {});
    }
    return {};
  }

  void print_arguments(const std::string& id, const std::string& text) const {
    print_call("release", id, {{"text", text}});
  }

  void report_decision(const std::string& id, const CallDecision& decision) const {
    json::array hits;
    for (const auto& hit : decision.seen.hits) hits.push_back(guardrails::to_json(hit));
    json::object more{{"verdict", to_string(decision.seen.verdict)},
                      {"hits", std::move(hits)},
                      {"reason", nullptr},
                      {"replacement", nullptr},
                      {"text", nullptr}};
    if (decision.arguments) more["text"] = *decision.arguments;
    if (const auto& decided = decision.seen.decision) {
      more["reason"] = decided->reason.value_or("");
      more["replacement"] = decided->replacement;
    }
    print_call("call", id, std::move(more));
  }

  void print_dropped() const {
    for (const MessageCall& call : gate_.calls()) {
      if (call.state == MessageCall::State::Dropped) print_call("drop", call.id, {});
    }
  }

  void print_call(const char* event, const std::string& id, json::object more) const {
    const MessageCall& call = *std::ranges::find(gate_.calls(), id, &MessageCall::id);
    if (!json_) {
      return print_line(fmt::format("[{}] tool_call {} {} {}: {}", taken_, event, id, call.tool,
                                    to_string(call.state)));
    }
    json::object object{{"event", event},
                        {"delta", taken_},
                        {"channel", "tool_call"},
                        {"id", id},
                        {"tool", call.tool}};
    for (auto& [name, value] : more) object[name] = std::move(value);
    print_line(json::serialize(object));
  }

  bool json_;
  std::shared_ptr<const guardrails::Guardrails> guardrails_;
  guardrails::MessageGate gate_;
  std::array<StreamReport, 2> reports_;
  std::array<std::uint64_t, 2> held_max_{};
  std::set<Channel> finished_;
  std::size_t taken_ = 0;
};

guardrails::DocumentError bad_line(std::size_t line, const Error& error) {
  return {.code = "bad_delta", .message = fmt::format("line {}: {}", line, error.message)};
}

}  // namespace

Result<int> guard_message(const Context& context, const GuardStreamOptions& options) {
  if (options.delta || options.splits || options.tool || options.stage != "output") {
    return fail(ErrorCode::InvalidInput,
                "`--channels` takes its deltas from the input; leave `--delta`, `--splits`, "
                "`--stage` and `--tool` out");
  }
  SALLYPORT_TRY(const GuardConfig config, load_guardrails(context, options.config));
  if (!config.guardrails) return config.exit_code;
  SALLYPORT_TRY(const DryRunText given, read_text(context, options.text_file, kLargestMessage));
  if (given.exit_code != 0) return given.exit_code;
  MessageRun run(context, config.guardrails);
  std::string_view rest = given.text;
  for (std::size_t number = 1; !rest.empty() && !run.blocked(); ++number) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (trimmed(line).empty()) continue;
    const Result<MessageDelta> delta = guardrails::read_message_delta(line);
    if (!delta) return report_error(context, bad_line(number, delta.error()));
    if (const Result<void> taken = run.take(*delta); !taken) {
      return report_error(context, bad_line(number, taken.error()));
    }
  }
  if (!run.blocked()) SALLYPORT_CHECK_OK(run.finish());
  run.print_end();
  return run.blocked() ? 1 : 0;
}

}  // namespace sallyport::app
