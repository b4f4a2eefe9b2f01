#include "match/stream.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "base/smaller_of.h"
#include "match/utf8.h"

namespace sallyport::match {

namespace {

constexpr std::size_t kExcerptBytes = 200;
// The bytes after its end in which a match may become certain and still be quoted: two characters.
constexpr std::uint64_t kLookAhead = 8;
// Fewer bytes than this are not worth being moved.
constexpr std::size_t kSmall = 256;

// The order in which one of several matches that became certain together is chosen.
bool is_reported_first(const OtherMatch& a, const OtherMatch& b) {
  return std::tie(a.match.rule, a.match.entry, a.match.end, a.match.start, a.reading) <
         std::tie(b.match.rule, b.match.entry, b.match.end, b.match.start, b.reading);
}

bool match_starts_first(const Match& a, const Match& b) {
  return std::tie(a.start, a.rule, a.entry) < std::tie(b.start, b.rule, b.entry);
}

// The end of the text that is before `until` and in no region that continues after it.
std::uint64_t before_regions(const Regions& regions, std::uint64_t until) {
  for (const Region& region : regions.all()) {
    if (region.end > until) return std::min(until, region.start);
  }
  return until;
}

}  // namespace

std::string Output::text() const {
  std::string joined;
  for (const Piece& piece : pieces) joined += piece.text;
  return joined;
}

Stream::Stream(std::shared_ptr<const PatternSet> set, StreamOptions options,
               std::unique_ptr<OtherReadings> others)
    : set_(std::move(set)),
      options_(std::move(options)),
      scanner_(*set_),
      others_(std::move(others)),
      logged_(set_->rules()) {
  if (options_.replacements.empty()) options_.replacements.emplace_back();
}

Result<Output> Stream::push(std::string_view delta) {
  if (finished_) return fail(ErrorCode::Conflict, "the stream is finished, no text can follow");
  Result<Output> output;
  if (blocked_) return output;
  pushed_ += delta.size();
  kept_.append(delta);
  while (!blocked_ && taken_ < pushed_) {
    if (skim(*output)) continue;
    const Decoded next = decode_first(untaken());
    if (next.kind == Decoded::Kind::Unfinished) break;
    take(next, *output);
  }
  if (!blocked_) release(may_leave(), *output);
  return output;
}

// Skips characters that decide nothing, which most are, up to the next check of a limit.
bool Stream::skim(Output& output) {
  if (others_) return false;
  if (taken_ - out_ >= options_.most_held) release(may_leave(), output);
  const std::uint64_t waits = taken_ - out_;
  if (waits >= options_.most_held) return false;
  const std::size_t quiet = scanner_.skim(untaken().substr(0, options_.most_held - waits), taken_);
  taken_ += quiet;
  return quiet > 0;
}

Result<Output> Stream::finish() {
  if (finished_) return fail(ErrorCode::Conflict, "the stream is finished already");
  Output output;
  finished_ = true;
  if (!blocked_ && taken_ < pushed_) {
    take({Decoded::Kind::IllFormed, kReplacementCharacter, pushed_ - taken_}, output);
  }
  if (blocked_) return output;
  scanner_.finish(certain_);
  if (others_) others_->finish(certain_elsewhere_);
  decide(output);
  if (!blocked_) release(taken_, output);
  return output;
}

void Stream::take(const Decoded& next, Output& output) {
  const Unit unit{next.character, taken_, taken_ + next.size};
  taken_ = unit.end;
  if (next.kind == Decoded::Kind::IllFormed) ++invalid_;
  scanner_.step(unit, certain_);
  if (others_) others_->step(unit, certain_elsewhere_);
  if (!certain_.empty() || !certain_elsewhere_.empty()) decide(output);
  if (blocked_) return;
  if (taken_ - out_ > options_.most_held || overflowed()) keep_limits(output);
  if (!blocked_ && others_ && others_->truncated()) {
    block_for_limit(Hit::Why::Truncated, may_leave(), output);
  }
}

void Stream::keep_limits(Output& output) {
  const std::uint64_t until = may_leave();
  if (taken_ - until > options_.most_held) {
    block_for_limit(Hit::Why::HoldLimit, until, output);
  } else if (overflowed()) {
    block_for_limit(Hit::Why::Overflow, until, output);
  } else if (taken_ - out_ > 2 * options_.most_held) {
    release(until, output);  // so that one long delta takes no more memory than many short ones
  }
}

void Stream::block_for_limit(Hit::Why why, std::uint64_t from, Output& output) {
  release(from, output);
  OtherMatch blamed;
  if (why == Hit::Why::Truncated) {
    blamed = *others_->truncated();
  } else {
    std::optional<Match> first = scanner_.earliest_held();
    const auto consider = [&](const std::optional<Match>& match) {
      if (match && (!first || match_starts_first(*match, *first))) first = match;
    };
    if (others_) consider(others_->earliest_held());
    if (!regions_.all().empty()) consider(regions_.all().front().first);
    blamed.match = first.value_or(Match{.entry = kNoEntry});
  }
  blamed.match.start = from;
  blamed.match.end = taken_;
  block(std::move(blamed), why, output);
}

void Stream::decide(Output& output) {
  for (const Match& match : certain_) certain_elsewhere_.push_back({.match = match});
  certain_.clear();
  std::ranges::sort(certain_elsewhere_, is_reported_first);
  std::uint64_t withheld = std::numeric_limits<std::uint64_t>::max();
  OtherMatch* blocking = nullptr;
  for (OtherMatch& found : certain_elsewhere_) {
    const Effect effect = set_->effect(found.match.rule);
    if (effect == Effect::Log) log(found, output);
    if (effect == Effect::Redact) regions_.add(found.match);
    if (effect != Effect::Block) continue;
    withheld = std::min(withheld, found.match.start);
    if (blocking == nullptr) blocking = &found;
  }
  if (blocking != nullptr) {
    // A span that would be replaced together with withheld text does not leave either.
    release(before_regions(regions_, std::min(withheld, held_from().value_or(taken_))), output);
    block(std::move(*blocking), Hit::Why::Match, output);
  }
  certain_elsewhere_.clear();
}

void Stream::log(OtherMatch& found, Output& output) {
  const Match& match = found.match;
  if (logged_[match.rule]) return;
  logged_[match.rule] = true;
  scanner_.mute(match.rule);
  if (others_) others_->mute(match.rule);
  Hit hit{.rule = match.rule, .entry = match.entry, .reading = found.reading};
  hit.end = match.end;
  hit.at = taken_;
  const std::uint64_t most = options_.most_held;
  if (found.start_known && match.end - match.start <= most &&
      taken_ - match.start <= most + kLookAhead) {
    hit.start = match.start;
    hit.matched = found.reading == 0 ? excerpt(match.start, match.end) : std::move(found.matched);
  }
  output.logs.push_back(std::move(hit));
}

void Stream::block(OtherMatch found, Hit::Why why, Output& output) {
  const Match& match = found.match;
  Hit hit{.why = why, .rule = match.rule, .entry = match.entry, .reading = found.reading};
  hit.start = match.start;
  hit.end = match.end;
  hit.at = taken_;
  if (why == Hit::Why::Match) {
    hit.matched = found.reading == 0 ? excerpt(match.start, match.end) : std::move(found.matched);
  }
  output.block = std::move(hit);
  blocked_ = true;
  kept_.clear();
  kept_.shrink_to_fit();
  regions_.clear();
}

std::optional<std::uint64_t> Stream::held_from() const {
  const auto held = scanner_.held_from();
  return others_ ? smaller_of(held, others_->held_from()) : held;
}

bool Stream::overflowed() const {
  return scanner_.overflowed() || (others_ && others_->overflowed());
}

// Up to the first open match, but into no region that an open match may still widen.
std::uint64_t Stream::may_leave() const {
  return before_regions(regions_, held_from().value_or(taken_));
}

void Stream::release(std::uint64_t until, Output& output) {
  std::size_t closed = 0;
  for (const Region& region : regions_.all()) {
    if (region.end > until) break;
    ++closed;
    pass_on(region.start, output);
    const std::size_t last = options_.replacements.size() - 1;
    const std::string& replacement =
        options_.replacements[std::min<std::size_t>(region.rules.front(), last)];
    output.pieces.push_back({region.start, region.end, replacement, region.rules});
    out_ = region.end;
  }
  if (closed > 0) regions_.drop_first(closed);
  pass_on(until, output);
  forget();
}

void Stream::pass_on(std::uint64_t until, Output& output) {
  if (until <= out_) return;
  if (output.pieces.empty() || !output.pieces.back().rules.empty()) {
    output.pieces.push_back({out_, out_, {}, {}});
  }
  append_well_formed(output.pieces.back().text, source(out_, until));
  output.pieces.back().end = until;
  out_ = until;
}

// Text that has left is kept while a log match may still quote it.
void Stream::forget() {
  if (kept_.size() < kSmall) return;
  std::uint64_t needed = std::min(out_, scanner_.open_from().value_or(taken_));
  const std::uint64_t quoted = options_.most_held + kLookAhead;
  if (taken_ > quoted) needed = std::max(needed, taken_ - quoted);
  needed = std::min(needed, out_);
  if (needed - kept_from_ < kept_.size() / 2) return;
  kept_.erase(0, needed - kept_from_);
  kept_from_ = needed;
}

std::string_view Stream::source(std::uint64_t start, std::uint64_t end) const {
  return std::string_view(kept_).substr(start - kept_from_, end - start);
}

std::string Stream::excerpt(std::uint64_t start, std::uint64_t end) const {
  std::string text = well_formed(source(start, end).substr(0, 4 * kExcerptBytes));
  if (text.size() <= kExcerptBytes) return text;
  std::size_t cut = kExcerptBytes;
  while ((static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80) --cut;
  text.resize(cut);
  return text;
}

std::size_t Stream::state_bytes() const {
  return sizeof(Stream) - sizeof(Scanner) + scanner_.state_bytes() +
         certain_.capacity() * sizeof(Match) + certain_elsewhere_.capacity() * sizeof(OtherMatch) +
         regions_.bytes() + (others_ ? others_->state_bytes() : 0);
}

}  // namespace sallyport::match
