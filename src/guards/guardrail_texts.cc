#include "guards/guardrail_texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <utility>

#include "guardrails/stream/gate.h"

namespace sallyport::guards {

namespace {

using guardrails::Action;
using guardrails::Guardrails;
using guardrails::Stage;

Stage stage_of(core::TextStage stage) {
  switch (stage) {
    case core::TextStage::Input:
      return Stage::Input;
    case core::TextStage::Output:
      return Stage::Output;
    case core::TextStage::ToolUse:
      return Stage::ToolUse;
    case core::TextStage::ToolOutput:
      break;
  }
  return Stage::ToolOutput;
}

core::TextBlock block_of(const std::string& check, const std::string& code,
                         const std::string& notice) {
  return {.notice = notice,
          .reason = fmt::format("guardrail check '{}' ({})", check, code),
          .check = check,
          .reason_code = code};
}

json::array to_json(const std::vector<guardrails::Coverage>& coverage) {
  json::array list;
  for (const guardrails::Coverage& check : coverage) list.push_back(guardrails::to_json(check));
  return list;
}

// No value: every check of answers has the view already.
std::optional<guardrails::Document> with_json_view(guardrails::Document document) {
  bool changed = false;
  for (guardrails::Check& check : document.checks) {
    const bool reads_text = check.type == guardrails::CheckType::Regex ||
                            check.type == guardrails::CheckType::Blocklist;
    const bool has = std::ranges::binary_search(check.views, guardrails::View::Json);
    if (check.stage != Stage::Output || !reads_text || has) continue;
    check.views.push_back(guardrails::View::Json);
    std::ranges::sort(check.views);
    changed = true;
  }
  return changed ? std::optional(std::move(document)) : std::nullopt;
}

// Shares the checks; the gate keeps alive what it needs of them.
class GatedText final : public core::GuardedText {
 public:
  GatedText(std::shared_ptr<const Guardrails> guardrails, Stage stage,
            std::unique_ptr<guardrails::TextGate> gate, Excerpts excerpts)
      : guardrails_(std::move(guardrails)),
        stage_(stage),
        gate_(std::move(gate)),
        excerpts_(excerpts) {}

  core::PassedText push(std::string_view delta) override { return text_of(gate_->push(delta)); }
  core::PassedText finish() override { return text_of(gate_->finish()); }
  std::uint64_t held() const override { return gate_->held(); }
  json::array coverage() const override { return to_json(gate_->coverage()); }

 private:
  core::PassedText text_of(Result<guardrails::Passed> passed) {
    core::PassedText out;
    if (!passed) {  // pushed behind its end: nothing leaves
      out.block = block_of("", "guardrail.engine_error",
                           std::string(default_replacement(stage_, Action::Block)));
      return out;
    }
    for (guardrails::Piece& piece : passed->pieces) {
      const bool replaced = !piece.checks.empty();
      released_ += piece.text.size();
      for (const std::size_t check : piece.checks) out.findings.push_back(redaction(check, piece));
      out.pieces.push_back({piece.start, piece.end, std::move(piece.text), replaced});
    }
    for (const guardrails::Hit& hit : passed->logs) out.findings.push_back(found(hit));
    if (passed->block) {
      out.findings.push_back(found(*passed->block));
      out.block = block_of(passed->block->check, passed->block->reason_code,
                           passed->block->replacement.value_or(
                               std::string(default_replacement(stage_, Action::Block))));
    }
    return out;
  }

  Finding found(const guardrails::Hit& hit) const {
    return finding_of(*guardrails_, hit, nullptr, released_, excerpts_);
  }

  Finding redaction(std::size_t check, const guardrails::Piece& piece) const {
    const guardrails::Check& of = guardrails_->document().checks.at(check);
    return found({.check_index = check,
                  .check = of.label,
                  .check_id = of.id,
                  .stage = stage_,
                  .rule_type = of.type,
                  .action = Action::Redact,
                  .on_fail = of.on_fail,
                  .severity = of.severity,
                  .reason_code = std::string(reason_code_of(of.type)),
                  .replacement = of.replacement,
                  .start = piece.start,
                  .end = piece.end});
  }

  std::shared_ptr<const Guardrails> guardrails_;
  Stage stage_;
  std::unique_ptr<guardrails::TextGate> gate_;
  Excerpts excerpts_;
  std::uint64_t released_ = 0;
};

}  // namespace

bool GuardrailTexts::enforces(core::TextStage stage) const {
  const guardrails::Document& document = guardrails_->document();
  if (document.mode == guardrails::Mode::Advisory) return false;
  return std::ranges::any_of(document.checks, [&](const guardrails::Check& check) {
    return check.stage == stage_of(stage) && check.on_fail != Action::Log;
  });
}

std::unique_ptr<core::GuardedText> GuardrailTexts::arm(core::TextStage stage,
                                                       std::optional<std::string_view> tool) const {
  std::unique_ptr<guardrails::TextGate> gate = guardrails_->arm(stage_of(stage), tool);
  if (!gate) return nullptr;
  return std::make_unique<GatedText>(guardrails_, stage_of(stage), std::move(gate), excerpts_);
}

core::PassedText GuardrailTexts::look_at(core::TextStage stage, std::string_view text,
                                         std::optional<std::string_view> tool) const {
  const guardrails::Evaluation seen =
      guardrails_->evaluate({.stage = stage_of(stage), .text = text, .tool = tool});
  core::PassedText out;
  out.findings = findings_of(*guardrails_, {seen}, excerpts_, tool);
  if (seen.verdict == guardrails::Verdict::Block) {
    out.block =
        block_of(seen.decision->check, seen.decision->reason_code, seen.decision->replacement);
    return out;
  }
  const bool redacted = seen.verdict == guardrails::Verdict::Redact;
  out.pieces.push_back({0, text.size(), redacted ? *seen.text : std::string(text), redacted});
  return out;
}

core::CheckedCall GuardrailTexts::look_at_call(std::string_view tool, const json::value& input,
                                               const std::optional<std::string>& received) const {
  const guardrails::Evaluation seen =
      guardrails_->evaluate({.stage = Stage::ToolUse,
                             .value = &input,
                             .received = received ? *received : std::string_view(),
                             .tool = tool});
  core::CheckedCall out;
  out.findings = findings_of(*guardrails_, {seen}, excerpts_, tool);
  if (seen.verdict == guardrails::Verdict::Block) {
    out.block =
        block_of(seen.decision->check, seen.decision->reason_code, seen.decision->replacement);
    out.block->reason = seen.decision->reason.value_or(out.block->reason);
  }
  if (seen.verdict == guardrails::Verdict::Redact) out.rewritten = seen.value;
  return out;
}

Result<std::shared_ptr<const core::StreamGuard>> GuardrailTexts::for_json_answers() const {
  using Made = Result<std::shared_ptr<const core::StreamGuard>>;
  return for_json_.with([&](ForJson& made) -> Made {
    if (made) return *made;
    std::optional<guardrails::Document> document = with_json_view(guardrails_->document());
    if (!document) return *(made = Made(nullptr));
    auto compiled = Guardrails::compile(std::move(*document), guardrails_->generation());
    if (!compiled) return *(made = Made(fail(ErrorCode::InvalidInput, compiled.error().message)));
    return *(made = Made(std::make_shared<const GuardrailTexts>(std::move(*compiled), excerpts_)));
  });
}

json::array GuardrailTexts::coverage(core::TextStage stage,
                                     std::optional<std::string_view> tool) const {
  return to_json(guardrails_->coverage_of_stream(stage_of(stage), tool));
}

}  // namespace sallyport::guards
