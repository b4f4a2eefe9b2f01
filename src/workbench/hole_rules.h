// Finds the holes of an input that the rules of a policy read, and whether a comparison in the
// policy could distinguish the words that a hole may have held (WB-38).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "effects/effect.h"
#include "effects/tool_effects.h"
#include "guardrails/check/hole_search.h"
#include "rules/rule_set.h"
#include "workbench/call_trial.h"

namespace sallyport::app {

// The texts of an input that have holes, by JSON Pointer.
using HoleTexts = std::map<std::string, std::vector<guardrails::TextPiece>>;

class HoleRules {
 public:
  // `trial` has the first word of its form in each hole. All three must outlive it.
  // `by_digest`: holes with a value that the policy names are filled with it, so every other one is
  // another value.
  HoleRules(const CallTrial& trial, const rules::RuleSet& set, const HoleTexts& texts,
            bool by_digest);

  // True if a rule depends on a hole.
  bool looks() const { return !looked_at_.empty(); }
  // True if a hole is part of the path of an effect.
  bool in_a_path() const;

  struct Doubt {
    std::string path{};  // of the text
    std::string why{};
  };
  // A comparison that some words of the form pass and others do not. No value: whether a rule
  // matches depends only on the kinds of words that `guardrails::filled` tries.
  std::optional<Doubt> doubt() const;

 private:
  using Pieces = std::vector<guardrails::TextPiece>;
  struct Token {
    Pieces pieces{};
    const std::string* path = nullptr;
  };
  std::optional<Doubt> doubt_of(const rules::Argument& argument) const;
  std::optional<Doubt> doubt_of(const rules::Argument& argument, const std::string& path,
                                const Pieces& pieces) const;
  std::optional<Doubt> doubt_of(const effects::Effect& effect) const;
  std::optional<Doubt> doubt_of_host(const effects::EffectHost& host) const;
  std::optional<Doubt> doubt_of_command(const effects::Command& command) const;
  std::optional<Token> token_of(std::string_view text) const;
  std::vector<Token> segments_of(std::string_view text) const;

  const CallTrial& trial_;
  const HoleTexts& texts_;
  bool by_digest_;
  effects::Effects effects_;
  std::set<std::string> looked_at_;                // paths of texts
  std::vector<const rules::Argument*> arguments_;  // of all rules
  std::set<std::string> folders_;                  // segments that paths are compared with
  std::set<std::string> commands_;                 // words that commands are compared with
  bool hosts_ = false;                             // a rule asks for hosts
};

}  // namespace sallyport::app
