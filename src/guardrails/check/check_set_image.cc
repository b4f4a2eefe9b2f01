// Only the sets of patterns take time to make. The rest of a check set comes from the document, and a
// cached set must fit it.
#include <utility>

#include "guardrails/check/check_set.h"

namespace sallyport::guardrails {

namespace {

using match::ImageReader;
using match::PatternSet;

// One rule for each of these checks, with their effects.
std::shared_ptr<const PatternSet> read_set(const Document& document,
                                           const std::vector<std::uint32_t>& checks,
                                           ImageReader& in) {
  std::shared_ptr<const PatternSet> set = PatternSet::read(in);
  if (!set || set->rules() != checks.size()) return nullptr;
  for (std::uint32_t rule = 0; rule < checks.size(); ++rule) {
    const Check& check = document.checks[checks[rule]];
    if (set->effect(rule) != effect_of(document, check)) return nullptr;
    if (set->entries(rule) > check.entries.size()) return nullptr;
  }
  return set;
}

void write_group(const ViewGroup& group, match::ImageWriter& out) {
  group.plain->write(out);
  out.number(group.normalised == group.plain ? 0 : 1);
  if (group.normalised != group.plain) group.normalised->write(out);
  for (const std::vector<std::uint32_t>& entries : group.normalised_entries) {
    out.number(entries.size());
    for (const std::uint32_t entry : entries) out.number(entry);
  }
}

bool read_group(const Document& document, const std::vector<std::uint32_t>& checks_of_plan,
                ViewGroup& group, ImageReader& in) {
  std::vector<std::uint32_t> checks;
  for (const std::uint32_t rule : group.rules) checks.push_back(checks_of_plan[rule]);
  group.plain = group.normalised = read_set(document, checks, in);
  if (group.plain && in.below(2) == 1) group.normalised = read_set(document, checks, in);
  if (!group.plain || !group.normalised) return false;
  for (std::uint32_t rule = 0; rule < checks.size() && in.good(); ++rule) {
    std::vector<std::uint32_t>& entries = group.normalised_entries.emplace_back(in.count());
    if (entries.size() != group.normalised->entries(rule)) return false;
    for (std::uint32_t& entry : entries) {
      entry = in.below(document.checks[checks[rule]].entries.size());
    }
  }
  return in.good();
}

}  // namespace

void CheckSet::write(match::ImageWriter& out) const {
  raw->write(out);
  for (const ViewGroup& group : groups) write_group(group, out);
}

std::shared_ptr<const CheckSet> CheckSet::read(const Document& document,
                                               std::vector<std::uint32_t> chosen, ImageReader& in) {
  auto made = std::make_shared<CheckSet>();
  made->checks = std::move(chosen);
  made->raw = read_set(document, made->checks, in);
  if (!made->raw) return nullptr;
  for (std::uint32_t rule = 0; rule < made->checks.size(); ++rule) {
    if (made->raw->entries(rule) != document.checks[made->checks[rule]].entries.size()) {
      return nullptr;
    }
  }
  for (std::vector<std::uint32_t>& members : grouped_by_views(document, made->checks)) {
    ViewGroup& group =
        made->groups.emplace_back(ViewGroup::of(document, made->checks, std::move(members)));
    if (!read_group(document, made->checks, group, in)) return nullptr;
  }
  made->link_groups();
  return made;
}

}  // namespace sallyport::guardrails
