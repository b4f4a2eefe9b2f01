#include "agent/model/model_round.h"

#include <fmt/format.h>

#include <algorithm>

#include "agent/run/request_texts.h"
#include "base/cut_text.h"
#include "base/digest.h"
#include "base/encoding.h"
#include "base/uuid.h"
#include "base/without_secret.h"
#include "core/record/finding.h"
#include "core/record/plain_text.h"
#include "proxy/budgets.h"

namespace sallyport::agent {

namespace {

constexpr std::size_t kMostFindings = 256;
constexpr std::uint64_t kEstimatedBytesPerToken = 4;

RuntimeError denied(std::string message) {
  return {RuntimeError::Kind::OperationDenied, std::move(message)};
}

bool is_cancel(const ProviderError& error) {
  return error.kind == ProviderError::Kind::Transport && error.message == kCancelled;
}

}  // namespace

ModelRound::ModelRound(RuntimeParts& parts, Model& model, RunControl& control, Asker asker,
                       Options options)
    : parts_(parts),
      model_(model),
      control_(control),
      options_(std::move(options)),
      plan_(parts.plans.current()),
      started_(parts.clock.steady()) {
  record_.request_id = uuid7_text(parts.clock, parts.entropy);
  record_.agent_id = std::move(asker.agent_id);
  record_.session_id = std::move(asker.session_id);
  record_.run_id = std::move(asker.run_id);
  record_.trace_id = std::move(asker.trace_id);
  record_.api = model.api();
  record_.route = "agent";
  record_.stream = true;
  record_.upstream = model.upstream();
  record_.policy_hash = plan_->hash();
  if (plan_->stream_guard()) record_.generation = plan_->stream_guard()->generation();
}

Async<std::expected<ModelAnswer, NoAnswer>> ModelRound::run(ModelRequest request) {
  record_.model = record_.upstream_model = request.model;
  Ended ended = co_await check_request(request);
  if (!ended) ended = reserve(request);
  if (!ended) ended = co_await open(request);
  if (!ended) ended = co_await read();
  if (!ended) ended = co_await commit();
  stream_.reset();
  co_await conclude(ended);
  if (ended) co_return std::unexpected(std::move(*ended));
  co_return std::move(answer_);
}

Async<void> ModelRound::emit(Event event) {
  // A failed write is owed to the ledger and stops the next announcement.
  (void)co_await parts_.events.emit(std::move(event), record_.subject());
}

void ModelRound::add_findings(std::vector<Finding> findings, std::string_view channel) {
  for (Finding& finding : findings) {
    if (findings_.size() >= kMostFindings) return record_.degrade("findings_cut");
    finding.body["channel"] = channel;
    findings_.push_back(core::finding_row(std::move(finding), record_.subject()));
  }
}

Async<NoAnswer> ModelRound::refuse(core::TextBlock block) {
  co_await emit(event::PolicyDenied{
      .agent_id = record_.agent_id, .tool_name = "model:" + record_.model, .reason = block.reason});
  NoAnswer none{.error = denied(block.reason)};
  none.block = std::move(block);
  co_return none;
}

// Checks that the policy allows the model, and runs its checks on texts of people and memory.
Async<ModelRound::Ended> ModelRound::check_request(ModelRequest& request) {
  if (!plan_->model_rules().may_use(record_.agent_id, request.model)) {
    core::TextBlock block{.reason = fmt::format("agent `{:.200}` may not use model `{:.200}`",
                                                record_.agent_id, request.model),
                          .check = "model.allow"};
    block.notice = block.reason;
    co_return co_await refuse(std::move(block));
  }
  CheckedTexts checked = check_texts(request, plan_->stream_guard().get());
  input_tokens_ = checked.bytes / kEstimatedBytesPerToken;
  record_.changes = checked.changes;
  record_.bytes_in = checked.bytes;
  add_findings(std::move(checked.findings), "input");
  add_findings(std::move(checked.tool_findings), "tools");
  if (checked.tools_withheld > 0) record_.degrade("tools_withheld");
  if (checked.recall_withheld) record_.degrade("recall_withheld");
  if (checked.block) co_return co_await refuse(std::move(*checked.block));
  record_.request = request_text(request);
  record_.request_digest = parts_.digest(record_.request);
  co_return std::nullopt;
}

// Reserves the budget of the agent, as for requests through the proxy (MP-70 to MP-73).
ModelRound::Ended ModelRound::reserve(const ModelRequest& request) {
  const proxy::Budgets budgets(plan_->model_rules(),
                               {record_.agent_id, record_.model, record_.session_id},
                               parts_.clock.wall());
  if (!budgets.any()) return std::nullopt;
  if (budgets.count_cost()) {
    return NoAnswer{.error = denied("a budget of the policy counts dollars, and our own agent "
                                    "knows no prices; let it use the model proxy of `serve`")};
  }
  reservation_ = budgets.reserve(record_.request_id, {.input_tokens = input_tokens_,
                                                      .output_tokens = request.max_output_tokens});
  reserved_ = true;
  return std::nullopt;
}

// Announces the attempt. The event is durable before the attempt is made.
Async<ModelRound::Ended> ModelRound::announce() {
  if (std::optional<Abort> abort = control_.take_attempt()) co_return NoAnswer{.abort = *abort};
  const std::uint64_t number = record_.attempts + 1;
  core::BesideEvent beside;
  beside.facts.push_back(proxy::open_request(record_, number, parts_.recorder.instance_id()));
  if (reservation_) beside.changes.push_back(std::exchange(reservation_, nullptr));
  const Result<void> emitted = co_await parts_.events.emit(
      event::ModelRequestStarted{
          .agent_id = record_.agent_id, .model = record_.model, .attempt = number},
      record_.subject(), std::move(beside));
  if (emitted) {
    record_.attempts = number;
    co_return std::nullopt;
  }
  if (emitted.error().code == ErrorCode::Exhausted) {
    co_return NoAnswer{.error = denied("model budget: " + emitted.error().message)};
  }
  const bool hook = emitted.error().cause == "hook";
  co_return NoAnswer{
      .error = RuntimeError{hook ? RuntimeError::Kind::OperationDenied : RuntimeError::Kind::Store,
                            emitted.error().message}};
}

Async<ModelRound::Ended> ModelRound::open(ModelRequest& request) {
  while (true) {
    if (Ended ended = co_await announce()) co_return ended;
    request.attempt = record_.attempts;
    auto opened = co_await model_.open(request, control_.stop());
    record_.credential = model_.credential().empty() ? "none" : "agent";
    std::optional<std::string> error;
    if (!opened) error = without_key(text_of(opened.error()));
    co_await emit(event::ModelRequestFinished{.agent_id = record_.agent_id,
                                              .model = record_.model,
                                              .attempt = record_.attempts,
                                              .success = !error,
                                              .error = std::move(error)});
    if (opened) {
      stream_ = std::move(*opened);
      opened_ = true;
      co_return std::nullopt;
    }
    if (Ended ended = co_await after_failed_attempt(opened.error())) co_return ended;
  }
}

// No value: the wait before the next attempt is over (EV-99 to EV-103).
Async<ModelRound::Ended> ModelRound::after_failed_attempt(const ProviderError& error) {
  if (std::optional<Abort> abort = control_.ended()) co_return NoAnswer{.abort = *abort};
  const RetrySchedule schedule(options_.retry);
  const auto wait = is_transient(error)
                        ? schedule.before(record_.attempts + 1, asked_wait(error), parts_.entropy)
                        : std::nullopt;
  if (!wait) co_return failed(RuntimeError::Kind::SendRequest, error);
  if (control_.outlasts(*wait)) {
    control_.end(core::AbortCause::DeadlineExceeded,
                 fmt::format("the next attempt is due in {} ms", wait->count()));
  } else {
    (void)co_await parts_.wait(*wait, control_.stop());
  }
  if (std::optional<Abort> abort = control_.ended()) co_return NoAnswer{.abort = *abort};
  co_return std::nullopt;
}

ModelRound::Ended ModelRound::failed(RuntimeError::Kind kind, const ProviderError& error) const {
  return NoAnswer{.error = RuntimeError{kind, without_key(text_of(error)), error}};
}

std::optional<core::TextBlock> ModelRound::take_text(core::PassedText passed) {
  add_findings(std::move(passed.findings), "output");
  std::string text = passed.text();
  if (passed.changed()) ++record_.changes;
  record_.bytes_out += text.size();
  answer_.text += text;
  if (options_.on_text && !text.empty()) options_.on_text(text);
  return std::move(passed.block);
}

Async<ModelRound::Ended> ModelRound::read() {
  const auto& guard = plan_->stream_guard();
  const std::unique_ptr<core::GuardedText> checks =
      guard ? guard->arm(core::TextStage::Output, std::nullopt) : nullptr;
  std::optional<core::TextBlock> block;
  std::optional<ProviderError> error;
  bool ended = false;
  while (!block && !error && !ended) {
    const auto event = co_await stream_->next();
    if (!event) {
      error = event.error();
    } else if (!*event) {
      ended = true;
      if (checks) block = take_text(checks->finish());
    } else {
      const auto added = builder_.add(**event);
      if (!added) error = added.error();
      const auto* const delta = std::get_if<TextDelta>(&**event);
      if (!error && delta != nullptr && checks) {
        block = take_text(checks->push(delta->text));
        record_.held_max = std::max(record_.held_max, checks->held());
      } else if (!error && delta != nullptr) {
        block = take_text({.pieces = {{0, delta->text.size(), delta->text, false}}});
      }
    }
  }
  if (checks) record_.coverage["output"] = checks->coverage();
  record_.provider_request_id = stream_->provider_request_id();
  estimate_usage();
  if (block) {
    NoAnswer none = co_await refuse(std::move(*block));
    none.answered = true;
    co_await emit_response(false, none.error->message);
    co_return none;
  }
  if (!error) co_return std::nullopt;
  co_await emit_response(false, without_key(text_of(*error)));
  if (!answer_.text.empty() || !builder_.calls().empty())
    record_.degrade("partial_message_dropped");
  if (std::optional<Abort> abort = control_.ended(); abort || is_cancel(*error)) {
    co_return NoAnswer{.abort = abort.value_or(Abort{core::AbortCause::Cancelled})};
  }
  co_return failed(RuntimeError::Kind::StreamResponse, *error);
}

// Never zero: budgets also count answers for which the provider reports no usage.
void ModelRound::estimate_usage() {
  if (builder_.usage() && *builder_.usage() != Usage{}) {
    answer_.usage = *builder_.usage();
    record_.usage_source = "reported";
  } else {
    answer_.usage = {.input_tokens = std::max<std::uint64_t>(input_tokens_, 1),
                     .output_tokens = stream_->bytes() / kEstimatedBytesPerToken};
    record_.usage_source = "estimated";
  }
  record_.usage = answer_.usage;
  control_.add(answer_.usage);
}

Async<ModelRound::Ended> ModelRound::commit() {
  answer_.calls = builder_.calls();
  answer_.stop_reason = builder_.stop_reason();
  answer_.at_limit = builder_.at_limit();
  record_.stop_reason = answer_.stop_reason;
  Result<void> committed;
  if (options_.commit) committed = co_await options_.commit(answer_);
  for (const ModelCall& call : answer_.calls) record_.calls.push_back({call.id, "", "own_agent"});
  if (!committed) {
    co_await emit_response(false, committed.error().message);
    if (std::optional<Abort> abort = control_.ended()) co_return NoAnswer{.abort = *abort};
    co_return NoAnswer{.error = RuntimeError{RuntimeError::Kind::Store, committed.error().message}};
  }
  co_await emit_response(true, std::nullopt);
  co_return std::nullopt;
}

Async<void> ModelRound::emit_response(bool success, std::optional<std::string> error) {
  event::ModelResponseFinished finished{.agent_id = record_.agent_id,
                                        .model = record_.model,
                                        .attempt = record_.attempts,
                                        .success = success,
                                        .error = std::move(error)};
  if (success && !answer_.stop_reason.empty()) finished.stop_reason = answer_.stop_reason;
  if (record_.usage_source == "reported") finished.usage = answer_.usage;
  co_await emit(std::move(finished));
}

Async<void> ModelRound::conclude(const Ended& ended) {
  using proxy::Outcome;
  record_.outcome = Outcome::Completed;
  if (ended && ended->block) {
    record_.outcome = opened_ ? Outcome::Blocked : Outcome::Refused;
    record_.reason = ended->block->reason;
  } else if (ended && ended->abort) {
    record_.outcome = Outcome::Cancelled;
    record_.reason = ended->abort->reason();
  } else if (ended) {
    record_.outcome = Outcome::Failed;
    record_.reason = ended->error->message;
  }
  if (opened_) record_.released = hex(sha256(answer_.text));
  record_.status = opened_ ? 200 : 0;
  record_.duration_ms = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(parts_.clock.steady() - started_)
          .count());
  core::Draft draft = record_.draft();
  if (reserved_) {
    draft.changes.push_back(proxy::Budgets::settle(
        record_.request_id, {.input_tokens = answer_.usage.input_tokens.value_or(0),
                             .output_tokens = answer_.usage.output_tokens.value_or(0)}));
  }
  std::vector<core::Draft> drafts = std::move(findings_);
  drafts.push_back(std::move(draft));
  const auto written = co_await parts_.recorder.append(drafts, core::Urgency::Reports);
  // A record that does not fit into an entry would be owed forever.
  if (!written && written.error().code != ErrorCode::InvalidInput) {
    parts_.recorder.owe(std::move(drafts));
  }
}

std::string ModelRound::without_key(std::string text) const {
  text = without_secret(std::move(text), model_.credential());
  return cut_utf8_bytes(core::plain_text(parts_.redactor, std::move(text)), 4096);
}

}  // namespace sallyport::agent
