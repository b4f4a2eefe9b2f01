#include "match/scanner.h"

#include <algorithm>
#include <tuple>

#include "base/smaller_of.h"

namespace sallyport::match {

namespace {

// A log rule holds no text, so the matches that it keeps waiting for an exception are bounded here.
constexpr std::size_t kMostWaiting = 1024;

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
  if (!waiting_.empty() || (any_.active() && !any_.glides(before_))) return 0;
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
  waiting_.clear();
  covers_.clear();
}

Match Scanner::match_of(const Span& span) const {
  return {set_.role(span.index).rule, set_.place_in_rule(span.index), span.start, span.end};
}

void Scanner::sort_out(std::vector<Match>& certain) {
  for (const Span& span : found_) {
    const EntryRole& role = set_.role(span.index);
    if (role.exception && !muted_[role.rule]) add_cover({role.rule, span.start, span.end});
  }
  for (const Span& span : found_) {
    const EntryRole& role = set_.role(span.index);
    if (!role.exception && !muted_[role.rule]) wait_or_tell(span, certain);
  }
  found_.clear();
  decide_waiting(certain);
}

void Scanner::wait_or_tell(const Span& span, std::vector<Match>& certain) {
  const Match match = match_of(span);
  if (!set_.has_exceptions(match.rule)) {
    certain.push_back(match);
    return;
  }
  const bool holds_nothing = reading_ == Reading::Stream && set_.effect(match.rule) == Effect::Log;
  if (holds_nothing && waiting_.size() >= kMostWaiting) return;
  waiting_.push_back(match);
}

void Scanner::add_cover(const Cover& cover) {
  std::erase_if(covers_, [&](const Cover& old) {
    return old.rule == cover.rule && old.start >= cover.start && old.end <= cover.end;
  });
  covers_.push_back(cover);
}

bool Scanner::covered(const Match& match) const {
  return std::ranges::any_of(covers_, [&](const Cover& cover) {
    return cover.rule == match.rule && cover.start <= match.start && cover.end >= match.end;
  });
}

void Scanner::decide_waiting(std::vector<Match>& certain) {
  std::erase_if(waiting_, [&](const Match& match) {
    if (muted_[match.rule] || covered(match)) return true;
    if (any_.exception_open(match.rule, match.start)) return false;
    certain.push_back(match);
    return true;
  });
  if (covers_.empty()) return;
  const auto oldest = open_from();
  std::erase_if(covers_, [&](const Cover& cover) { return !oldest || cover.end <= *oldest; });
}

std::optional<std::uint64_t> Scanner::held_from() const {
  auto held = smaller_of(any_.held_from(), preferred_.held_from());
  for (const Match& match : waiting_) {
    if (set_.effect(match.rule) != Effect::Log) held = smaller_of(held, match.start);
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
  for (const Match& match : waiting_) {
    if (set_.effect(match.rule) != Effect::Log) consider(match);
  }
  return best;
}

std::optional<std::uint64_t> Scanner::open_from() const {
  auto open = smaller_of(any_.open_from(), preferred_.held_from());
  for (const Match& match : waiting_) open = smaller_of(open, match.start);
  return open;
}

std::size_t Scanner::state_bytes() const {
  std::size_t bytes = sizeof(Scanner) + any_.state_bytes() +
                      preferred_.groups().capacity() * sizeof(PreferredTracker::Group) +
                      found_.capacity() * sizeof(Span) + waiting_.capacity() * sizeof(Match) +
                      covers_.capacity() * sizeof(Cover) + muted_.capacity() / 8;
  for (const PreferredTracker::Group& group : preferred_.groups()) {
    bytes += group.matched.capacity() * sizeof(Span);
  }
  return bytes;
}

}  // namespace sallyport::match
