#include "match/scanner.h"

#include <iterator>
#include <limits>
#include <tuple>

#include "base/smaller_of.h"

namespace sallyport::match {

namespace {

bool is_ascii(char c) {
  return static_cast<unsigned char>(c) < 0x80;
}

}  // namespace

Scanner::Scanner(const PatternSet& set, Reading reading)
    : set_(set),
      reading_(reading),
      any_(reading == Reading::Whole ? set.everything() : set.any()),
      preferred_(reading == Reading::Whole ? nullptr : &set.preferred()),
      muted_(set.rules()) {}

std::size_t Scanner::skim(std::string_view text, std::uint64_t begin) {
  if (waits_ || (any_.active() && !any_.glides(before_))) return 0;
  const std::size_t done = preferred_.active() ? glide_both(text, begin) : glide_any(text, begin);
  if (done == 0) return 0;
  const std::uint64_t end = begin + done;
  ends_ = {.now = end, .before = end - 1, .before_that = done > 1 ? end - 2 : ends_.before};
  const CharClasses& classes = set_.program().classes();
  before_ = classes.neighbour(classes.of(static_cast<unsigned char>(text[done - 1])));
  return done;
}

std::size_t Scanner::glide_any(std::string_view text, std::uint64_t begin) {
  if (!any_.active()) return 0;
  const CharClasses& classes = set_.program().classes();
  std::size_t done = 0;
  for (; done < text.size() && is_ascii(text[done]); ++done) {
    if (!any_.glide(classes.of(static_cast<unsigned char>(text[done])), begin + done)) break;
  }
  return done;
}

std::size_t Scanner::glide_both(std::string_view text, std::uint64_t begin) {
  const CharClasses& classes = set_.program().classes();
  Neighbour before = before_;
  std::size_t done = 0;
  for (; done < text.size() && is_ascii(text[done]); ++done) {
    const std::uint32_t character_class = classes.of(static_cast<unsigned char>(text[done]));
    if (!preferred_.glides(character_class, before)) break;
    if (any_.active() && !any_.glide(character_class, begin + done)) break;
    preferred_.glide(character_class, before, begin + done);
    before = classes.neighbour(character_class);
  }
  return done;
}

void Scanner::finish(std::vector<Match>& certain) {
  any_.finish(ends_, found_);
  preferred_.finish(ends_, found_);
  sort_out(certain);
}

void Scanner::reset() {
  any_.reset();
  preferred_.reset();
  ends_ = {};
  before_ = Neighbour::Edge;
  undecided_.clear();
  waits_ = false;
}

Match Scanner::match_of(const Span& span) const {
  return {set_.role(span.index).rule, set_.place_in_rule(span.index), span.start, span.end};
}

void Scanner::sort_out(std::vector<Match>& certain) {
  for (const Span& span : found_) {
    const EntryRole& role = set_.role(span.index);
    if (role.exception && !muted_[role.rule]) undecided_[role.rule].cover(span.start, span.end);
  }
  for (const Span& span : found_) {
    const EntryRole& role = set_.role(span.index);
    if (role.exception || muted_[role.rule]) continue;
    if (set_.has_exceptions(role.rule)) {
      undecided_[role.rule].add(match_of(span));
    } else {
      certain.push_back(match_of(span));
    }
  }
  found_.clear();
  decide(certain);
}

// Such a match may end long before it is found. Every other match is found at most two characters
// after its end, and of a rule only the first counts.
bool Scanner::reports_every_span(std::uint32_t rule) const {
  return reading_ == Reading::Stream && set_.effect(rule) == Effect::Redact;
}

void Scanner::decide(std::vector<Match>& certain) {
  for (auto& [rule, undecided] : undecided_) {
    if (undecided.first() == nullptr) continue;
    undecided.decide(any_.exception_open_from(rule), certain);
    if (!reports_every_span(rule)) undecided.thin_out(ends_.before);
  }
  waits_ = false;
  if (undecided_.empty()) return;
  const std::uint64_t oldest = open_from().value_or(std::numeric_limits<std::uint64_t>::max());
  for (auto of_rule = undecided_.begin(); of_rule != undecided_.end();) {
    auto& [rule, undecided] = *of_rule;
    undecided.forget_covers_before(reports_every_span(rule) ? oldest : ends_.before);
    waits_ = waits_ || undecided.first() != nullptr;
    of_rule = undecided.empty() ? undecided_.erase(of_rule) : std::next(of_rule);
  }
}

std::optional<std::uint64_t> Scanner::held_from() const {
  auto held = smaller_of(any_.held_from(), preferred_.held_from());
  for (const auto& [rule, undecided] : undecided_) {
    const Match* const first = undecided.first();
    if (first != nullptr && set_.effect(rule) != Effect::Log) held = smaller_of(held, first->start);
  }
  return held;
}

std::optional<Match> Scanner::earliest_held() const {
  std::optional<Match> best;
  const auto consider = [&](const Match& match) {
    if (best && std::tie(best->start, best->rule, best->entry) <=
                    std::tie(match.start, match.rule, match.entry)) {
      return;
    }
    best = match;
  };
  const auto consider_state = [&](const State& state, std::uint64_t start) {
    for (const std::uint32_t index : state.entries) {
      if (set_.role(index).holds) consider(match_of({index, start, ends_.now}));
    }
  };
  for (const AnyTracker::Group& group : any_.groups()) consider_state(*group.state, group.start);
  for (const PreferredTracker::Group& group : preferred_.groups()) {
    consider_state(*group.state, group.start);
  }
  for (const auto& [rule, undecided] : undecided_) {
    const Match* const first = undecided.first();
    if (first != nullptr && set_.effect(rule) != Effect::Log) consider(*first);
  }
  return best;
}

std::optional<std::uint64_t> Scanner::open_from() const {
  auto open = smaller_of(any_.open_from(), preferred_.held_from());
  for (const auto& [rule, undecided] : undecided_) {
    if (const Match* const first = undecided.first()) open = smaller_of(open, first->start);
  }
  return open;
}

std::size_t Scanner::state_bytes() const {
  std::size_t bytes = sizeof(Scanner) + any_.state_bytes() +
                      preferred_.groups().capacity() * sizeof(PreferredTracker::Group) +
                      found_.capacity() * sizeof(Span) + muted_.capacity() / 8;
  for (const auto& [rule, undecided] : undecided_) bytes += sizeof(Undecided) + undecided.bytes();
  for (const PreferredTracker::Group& group : preferred_.groups()) {
    bytes += group.matched.capacity() * sizeof(Span);
  }
  return bytes;
}

}  // namespace sallyport::match
