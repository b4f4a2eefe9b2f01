// A document with everything that was made from it when it was compiled. Immutable, but for plans
// that are made when a tool first asks for them.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/guarded.h"
#include "guardrails/check/check_set.h"
#include "guardrails/check/guardrails.h"
#include "guardrails/document/document.h"

namespace sallyport::guardrails {

struct Compiled {
  Document document{};
  Report report{};
  std::uint64_t generation = 1;
  // The checks of a stage that look at texts.
  std::array<std::shared_ptr<const CheckSet>, 4> stages{};

  const std::shared_ptr<const CheckSet>& stage(Stage stage) const {
    return stages[static_cast<std::size_t>(stage)];
  }
  // The plan for some checks of a stage only, so that the others hold no text.
  std::shared_ptr<const CheckSet> plan_for(Stage stage,
                                           const std::vector<std::uint32_t>& checks) const;
  // For such plans, so that nothing is read twice.
  void keep(std::vector<ParsedCheck> parsed);

 private:
  static constexpr std::size_t kMostNarrowed = 32;
  struct Narrowed {
    std::vector<ParsedCheck> parsed{};  // those that were needed; one for each check, or none yet
    std::map<std::vector<std::uint32_t>, std::shared_ptr<const CheckSet>> plans{};
  };
  mutable Guarded<Narrowed> narrowed_;
};

// The regex and blocklist checks of a stage.
std::vector<std::uint32_t> checks_of_texts(const Document& document, Stage stage);

// Which checks look, and why others do not; apart from `args` (GR-62).
std::vector<Coverage> coverage_of(const Document& document, Stage stage,
                                  std::optional<std::string_view> tool,
                                  const std::function<bool(std::size_t)>& skip);

// A hit of a check, without what was matched.
Hit hit_of(const Document& document, std::size_t check);
// That of the first check that should have looked when the engine failed. It blocks in every mode
// (GR-75). No value: none should.
std::optional<Hit> hit_of_failure(const Document& document, const std::vector<Coverage>& coverage);
// What the user sees where a check blocks.
std::string block_replacement(const Check& check);

}  // namespace sallyport::guardrails
