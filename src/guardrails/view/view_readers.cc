#include "guardrails/view/view_readers.h"

#include <algorithm>
#include <span>
#include <utility>

#include "match/utf8.h"

namespace sallyport::guardrails {

namespace {

constexpr std::size_t kViewExcerptBytes = 200;

// Whole characters, as many as may be quoted.
template <class Characters, class Project>
std::string quote(const Characters& characters, Project character_of) {
  std::string text;
  for (const auto& item : characters) {
    const std::size_t size = text.size();
    match::append_utf8(text, character_of(item));
    if (text.size() <= kViewExcerptBytes) continue;
    text.resize(size);
    break;
  }
  return text;
}

}  // namespace

SpanReader::SpanReader(const ViewGroup& group, std::size_t view, const std::vector<bool>& muted,
                       std::uint64_t quoted)
    : group_(group),
      view_(view),
      set_(group.set_of(view)),
      muted_(muted),
      quoted_(quoted),
      scanner_(set_) {}

void SpanReader::read(const match::Unit& unit, MatchSink& sink) {
  window_.push_back(unit);
  scanner_.step({unit.character, place_, place_ + 1}, certain_);
  ++place_;
  if (!certain_.empty()) deliver(sink);
  forget();
}

void SpanReader::end(MatchSink& sink) {
  scanner_.finish(certain_);
  deliver(sink);
  drop();
}

void SpanReader::drop() {
  scanner_.reset();
  window_.clear();
  window_from_ = place_;
}

const match::Unit& SpanReader::at(std::uint64_t place) const {
  return window_[place < window_from_ ? 0 : place - window_from_];
}

void SpanReader::deliver(MatchSink& sink) {
  for (const match::Match& match : certain_) {
    match::OtherMatch found{.match = group_.in_plan(view_, match),
                            .reading = static_cast<std::uint32_t>(view_)};
    if (muted_[found.match.rule]) continue;
    found.start_known = match.start >= window_from_;
    found.match.start = at(match.start).begin;
    found.match.end = at(match.end - 1).end;
    if (set_.effect(match.rule) != match::Effect::Redact && found.start_known) {
      found.matched = excerpt(match.start, match.end);
    }
    sink.add(std::move(found));
  }
  certain_.clear();
}

std::string SpanReader::excerpt(std::uint64_t start, std::uint64_t end) const {
  const std::span<const match::Unit> all(window_);
  return quote(all.subspan(start - window_from_, end - start),
               [](const match::Unit& unit) { return unit.character; });
}

// A log match holds back no text, so only the part that may be quoted is kept for it.
void SpanReader::forget() {
  const auto open = scanner_.open_from();
  if (!open) {
    window_.clear();
    window_from_ = place_;
    return;
  }
  std::size_t unneeded = *open - std::min(*open, window_from_);
  const std::size_t half = window_.size() / 2;
  const bool half_is_far =
      window_[half].end + std::min(quoted_, window_.back().end) < window_.back().end;
  if (half_is_far) unneeded = std::max(unneeded, half);
  if (unneeded == 0 || unneeded < half) return;
  window_.erase(window_.begin(), window_.begin() + static_cast<std::ptrdiff_t>(unneeded));
  window_from_ += unneeded;
}

std::optional<std::uint64_t> SpanReader::held_from() const {
  const auto place = scanner_.held_from();
  if (!place) return std::nullopt;
  return at(*place).begin;
}

std::optional<match::Match> SpanReader::earliest_held() const {
  const auto match = scanner_.earliest_held();
  if (!match) return std::nullopt;
  match::Match found = group_.in_plan(view_, *match);
  found.start = at(match->start).begin;
  return found;
}

std::size_t SpanReader::state_bytes() const {
  return sizeof(SpanReader) - sizeof(match::Scanner) + scanner_.state_bytes() +
         window_.capacity() * sizeof(match::Unit) + certain_.capacity() * sizeof(match::Match);
}

PlaceReader::PlaceReader(const ViewGroup& group, std::size_t view)
    : group_(group), view_(view), scanner_(group.set_of(view), match::Scanner::Reading::Whole) {}

void PlaceReader::read(const match::Unit& unit, MatchSink& sink) {
  scanner_.step({unit.character, place_, place_ + 1}, certain_);
  ++place_;
  if (!certain_.empty()) deliver(sink);
}

void PlaceReader::end(MatchSink& sink) {
  scanner_.finish(certain_);
  deliver(sink);
  scanner_.reset();
}

void PlaceReader::deliver(MatchSink& sink) {
  for (const match::Match& match : certain_) {
    sink.add({.match = group_.in_plan(view_, match), .reading = static_cast<std::uint32_t>(view_)});
  }
  certain_.clear();
}

MatchLocator::MatchLocator(const ViewGroup& group, std::size_t view, const match::Match& match)
    : end_(group.set_of(view), match.rule, match.entry), start_(match.start) {}

void MatchLocator::read(const match::Unit& unit, MatchSink&) {
  const std::uint64_t place = place_++;
  if (done_) return;
  if (place < start_) {
    before_ = unit.character;
    return;
  }
  if (place == start_) {
    located_.start = unit.begin;
    if (before_) end_.pass(*before_);
  }
  if (beginning_.size() < kViewExcerptBytes) beginning_.push_back(unit.character);
  source_ends_[place % source_ends_.size()] = unit.end;
  const bool continues = end_.step({unit.character, place, place + 1});
  settle();
  done_ = !continues;
}

void MatchLocator::end(MatchSink&) {
  before_.reset();
  if (done_ || place_ <= start_) return;
  end_.finish();
  settle();
  done_ = true;
}

// When the end is reported, it is at most two characters back.
void MatchLocator::settle() {
  const auto end = end_.end();
  if (!end || place_ - *end >= source_ends_.size()) return;
  located_.end = source_ends_[(*end - 1) % source_ends_.size()];
  const std::size_t length = std::min<std::size_t>(*end - start_, beginning_.size());
  located_.matched = quote(std::span(beginning_).first(length), [](char32_t c) { return c; });
}

}  // namespace sallyport::guardrails
