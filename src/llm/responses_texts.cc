#include "llm/responses_texts.h"

#include <algorithm>

#include "base/try.h"
#include "llm/wire_json.h"

namespace sallyport::llm {

namespace {

std::uint64_t characters(std::string_view text) {
  return static_cast<std::uint64_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

}  // namespace

Result<void> ResponsesTexts::keep(std::size_t bytes) {
  kept_ += bytes;
  if (kept_ <= kLimit) return {};
  return fail(ErrorCode::Exhausted, "the texts of the answer are over 16 MiB");
}

void ResponsesTexts::feed(Said& said, const ChannelId& channel, std::string_view text) {
  said.waiting += text;
  if (!json_format_ || channel.kind != ChannelKind::Text) return;
  if (!said.strings) said.strings.emplace();
  said.strings->feed(text);
}

void ResponsesTexts::absorb(Said& said, core::PassedText& passed) {
  if (said.strings) said.strings->fit(passed);
  for (const core::TextPiece& piece : passed.pieces) {
    const std::size_t length = std::min<std::size_t>(piece.end - piece.start, said.waiting.size());
    const std::uint64_t in = said.in + characters(std::string_view(said.waiting).substr(0, length));
    const std::uint64_t out = said.out + characters(piece.text);
    if (piece.replaced) said.regions.push_back({said.in, in, said.out, out});
    said.in = in;
    said.out = out;
    said.waiting.erase(0, length);
    said.sent += piece.text;
  }
  said.changed = said.changed || passed.changed();
}

Result<TextStep> ResponsesTexts::push(const TextPlace& place, const ChannelId& channel,
                                      std::string_view delta) {
  SALLYPORT_CHECK_OK(keep(delta.size()));
  Said& said = said_[place];
  if (said.closed || (!said.streamed && !said.sent.empty())) {
    return fail(ErrorCode::Corrupt, "a delta follows the end of its text");
  }
  said.channel = channel;
  said.streamed = true;
  feed(said, channel, delta);
  core::PassedText passed = door_.push(channel, delta);
  absorb(said, passed);
  TextStep step{.text = passed.text(), .block = std::move(passed.block)};
  step.changed = step.text != delta;
  return step;
}

Result<TextStep> ResponsesTexts::finish(const TextPlace& place) {
  const auto found = said_.find(place);
  if (found == said_.end() || found->second.closed || !found->second.streamed) return TextStep{};
  Said& said = found->second;
  said.closed = true;
  core::PassedText passed = door_.finish(said.channel);
  absorb(said, passed);
  TextStep step{.text = passed.text(), .block = std::move(passed.block)};
  step.changed = !step.text.empty();
  return step;
}

Result<TextStep> ResponsesTexts::repeat(const TextPlace& place, const ChannelId& channel,
                                        std::string_view text, const Manner& manner) {
  const auto found = said_.find(place);
  if (found != said_.end()) {
    const Said& said = found->second;
    if (said.streamed && manner.loose && !said.changed) return TextStep{.text = std::string(text)};
    if (said.streamed || text == (said.changed ? said.source : said.sent)) {
      return TextStep{.text = said.sent, .changed = said.sent != text};
    }
  }
  if (text.empty()) return TextStep{};
  if (manner.streams && found == said_.end()) {
    SALLYPORT_TRY(TextStep step, push(place, channel, text));
    if (!step.block) {
      SALLYPORT_TRY(TextStep rest, finish(place));
      step.text += rest.text;
      step.block = std::move(rest.block);
    }
    step.changed = step.text != text;
    return step;
  }
  SALLYPORT_CHECK_OK(keep(text.size()));
  Said said{.channel = channel, .closed = true};
  feed(said, channel, text);
  core::PassedText passed = door_.whole(channel, text);
  if (manner.fixed && passed.changed()) {
    return TextStep{.changed = true, .block = block_instead(passed)};
  }
  absorb(said, passed);
  if (said.changed) said.source = text;
  TextStep step{.text = said.sent, .changed = said.sent != text, .block = std::move(passed.block)};
  said_[place] = std::move(said);
  return step;
}

void ResponsesTexts::add(const TextPlace& place, std::string_view text) {
  Said& said = said_[place];
  said.sent += text;
  said.streamed = true;
  said.changed = true;
  said.closed = true;
}

std::string ResponsesTexts::sent(const TextPlace& place) const {
  const auto found = said_.find(place);
  return found == said_.end() ? std::string() : found->second.sent;
}

bool ResponsesTexts::is_open(const TextPlace& place) const {
  const auto found = said_.find(place);
  return found != said_.end() && found->second.streamed && !found->second.closed;
}

std::vector<TextPlace> ResponsesTexts::open_places() const {
  std::vector<TextPlace> places;
  for (const auto& [place, said] : said_) {
    if (said.streamed && !said.closed) places.push_back(place);
  }
  return places;
}

bool ResponsesTexts::is_decided(const TextPlace& place, std::uint64_t character) const {
  const auto found = said_.find(place);
  return found == said_.end() || found->second.waiting.empty() || character <= found->second.in;
}

std::optional<std::pair<std::uint64_t, std::uint64_t>> ResponsesTexts::mapped(
    const TextPlace& place, std::uint64_t start, std::uint64_t end) const {
  const auto found = said_.find(place);
  if (found == said_.end()) return std::pair(start, end);
  std::uint64_t from = start;
  std::uint64_t until = end;
  for (const Region& region : found->second.regions) {
    if (region.start <= start && end <= region.end && start < region.end) return std::nullopt;
    if (start >= region.end) {
      from = start - region.end + region.out_end;
    } else if (start >= region.start) {
      from = region.out_end;  // it begins inside
    }
    if (end >= region.end) {
      until = end - region.end + region.out_end;
    } else if (end > region.start) {
      until = region.out_start;  // it ends inside
    }
  }
  return std::pair(from, std::max(from, until));
}

}  // namespace sallyport::llm
