#include "guardrails/check/text_search.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/cut_text.h"
#include "match/utf8.h"

namespace sallyport::guardrails {

namespace {

constexpr std::size_t kSearchExcerptBytes = 200;

// Drops matches: this search only locates a match that was reported before.
struct NoSink final : MatchSink {
  void add(match::OtherMatch&&) override {}
  void truncated(std::size_t) override {}
};

Located locate_raw(const CheckSet& set, std::string_view text, std::uint32_t rule,
                   const Sighting& sighting) {
  const match::Match match{rule, sighting.entry, sighting.place, sighting.place};
  const std::uint64_t end = match::preferred_end(*set.raw, text, match);
  const std::string_view spelt =
      text.substr(match.start, std::min<std::size_t>(end - match.start, 4 * kSearchExcerptBytes));
  return {match.start, end, cut_utf8_bytes(match::well_formed(spelt), kSearchExcerptBytes)};
}

// The match in terms of the set of its view.
match::Match in_set(const ViewGroup& group, std::uint32_t rule, const Sighting& sighting) {
  const auto index = std::ranges::find(group.rules, rule) - group.rules.begin();
  match::Match match{
      .rule = static_cast<std::uint32_t>(index), .entry = sighting.entry, .start = sighting.place};
  if (group.views[sighting.view].normalised) {
    const auto& entries = group.normalised_entries[match.rule];
    match.entry =
        static_cast<std::uint32_t>(std::ranges::find(entries, sighting.entry) - entries.begin());
  }
  return match;
}

}  // namespace

struct TextSearch::Group final : MatchSink {
  Group(TextSearch& search, std::size_t index)
      : search(search),
        index(index),
        tree(
            search.set_, search.set_.groups[index],
            [&](std::size_t view) {
              auto reader = std::make_unique<PlaceReader>(search.set_.groups[index], view);
              readers.push_back(reader.get());
              return reader;
            },
            *this) {}

  void add(match::OtherMatch&& match) override {
    search.found(match.match, {index, match.reading});
  }
  void truncated(std::size_t) override { was_truncated = true; }

  TextSearch& search;
  std::size_t index;
  bool was_truncated = false;
  std::vector<PlaceReader*> readers;
  ViewTree tree;
};

TextSearch::TextSearch(const CheckSet& set)
    : set_(set), raw_(*set.raw, match::Scanner::Reading::Whole), best_(set.checks.size()) {
  for (std::size_t i = 0; i < set.groups.size(); ++i)
    groups_.push_back(std::make_unique<Group>(*this, i));
}

TextSearch::~TextSearch() = default;

void TextSearch::found(const match::Match& match, const Reading& reading) {
  if (!(*wanted_)[match.rule]) return;
  const Sighting seen{match.entry, number_, static_cast<std::uint32_t>(reading.view), match.start};
  std::optional<Sighting>& best = best_[match.rule];
  if (!best || seen < *best) best = seen;
  if (set_.raw->effect(match.rule) == match::Effect::Redact) redactable_.insert(reading);
}

std::set<Reading> TextSearch::look_at(std::string_view text, std::size_t number,
                                      const std::vector<bool>& wanted) {
  number_ = number;
  wanted_ = &wanted;
  invalid_utf8_ = 0;
  redactable_.clear();
  std::vector<match::Match> certain;
  const auto settle = [&] {
    for (const match::Match& match : certain) found(match, {});
    certain.clear();
  };
  raw_.reset();
  for (const auto& group : groups_) {
    for (PlaceReader* const reader : group->readers) reader->begin();
  }
  for (std::size_t at = 0; at < text.size();) {
    // Most characters decide nothing. Views need every character.
    if (groups_.empty()) at += raw_.skim(text.substr(at), at);
    if (at == text.size()) break;
    const match::Decoded next = match::decode_first(text.substr(at));
    const match::Unit unit{next.character, at, at + next.size};
    if (next.kind != match::Decoded::Kind::Character) ++invalid_utf8_;
    raw_.step(unit, certain);
    if (!certain.empty()) settle();
    for (const auto& group : groups_) group->tree.take(unit);
    at = unit.end;
  }
  raw_.finish(certain);
  settle();
  for (const auto& group : groups_) group->tree.finish();
  return std::exchange(redactable_, {});
}

bool TextSearch::truncated(std::uint32_t rule) const {
  return std::ranges::any_of(groups_, [&](const auto& group) {
    return group->was_truncated && set_.group_of_rule[rule] == &set_.groups[group->index];
  });
}

Located locate(const CheckSet& set, std::string_view text, std::uint32_t rule,
               const Sighting& sighting) {
  if (sighting.view == 0) return locate_raw(set, text, rule, sighting);
  const ViewGroup& group = *set.group_of_rule[rule];
  MatchLocator* locator = nullptr;
  NoSink no_sink;
  ViewTree tree(
      set, group,
      [&](std::size_t view) {
        auto reader = std::make_unique<MatchLocator>(group, view, in_set(group, rule, sighting));
        locator = reader.get();
        return reader;
      },
      no_sink, sighting.view);
  for (std::size_t at = 0; at < text.size() && !locator->done();) {
    const match::Decoded next = match::decode_first(text.substr(at));
    tree.take({next.character, at, at + next.size});
    at += next.size;
  }
  if (!locator->done()) tree.finish();
  return locator->located();
}

}  // namespace sallyport::guardrails
