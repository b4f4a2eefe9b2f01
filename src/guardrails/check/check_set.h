// The checks of one stage that run together, as sets of patterns. Immutable once made.
//
// Every check with a list of patterns or words is a rule. All rules are in the set for the raw
// text. Rules with the same views share a group of views. A group has two sets, because in
// normalised views words are searched in their normalised form (GR-37).
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <vector>

#include "guardrails/document/document.h"
#include "guardrails/view/view_list.h"
#include "match/pattern_set.h"

namespace sallyport::guardrails {

// The expressions of a check, parsed once for all sets that contain them.
struct ParsedCheck {
  std::vector<std::shared_ptr<const match::Parsed>> entries{};
  std::vector<std::shared_ptr<const match::Parsed>> exceptions{};
};

match::Expression expression_of(const Check& check, std::string text, bool exception);

// The action that is taken if a check hits.
Action effective_action(const Document& document, const Check& check);

match::Effect effect_of(const Document& document, const Check& check);

// Groups rules with the same views, by their index in `checks`.
std::vector<std::vector<std::uint32_t>> grouped_by_views(const Document& document,
                                                         const std::vector<std::uint32_t>& checks);

struct ViewGroup {
  std::vector<View> normalisers{};
  std::vector<ViewSpec> views{};       // the first is the raw text
  std::vector<std::uint32_t> rules{};  // the rule of the check set, for each rule of the sets below
  std::shared_ptr<const match::PatternSet> plain{};
  std::shared_ptr<const match::PatternSet> normalised{};
  // The index of the check's entry, for each rule of `normalised` and each entry of the rule.
  std::vector<std::vector<std::uint32_t>> normalised_entries{};
  bool enforcing = false;

  // Builds the views of these rules, without sets.
  static ViewGroup of(const Document& document, const std::vector<std::uint32_t>& checks,
                      std::vector<std::uint32_t> rules);

  const match::PatternSet& set_of(std::size_t view) const {
    return views[view].normalised ? *normalised : *plain;
  }
  // Converts a match of one of the sets to rules of the check set and entries of the check.
  match::Match in_plan(std::size_t view, match::Match match) const;
};

struct CheckSet {
  std::vector<std::uint32_t> checks{};  // index in the document, for each rule
  std::shared_ptr<const match::PatternSet> raw{};
  std::vector<ViewGroup> groups{};
  std::vector<const ViewGroup*> group_of_rule{};  // null: no views

  // `chosen` are indices of regex and blocklist checks, in order.
  static std::expected<std::shared_ptr<const CheckSet>, DocumentError> make(
      const Document& document, const std::vector<ParsedCheck>& parsed,
      std::vector<std::uint32_t> chosen);

  // Writes and reads the parts that take time to compile. Null: not an image for these checks.
  void write(match::ImageWriter& out) const;
  static std::shared_ptr<const CheckSet> read(const Document& document,
                                              std::vector<std::uint32_t> chosen,
                                              match::ImageReader& in);

  const std::string& view_name(std::uint32_t rule, std::uint32_t view) const;

 private:
  void link_groups();
};

}  // namespace sallyport::guardrails
