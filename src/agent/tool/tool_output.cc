#include "agent/tool/tool_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/cut_text.h"
#include "base/json_members.h"
#include "base/visible_text.h"

namespace sallyport::agent {

namespace {

constexpr std::size_t kNoteRoom = 512;  // bytes that are kept free for the last line

}  // namespace

bool BoundedLines::add(std::string_view line) {
  const std::size_t room = kMostBytes - kNoteRoom;
  if (full_ || lines_ + 1 >= kMostLines || text_.size() + line.size() + 1 > room) {
    if (!full_ && lines_ == 0) {
      text_ = cut_utf8_bytes(line, room - 1) + "\n";
      lines_ = 1;
      full_ = true;
      return true;
    }
    full_ = true;
    ++left_out_;
    return false;
  }
  text_ += line;
  text_ += '\n';
  ++lines_;
  return true;
}

std::string BoundedLines::text(std::string_view note) && {
  if (!note.empty()) {
    text_ += cut_utf8_bytes(note, kNoteRoom - 1);
  } else if (!text_.empty()) {
    text_.pop_back();
  }
  return std::move(text_);
}

std::string cut_with_hint(std::string_view text, std::string_view hint, std::size_t most_bytes,
                          std::size_t most_lines) {
  const auto newlines = static_cast<std::size_t>(std::ranges::count(text, '\n'));
  if (text.size() <= most_bytes && newlines < most_lines) return std::string(text);
  std::string kept = cut_utf8_bytes(text, most_bytes - kNoteRoom);
  std::size_t lines = 0;
  for (std::size_t at = 0; (at = kept.find('\n', at)) != std::string::npos; ++at) {
    if (++lines < most_lines - 1) continue;
    kept.resize(at);
    break;
  }
  const std::size_t left = text.size() - kept.size();
  if (!kept.ends_with('\n')) kept += '\n';
  return kept + fmt::format("[{} bytes left out; {}]", left, hint);
}

std::string text_from(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    const std::size_t length = decode_utf8(bytes).length;
    text += length == 0 ? std::string_view("\xef\xbf\xbd") : bytes.substr(0, length);
    bytes.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return text;
}

Envelope text_and_data(bool success, std::string text, json::object data) {
  if (success) {
    return Envelope::of(json::object{{"output", std::move(text)}, {"data", std::move(data)}});
  }
  Envelope envelope = Envelope::error(std::move(text));
  envelope.data = std::move(data);
  return envelope;
}

ToolResult result_with_data(const Envelope& released) {
  const json::object* const value =
      released.kind == Envelope::Kind::Value ? released.value.if_object() : nullptr;
  const auto output = value ? text_in(*value, "output") : std::nullopt;
  const json::object* const data = value ? object_in(*value, "data") : nullptr;
  if (!output || data == nullptr || value->size() != 2) return released.to_result();
  return {.success = true, .output = std::string(*output), .data = *data};
}

}  // namespace sallyport::agent
