// The declarative checks at the two doors of a call. Each finding is a separate entry, and the
// record of the call says which checks ran.
#pragma once

#include <memory>

#include "core/plan/guard.h"
#include "guardrails/check/guardrails.h"
#include "guards/guardrail_records.h"

namespace sallyport::guards {

// Stage `tool_use`: refuses the call, or redacts its arguments.
class ToolUseGuardrails final : public core::Guard {
 public:
  explicit ToolUseGuardrails(std::shared_ptr<const guardrails::Guardrails> guardrails,
                             Excerpts excerpts = Excerpts::Withheld);
  const core::GuardTraits& traits() const override { return traits_; }
  Task<Verdict> judge(const Call& call, const core::GuardContext& context) const override;

 private:
  Verdict look_at(const Call& call) const;

  std::shared_ptr<const guardrails::Guardrails> guardrails_;
  Excerpts excerpts_;
  core::GuardTraits traits_;
};

// Stage `tool_output`: withholds the result, or redacts it.
class ToolOutputGuardrails final : public core::ResultGuard {
 public:
  explicit ToolOutputGuardrails(std::shared_ptr<const guardrails::Guardrails> guardrails,
                                Excerpts excerpts = Excerpts::Withheld);
  const core::GuardTraits& traits() const override { return traits_; }
  Task<Verdict> judge(const Envelope& result, const ResultContext& context) const override;

  // The same without a coroutine. An empty `tool` means unknown.
  Verdict look_at(const Envelope& result, std::string_view tool) const;

 private:
  std::shared_ptr<const guardrails::Guardrails> guardrails_;
  Excerpts excerpts_;
  core::GuardTraits traits_;
};

}  // namespace sallyport::guards
