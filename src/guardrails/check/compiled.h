// A document with everything that was compiled from it. Immutable, except for plans that are made
// when a tool first needs them.
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
  // The checks of each stage that read texts.
  std::array<std::shared_ptr<const CheckSet>, 4> stages{};

  const std::shared_ptr<const CheckSet>& stage(Stage stage) const {
    return stages[static_cast<std::size_t>(stage)];
  }
  // The set for only some checks of a stage, so that the others hold back no text.
  std::shared_ptr<const CheckSet> check_set_for(Stage stage,
                                                const std::vector<std::uint32_t>& checks) const;
  // Keeps parsed checks for such plans, so that none is parsed twice.
  void keep(std::vector<ParsedCheck> parsed);

 private:
  static constexpr std::size_t kMostNarrowed = 32;
  struct Narrowed {
    std::vector<ParsedCheck> parsed{};  // empty, or one for each check
    std::map<std::vector<std::uint32_t>, std::shared_ptr<const CheckSet>> plans{};
  };
  mutable Guarded<Narrowed> narrowed_;
};

// The regex and blocklist checks of a stage.
std::vector<std::uint32_t> checks_of_texts(const Document& document, Stage stage);

// Which checks run, and why others do not; `args` is not considered (GR-62).
std::vector<Coverage> coverage_of(const Document& document, Stage stage,
                                  std::optional<std::string_view> tool,
                                  const std::function<bool(std::size_t)>& skip);

// A hit of a check, without the matched text.
Hit hit_of(const Document& document, std::size_t check);
// The hit of the first check that should have run when the engine failed. It blocks in every mode
// (GR-75). No value: no check should have run.
std::optional<Hit> hit_of_failure(const Document& document, const std::vector<Coverage>& coverage);
// The text that the user sees if a check blocks.
std::string block_replacement(const Check& check);

}  // namespace sallyport::guardrails
