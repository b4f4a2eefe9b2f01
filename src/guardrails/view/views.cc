#include "guardrails/view/views.h"

#include <algorithm>
#include <tuple>

#include "guardrails/view/view_readers.h"

namespace sallyport::guardrails {

namespace {

// A match is reported at most this many source bytes after its end: two characters.
constexpr std::uint64_t kLookAhead = 8;

}  // namespace

Views::Group::Group(const CheckSet& set, const ViewGroup& rules, const std::vector<bool>& muted,
                    std::uint64_t quoted)
    : rules(rules),
      tree(
          set, rules,
          [&](std::size_t view) {
            return std::make_unique<SpanReader>(rules, view, muted, quoted);
          },
          *this) {}

void Views::Group::truncated(std::size_t view) {
  truncated_view = std::min(view, truncated_view.value_or(view));
}

Views::Views(const CheckSet& set, std::uint64_t most_held) : set_(set), muted_(set.checks.size()) {
  for (const ViewGroup& group : set.groups) {
    groups_.emplace_back(set, group, muted_, most_held + kLookAhead);
  }
}

void Views::step(const match::Unit& unit, std::vector<match::OtherMatch>& certain) {
  for (Group& group : groups_) {
    group.certain = &certain;
    group.tree.take(unit);
  }
}

void Views::finish(std::vector<match::OtherMatch>& certain) {
  for (Group& group : groups_) {
    group.certain = &certain;
    group.tree.finish();
  }
}

std::optional<std::uint64_t> Views::held_from() const {
  std::optional<std::uint64_t> held;
  for (const Group& group : groups_) {
    if (!group.rules.enforcing) continue;
    for (const auto& node : group.tree.roots()) {
      const auto from = node->held_from();
      if (from && (!held || *from < *held)) held = from;
    }
  }
  return held;
}

std::optional<match::Match> Views::earliest_held() const {
  std::vector<match::Match> held;
  for (const Group& group : groups_) {
    if (!group.rules.enforcing) continue;
    for (const auto& node : group.tree.roots()) node->collect_held(held);
  }
  const auto first = std::ranges::min_element(held, {}, [](const match::Match& match) {
    return std::tuple(match.start, match.rule, match.entry);
  });
  if (first == held.end()) return std::nullopt;
  return *first;
}

bool Views::overflowed() const {
  return std::ranges::any_of(groups_, [](const Group& group) {
    return std::ranges::any_of(group.tree.roots(),
                               [](const auto& node) { return node->overflowed(); });
  });
}

std::optional<match::OtherMatch> Views::truncated() const {
  std::optional<match::OtherMatch> first;
  for (const Group& group : groups_) {
    if (!group.truncated_view || !group.rules.enforcing) continue;
    const auto rule = *std::ranges::find_if(group.rules.rules, [&](std::uint32_t rule) {
      return set_.raw->effect(rule) != match::Effect::Log;
    });
    if (first && first->match.rule < rule) continue;
    first = {.match = {.rule = rule, .entry = match::kNoEntry},
             .reading = static_cast<std::uint32_t>(*group.truncated_view)};
  }
  return first;
}

bool Views::truncated(std::uint32_t rule) const {
  return std::ranges::any_of(groups_, [&](const Group& group) {
    return group.truncated_view && &group.rules == set_.group_of_rule[rule];
  });
}

std::size_t Views::state_bytes() const {
  std::size_t bytes = sizeof(Views);
  for (const Group& group : groups_) {
    bytes += sizeof(Group);
    for (const auto& node : group.tree.roots()) bytes += node->state_bytes();
  }
  return bytes;
}

}  // namespace sallyport::guardrails
