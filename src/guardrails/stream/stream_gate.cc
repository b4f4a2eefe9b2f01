#include "guardrails/stream/stream_gate.h"

#include <exception>
#include <utility>

#include "guardrails/check/text_redaction.h"

namespace sallyport::guardrails {

namespace {

std::string reason_of(match::Hit::Why why, CheckType type) {
  switch (why) {
    case match::Hit::Why::Match:
      return std::string(reason_code_of(type));
    case match::Hit::Why::HoldLimit:
      return "guardrail.holdback_limit";
    case match::Hit::Why::Truncated:
      return "guardrail.decode_limit";
    default:
      return "guardrail.engine_error";
  }
}

}  // namespace

StreamGate::StreamGate(std::shared_ptr<const Compiled> compiled, Stage stage,
                       std::vector<Coverage> coverage)
    : compiled_(std::move(compiled)), coverage_(std::move(coverage)) {
  try {
    open(stage);
  } catch (const std::exception&) {
    stream_.reset();  // the first delta is blocked
  }
}

void StreamGate::open(Stage stage) {
  std::vector<std::uint32_t> looking;
  match::StreamOptions options{.most_held = compiled_->document.max_hold_bytes};
  options.replacements.clear();
  for (const Coverage& check : coverage_) {
    if (check.skipped) continue;
    looking.push_back(static_cast<std::uint32_t>(check.check_index));
    options.replacements.push_back(redaction_of(compiled_->document.checks[check.check_index]));
  }
  set_ = compiled_->check_set_for(stage, looking);
  std::unique_ptr<Views> views;
  if (!set_->groups.empty()) views = std::make_unique<Views>(*set_, options.most_held);
  views_ = views.get();
  stream_.emplace(set_->raw, std::move(options), std::move(views));
}

template <class Step>
Passed StreamGate::pass(Step step) {
  if (!stream_) return fail_closed();
  try {
    auto output = step();
    if (!output) return fail_closed();
    Passed passed = passed_of(std::move(*output));
    blocked_ = passed.block.has_value();
    return passed;
  } catch (const std::exception&) {
    return fail_closed();
  }
}

Result<Passed> StreamGate::push(std::string_view delta) {
  if (finished_) return fail(ErrorCode::Conflict, "the stream is finished, no text can follow");
  if (blocked_) return Passed{};
  bytes_in_ += delta.size();
  return pass([&] { return stream_->push(delta); });
}

Result<Passed> StreamGate::finish() {
  if (finished_) return fail(ErrorCode::Conflict, "the stream is finished already");
  finished_ = true;
  if (blocked_) return Passed{};
  return pass([&] { return stream_->finish(); });
}

Passed StreamGate::passed_of(match::Output output) const {
  Passed passed;
  for (match::Piece& piece : output.pieces) {
    Piece& out = passed.pieces.emplace_back(piece.start, piece.end, std::move(piece.text));
    for (const std::uint32_t rule : piece.rules) out.checks.push_back(set_->checks[rule]);
  }
  for (const match::Hit& hit : output.logs) passed.logs.push_back(hit_of_stream(hit));
  if (output.block) {
    Hit hit = hit_of_stream(*output.block);
    hit.action = Action::Block;
    hit.replacement = block_replacement(compiled_->document.checks[hit.check_index]);
    passed.block = std::move(hit);
  }
  return passed;
}

Hit StreamGate::hit_of_stream(const match::Hit& found) const {
  const std::size_t index = set_->checks[found.rule];
  const Check& check = compiled_->document.checks[index];
  Hit hit = hit_of(compiled_->document, index);
  hit.reason_code = reason_of(found.why, check.type);
  if (found.entry != match::kNoEntry) hit.entry = check.entries[found.entry];
  hit.start = found.start;
  hit.end = found.end;
  hit.at = found.at;
  if (found.why == match::Hit::Why::Match && found.start) hit.matched = found.matched;
  if (found.why == match::Hit::Why::Match || found.why == match::Hit::Why::Truncated) {
    hit.view = set_->view_name(found.rule, found.reading);
  }
  return hit;
}

// Blocks the stream after an engine failure. Nothing more leaves (GR-75).
Passed StreamGate::fail_closed() {
  stream_.reset();
  blocked_ = true;
  Passed passed;
  passed.block = hit_of_failure(compiled_->document, coverage_);
  passed.block->replacement =
      block_replacement(compiled_->document.checks[passed.block->check_index]);
  passed.block->at = bytes_in_;
  return passed;
}

std::uint64_t StreamGate::held() const {
  return stream_ ? stream_->held() : 0;
}

std::uint64_t StreamGate::invalid_utf8() const {
  return stream_ ? stream_->invalid_utf8() : 0;
}

std::vector<Coverage> StreamGate::coverage() const {
  std::vector<Coverage> all = coverage_;
  if (!stream_ || views_ == nullptr) return all;
  for (std::uint32_t rule = 0; rule < set_->checks.size(); ++rule) {
    all[set_->checks[rule]].decode_truncated = views_->truncated(rule);
  }
  return all;
}

std::size_t StreamGate::state_bytes() const {
  return sizeof(StreamGate) + (stream_ ? stream_->state_bytes() - sizeof(match::Stream) : 0);
}

}  // namespace sallyport::guardrails
