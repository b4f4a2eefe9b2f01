#include "llm/responses_texts.h"

#include <algorithm>

#include "base/cut_text.h"
#include "base/try.h"
#include "llm/wire_json.h"

namespace sallyport::llm {

Result<void> ResponsesTexts::keep(std::size_t bytes) {
  kept_ += bytes;
  if (kept_ <= kLimit) return {};
  return fail(ErrorCode::Exhausted, "the texts of the answer are over 16 MiB");
}

void ResponsesTexts::feed(TextState& state, const ChannelId& channel, std::string_view text) {
  state.waiting += text;
  if (!json_format_ || channel.kind != ChannelKind::Text) return;
  if (!state.strings) state.strings.emplace();
  state.strings->feed(text);
}

void ResponsesTexts::absorb(TextState& state, core::PassedText& passed) {
  if (state.strings) state.strings->fit(passed);
  for (const core::TextPiece& piece : passed.pieces) {
    const std::size_t length = std::min<std::size_t>(piece.end - piece.start, state.waiting.size());
    const std::uint64_t in =
        state.in + code_points(std::string_view(state.waiting).substr(0, length));
    const std::uint64_t out = state.out + code_points(piece.text);
    if (piece.replaced) state.regions.push_back({state.in, in, state.out, out});
    state.in = in;
    state.out = out;
    state.waiting.erase(0, length);
    state.sent += piece.text;
  }
  state.changed = state.changed || passed.changed();
}

Result<TextStep> ResponsesTexts::push(const TextPlace& place, const ChannelId& channel,
                                      std::string_view delta) {
  SALLYPORT_CHECK_OK(keep(delta.size()));
  TextState& state = states_[place];
  if (state.closed || (!state.streamed && !state.sent.empty())) {
    return fail(ErrorCode::Corrupt, "a delta follows the end of its text");
  }
  state.channel = channel;
  state.streamed = true;
  feed(state, channel, delta);
  core::PassedText passed = door_.push(channel, delta);
  absorb(state, passed);
  TextStep step{.text = passed.text(), .block = std::move(passed.block)};
  step.changed = step.text != delta;
  return step;
}

Result<TextStep> ResponsesTexts::finish(const TextPlace& place) {
  const auto found = states_.find(place);
  if (found == states_.end() || found->second.closed || !found->second.streamed) return TextStep{};
  TextState& state = found->second;
  state.closed = true;
  core::PassedText passed = door_.finish(state.channel);
  absorb(state, passed);
  TextStep step{.text = passed.text(), .block = std::move(passed.block)};
  step.changed = !step.text.empty();
  return step;
}

Result<TextStep> ResponsesTexts::repeat(const TextPlace& place, const ChannelId& channel,
                                        std::string_view text, const Manner& manner) {
  const auto found = states_.find(place);
  if (found != states_.end()) {
    const TextState& state = found->second;
    if (state.streamed && manner.loose && !state.changed) {
      return TextStep{.text = std::string(text)};
    }
    if (state.streamed || text == (state.changed ? state.source : state.sent)) {
      return TextStep{.text = state.sent, .changed = state.sent != text};
    }
  }
  if (text.empty()) return TextStep{};
  if (manner.streams && found == states_.end()) {
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
  TextState state{.channel = channel, .closed = true};
  feed(state, channel, text);
  core::PassedText passed = door_.whole(channel, text);
  if (manner.fixed && passed.changed()) {
    return TextStep{.changed = true, .block = block_instead(passed)};
  }
  absorb(state, passed);
  if (state.changed) state.source = text;
  TextStep step{
      .text = state.sent, .changed = state.sent != text, .block = std::move(passed.block)};
  states_[place] = std::move(state);
  return step;
}

void ResponsesTexts::add(const TextPlace& place, std::string_view text) {
  TextState& state = states_[place];
  state.sent += text;
  state.streamed = true;
  state.changed = true;
  state.closed = true;
}

std::string ResponsesTexts::sent(const TextPlace& place) const {
  const auto found = states_.find(place);
  return found == states_.end() ? std::string() : found->second.sent;
}

bool ResponsesTexts::is_open(const TextPlace& place) const {
  const auto found = states_.find(place);
  return found != states_.end() && found->second.streamed && !found->second.closed;
}

std::vector<TextPlace> ResponsesTexts::open_places() const {
  std::vector<TextPlace> places;
  for (const auto& [place, state] : states_) {
    if (state.streamed && !state.closed) places.push_back(place);
  }
  return places;
}

bool ResponsesTexts::is_decided(const TextPlace& place, std::uint64_t character) const {
  const auto found = states_.find(place);
  return found == states_.end() || found->second.waiting.empty() || character <= found->second.in;
}

std::optional<std::pair<std::uint64_t, std::uint64_t>> ResponsesTexts::mapped(
    const TextPlace& place, std::uint64_t start, std::uint64_t end) const {
  const auto found = states_.find(place);
  if (found == states_.end()) return std::pair(start, end);
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
