#include "guards/guardrail_guards.h"

#include <algorithm>
#include <boost/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sallyport::guards {

namespace {

using guardrails::Evaluation;
using guardrails::Guardrails;
using guardrails::Stage;

core::GuardTraits traits_of(std::string name, const Guardrails& guardrails) {
  return {.name = std::move(name),
          .settings = json::object{{"config_hash", guardrails.document().config_hash}}};
}

// A stream of text pieces is one text, because a match may lie across pieces.
std::optional<std::string> joined_text(const Envelope& stream) {
  const auto is_text = [](const json::value& chunk) { return chunk.is_string(); };
  if (!std::ranges::all_of(stream.chunks, is_text)) return std::nullopt;
  std::string text;
  for (const json::value& chunk : stream.chunks) text += chunk.get_string();
  return text;
}

// Checks the parts of an envelope one by one and writes them back.
class EnvelopeLook {
 public:
  EnvelopeLook(const Guardrails& guardrails, std::string_view tool, Envelope envelope)
      : guardrails_(guardrails), tool_(tool), envelope_(std::move(envelope)) {}

  void run() {
    switch (envelope_.kind) {
      case Envelope::Kind::Value:
        return look_at_value(envelope_.value);
      case Envelope::Kind::Error:
        look_at_text(envelope_.message);
        if (!envelope_.data.is_null()) look_at_value(envelope_.data);
        return;
      case Envelope::Kind::Stream:
        return look_at_stream();
    }
  }

  const std::vector<Evaluation>& seen() const { return seen_; }
  const Envelope& envelope() const { return envelope_; }

 private:
  void look_at_value(json::value& value) {
    if (value.is_string()) {
      std::string text(value.get_string());
      look_at_text(text);
      value = text;
      return;
    }
    Evaluation evaluation =
        guardrails_.evaluate({.stage = Stage::ToolOutput, .value = &value, .tool = tool_});
    if (evaluation.value) value = *evaluation.value;
    seen_.push_back(std::move(evaluation));
  }

  void look_at_text(std::string& text) {
    Evaluation evaluation =
        guardrails_.evaluate({.stage = Stage::ToolOutput, .text = text, .tool = tool_});
    if (evaluation.text) text = *evaluation.text;
    seen_.push_back(std::move(evaluation));
  }

  void look_at_stream() {
    if (std::optional<std::string> text = joined_text(envelope_)) {
      look_at_text(*text);
      if (seen_.back().text) envelope_.chunks = {json::value(*text)};
      return;
    }
    json::value chunks(json::array(envelope_.chunks.begin(), envelope_.chunks.end()));
    look_at_value(chunks);
    if (seen_.back().value) {
      envelope_.chunks.assign(chunks.get_array().begin(), chunks.get_array().end());
    }
  }

  const Guardrails& guardrails_;
  std::string_view tool_;
  Envelope envelope_;
  std::vector<Evaluation> seen_;
};

// Why a call is refused, with the replacement that the check configures (GR-36).
std::string refusal_of(const Guardrails& guardrails, const guardrails::Decision& decision) {
  std::string reason = decision.reason.value_or("");
  const auto& own = guardrails.document().checks.at(decision.check_index).replacement;
  if (own && !own->empty()) reason += ": " + *own;
  return reason;
}

}  // namespace

ToolUseGuardrails::ToolUseGuardrails(std::shared_ptr<const Guardrails> guardrails,
                                     Excerpts excerpts)
    : guardrails_(std::move(guardrails)),
      excerpts_(excerpts),
      traits_(traits_of("guardrails", *guardrails_)) {}

Task<Verdict> ToolUseGuardrails::judge(const Call& call, const core::GuardContext&) const {
  co_return look_at(call);
}

Verdict ToolUseGuardrails::look_at(const Call& call) const {
  const Evaluation seen =
      guardrails_->evaluate({.stage = Stage::ToolUse,
                             .value = &call.input,
                             .received = call.raw_input ? *call.raw_input : std::string_view(),
                             .tool = std::string_view(call.tool)});
  Verdict verdict;
  if (seen.verdict == guardrails::Verdict::Block) {
    verdict = Verdict::deny(refusal_of(*guardrails_, *seen.decision), seen.decision->check);
  } else if (seen.verdict == guardrails::Verdict::Redact && call.raw_input) {
    // A redaction would also change numbers that only the received text holds.
    verdict = Verdict::deny("guardrail: what was found cannot be taken out of these arguments",
                            first_label(seen, guardrails::Action::Redact));
  } else if (seen.verdict == guardrails::Verdict::Redact) {
    verdict = Verdict::rewrite(*seen.value, "redacted by guardrails",
                               first_label(seen, guardrails::Action::Redact));
  }
  verdict.evidence = evidence_of(*guardrails_, {seen});
  verdict.findings = findings_of(*guardrails_, {seen}, excerpts_, call.tool);
  return verdict;
}

ToolOutputGuardrails::ToolOutputGuardrails(std::shared_ptr<const Guardrails> guardrails,
                                           Excerpts excerpts)
    : guardrails_(std::move(guardrails)),
      excerpts_(excerpts),
      traits_(traits_of("guardrails-output", *guardrails_)) {
  traits_.rewrites = true;
}

Task<Verdict> ToolOutputGuardrails::judge(const Envelope& result,
                                          const ResultContext& context) const {
  co_return look_at(result, context.tool);
}

Verdict ToolOutputGuardrails::look_at(const Envelope& result, std::string_view tool) const {
  EnvelopeLook look(*guardrails_, tool, result);
  look.run();
  const auto of_kind = [&](guardrails::Verdict kind) {
    return std::ranges::find(look.seen(), kind, &Evaluation::verdict);
  };
  Verdict verdict;
  if (const auto blocked = of_kind(guardrails::Verdict::Block); blocked != look.seen().end()) {
    const std::string& replacement = blocked->decision->replacement;
    verdict =
        Verdict::deny(replacement.empty() ? "withheld" : replacement, blocked->decision->check);
    // The record has the reason of a block. The agent gets the configured replacement, which may be
    // empty (GR-17).
    if (replacement.empty()) verdict.value = "Result withheld by " + traits_.name + ": ";
  } else if (const auto redacted = of_kind(guardrails::Verdict::Redact);
             redacted != look.seen().end()) {
    verdict = Verdict::rewrite(look.envelope().to_json(), {},
                               first_label(*redacted, guardrails::Action::Redact));
  }
  verdict.evidence = evidence_of(*guardrails_, look.seen());
  verdict.findings = findings_of(*guardrails_, look.seen(), excerpts_, tool);
  return verdict;
}

}  // namespace sallyport::guards
