#include "match/stream.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "match/utf8.h"

namespace sallyport::match {

namespace {

constexpr std::size_t kExcerptBytes = 200;

// The one to report of several that became certain together.
bool goes_first(const Match& a, const Match& b) {
  return std::tie(a.rule, a.entry, a.end, a.start) < std::tie(b.rule, b.entry, b.end, b.start);
}

bool starts_first(const Match& a, const Match& b) {
  return std::tie(a.start, a.rule, a.entry) < std::tie(b.start, b.rule, b.entry);
}

}  // namespace

std::string Output::text() const {
  std::string joined;
  for (const Piece& piece : pieces) joined += piece.text;
  return joined;
}

Stream::Stream(std::shared_ptr<const PatternSet> set, StreamOptions options)
    : set_(std::move(set)), options_(std::move(options)), scanner_(*set_) {
  if (options_.replacements.empty()) options_.replacements.emplace_back();
}

Result<Output> Stream::push(std::string_view delta) {
  if (finished_) return fail(ErrorCode::Conflict, "the stream is finished, no text can follow");
  Output output;
  pushed_ += delta.size();
  if (blocked_) return output;
  kept_.append(delta);
  while (!blocked_ && taken_ < pushed_) {
    const std::string_view rest = std::string_view(kept_).substr(taken_ - kept_from_);
    const Decoded next = decode_first(rest);
    if (next.kind == Decoded::Kind::Unfinished) break;
    take(next, output);
  }
  if (!blocked_) release(may_leave(), output);
  return output;
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
  decide(output);
  if (!blocked_) release(taken_, output);
  return output;
}

void Stream::take(const Decoded& next, Output& output) {
  const std::uint64_t begin = taken_;
  taken_ += next.size;
  if (next.kind == Decoded::Kind::IllFormed) ++invalid_;
  scanner_.step({next.character, begin, taken_}, certain_);
  if (!certain_.empty()) decide(output);
  if (blocked_) return;
  if (taken_ - out_ > options_.most_held || scanner_.overflowed()) keep_limits(output);
}

void Stream::keep_limits(Output& output) {
  const std::uint64_t until = may_leave();
  const bool too_much = taken_ - until > options_.most_held;
  if (too_much || scanner_.overflowed()) {
    release(until, output);
    Match earliest = scanner_.earliest_held().value_or(Match{});
    if (!regions_.empty() && regions_.front().first.start < earliest.start) {
      earliest = regions_.front().first;
    }
    block({earliest.rule, earliest.entry, until, taken_},
          too_much ? Hit::Why::HoldLimit : Hit::Why::Overflow, output);
  } else if (taken_ - out_ > 2 * options_.most_held) {
    release(until, output);  // so that one long delta takes no more memory than many short ones
  }
}

void Stream::decide(Output& output) {
  std::ranges::sort(certain_, goes_first);
  std::uint64_t withheld = std::numeric_limits<std::uint64_t>::max();
  const Match* blocking = nullptr;
  for (const Match& match : certain_) {
    const Effect effect = set_->effect(match.rule);
    if (effect == Effect::Log) log(match, output);
    if (effect == Effect::Redact) add_region(match);
    if (effect != Effect::Block) continue;
    withheld = std::min(withheld, match.start);
    if (blocking == nullptr) blocking = &match;
  }
  if (blocking != nullptr) {
    release(std::min(withheld, may_leave()), output);
    block(*blocking, Hit::Why::Match, output);
  }
  certain_.clear();
}

void Stream::log(const Match& match, Output& output) {
  const bool first = output.logs.empty() || output.logs.back().rule != match.rule ||
                     output.logs.back().at != taken_;
  if (!first) return;
  scanner_.mute(match.rule);
  Hit hit{.rule = match.rule, .entry = match.entry, .end = match.end, .at = taken_};
  if (taken_ - match.start <= options_.most_held) {
    hit.start = match.start;
    hit.matched = excerpt(match.start, match.end);
  }
  output.logs.push_back(std::move(hit));
}

void Stream::block(const Match& match, Hit::Why why, Output& output) {
  Hit hit{.why = why, .rule = match.rule, .entry = match.entry};
  hit.start = match.start;
  hit.end = match.end;
  hit.at = taken_;
  if (why == Hit::Why::Match) hit.matched = excerpt(match.start, match.end);
  output.block = std::move(hit);
  blocked_ = true;
  kept_.clear();
  kept_.shrink_to_fit();
  regions_.clear();
}

// Overlapping spans become one region; touching ones do not.
void Stream::add_region(const Match& match) {
  Region merged{match.start, match.end, {match.rule}, match};
  const auto first = std::ranges::lower_bound(
      regions_, match.start, [](auto end, auto start) { return end <= start; }, &Region::end);
  auto last = first;
  for (; last != regions_.end() && last->start < match.end; ++last) {
    merged.start = std::min(merged.start, last->start);
    merged.end = std::max(merged.end, last->end);
    if (starts_first(last->first, merged.first)) merged.first = last->first;
    merged.rules.insert(merged.rules.end(), last->rules.begin(), last->rules.end());
  }
  std::ranges::sort(merged.rules);
  const auto [from, to] = std::ranges::unique(merged.rules);
  merged.rules.erase(from, to);
  regions_.insert(regions_.erase(first, last), std::move(merged));
}

// Up to the first open match, but into no region that an open match may still widen.
std::uint64_t Stream::may_leave() const {
  std::uint64_t until = scanner_.held_from().value_or(taken_);
  for (const Region& region : regions_) {
    if (region.end > until) return std::min(until, region.start);
  }
  return until;
}

void Stream::release(std::uint64_t until, Output& output) {
  std::size_t closed = 0;
  for (; closed < regions_.size() && regions_[closed].end <= until; ++closed) {
    Region& region = regions_[closed];
    pass_on(region.start, output);
    const std::size_t last = options_.replacements.size() - 1;
    const std::string& replacement =
        options_.replacements[std::min<std::size_t>(region.rules.front(), last)];
    output.pieces.push_back({region.start, region.end, replacement, std::move(region.rules)});
    out_ = region.end;
  }
  regions_.erase(regions_.begin(), regions_.begin() + static_cast<std::ptrdiff_t>(closed));
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
  std::uint64_t needed = std::min(out_, scanner_.open_from().value_or(taken_));
  if (taken_ > options_.most_held) needed = std::max(needed, taken_ - options_.most_held);
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
         certain_.capacity() * sizeof(Match) + regions_.capacity() * sizeof(Region);
}

}  // namespace sallyport::match
