// The declarative checks as the StreamGuard of a plan: the stages `input`, `output` and
// `tool_output` of texts between clients and models.
#pragma once

#include <memory>
#include <optional>

#include "base/guarded.h"
#include "core/plan/stream_guard.h"
#include "guardrails/check/guardrails.h"
#include "guards/guardrail_records.h"

namespace sallyport::guards {

class GuardrailTexts final : public core::StreamGuard {
 public:
  explicit GuardrailTexts(std::shared_ptr<const guardrails::Guardrails> guardrails,
                          Excerpts excerpts = Excerpts::Withheld)
      : guardrails_(std::move(guardrails)), excerpts_(excerpts) {}

  bool enforces(core::TextStage stage) const override;
  std::unique_ptr<core::GuardedText> arm(core::TextStage stage,
                                         std::optional<std::string_view> tool) const override;
  core::PassedText look_at(core::TextStage stage, std::string_view text,
                           std::optional<std::string_view> tool) const override;
  core::CheckedCall look_at_call(std::string_view tool, const json::value& input,
                                 const std::optional<std::string>& received) const override;
  // Made when it is first asked for.
  Result<std::shared_ptr<const core::StreamGuard>> for_json_answers() const override;
  json::array coverage(core::TextStage stage, std::optional<std::string_view> tool) const override;
  std::uint64_t generation() const override { return guardrails_->generation(); }

 private:
  std::shared_ptr<const guardrails::Guardrails> guardrails_;
  Excerpts excerpts_;
  using ForJson = std::optional<Result<std::shared_ptr<const core::StreamGuard>>>;
  mutable Guarded<ForJson> for_json_;
};

}  // namespace sallyport::guards
