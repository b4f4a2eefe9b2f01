#include "llm/wire_json.h"

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
#include <cmath>

namespace sallyport::llm {

namespace {

// The code unit of an escape `\uXXXX` at `at`.
std::optional<unsigned> unit_at(std::string_view text, std::size_t at) {
  if (at + 6 > text.size() || text[at] != '\\' || text[at + 1] != 'u') return std::nullopt;
  unsigned unit = 0;
  const char* const end = text.data() + at + 6;
  const auto read = std::from_chars(text.data() + at + 2, end, unit, 16);
  if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
  return unit;
}

bool is_high(unsigned unit) {
  return unit >= 0xd800 && unit < 0xdc00;
}

bool is_low(unsigned unit) {
  return unit >= 0xdc00 && unit < 0xe000;
}

// Empty: the text has no lone surrogate.
std::string without_lone_surrogates(std::string_view text) {
  std::string changed;
  for (std::size_t at = text.find('\\'); at != std::string_view::npos; at = text.find('\\', at)) {
    const std::optional<unsigned> unit = unit_at(text, at);
    if (!unit) {
      at += 2;
      continue;
    }
    const std::optional<unsigned> next = is_high(*unit) ? unit_at(text, at + 6) : std::nullopt;
    if (next && is_low(*next)) {
      at += 12;
      continue;
    }
    if (is_high(*unit) || is_low(*unit)) {
      if (changed.empty()) changed = text;
      changed.replace(at, 6, "\\ufffd");
    }
    at += 6;
  }
  return changed;
}

class LeafWalk {
 public:
  LeafWalk(MessageDoor& door, const ChannelId& channel, Leaves leaves, CheckedLeaves& checked)
      : door_(door), channel_(channel), leaves_(leaves), checked_(checked) {}

  void look(const json::value& value, const std::string& pointer) {
    if (checked_.block) return;
    if (const json::string* const text = value.if_string()) return look_at_text(*text, pointer);
    if (const json::array* const array = value.if_array()) {
      for (std::size_t i = 0; i < array->size(); ++i) look((*array)[i], pointer_to(pointer, i));
    }
    if (const json::object* const object = value.if_object()) {
      for (const auto& member : *object) {
        if (is_looked_at(member.key(), *object)) {
          look(member.value(), pointer_to(pointer, std::string_view(member.key())));
        }
      }
    }
  }

 private:
  bool is_looked_at(std::string_view name, const json::object& parent) const {
    if (leaves_ == Leaves::Payload) return true;
    if (is_opaque(name, parent)) return false;
    return leaves_ == Leaves::Unknown || (name != "type" && name != "id" && !name.ends_with("_id"));
  }

  void look_at_text(std::string_view text, const std::string& pointer) {
    core::PassedText passed = door_.whole(channel_, text);
    if (passed.block) {
      checked_.block = std::move(passed.block);
    } else if (passed.changed() && leaves_ == Leaves::Unknown) {
      checked_.block = block_instead(passed);
    } else if (passed.changed()) {
      checked_.edits.replace(pointer, json_string(passed.text()));
    }
  }

  MessageDoor& door_;
  const ChannelId& channel_;
  Leaves leaves_;
  CheckedLeaves& checked_;
};

}  // namespace

Result<ParsedJson> read_wire_json(std::string_view text, const JsonLimits& limits) {
  const std::string changed = without_lone_surrogates(text);
  return parse_json(changed.empty() ? text : changed, limits);
}

const json::value* member_of(const json::value& object, std::string_view name) {
  const json::object* const members = object.if_object();
  return members == nullptr ? nullptr : members->if_contains(name);
}

const json::object* object_in(const json::value& object, std::string_view name) {
  const json::value* const member = member_of(object, name);
  return member == nullptr ? nullptr : member->if_object();
}

const json::array* array_in(const json::value& object, std::string_view name) {
  const json::value* const member = member_of(object, name);
  return member == nullptr ? nullptr : member->if_array();
}

std::string_view text_in(const json::value& object, std::string_view name) {
  const json::value* const member = member_of(object, name);
  const json::string* const text = member == nullptr ? nullptr : member->if_string();
  return text == nullptr ? std::string_view() : std::string_view(*text);
}

std::optional<std::uint64_t> count_in(const json::value& object, std::string_view name) {
  const json::value* const member = member_of(object, name);
  if (member == nullptr) return std::nullopt;
  if (const auto* const whole = member->if_uint64()) return std::min(*whole, kMostCount);
  if (const auto* const number = member->if_int64()) {
    if (*number < 0) return std::nullopt;
    return std::min(static_cast<std::uint64_t>(*number), kMostCount);
  }
  const double* const real = member->if_double();
  if (real == nullptr || *real < 0 || *real != std::floor(*real)) return std::nullopt;
  return static_cast<std::uint64_t>(std::min(*real, static_cast<double>(kMostCount)));
}

void collect_ids(const json::value& value, std::string_view member, std::vector<std::string>& ids) {
  constexpr std::size_t kMostIds = 256;
  if (const json::array* const list = value.if_array()) {
    for (const json::value& element : *list) collect_ids(element, member, ids);
  }
  const json::object* const members = value.if_object();
  if (members == nullptr) return;
  const std::string_view id = text_in(value, member);
  if (!id.empty() && ids.size() < kMostIds && std::ranges::find(ids, id) == ids.end()) {
    ids.emplace_back(id);
  }
  for (const auto& [name, inner] : *members) collect_ids(inner, member, ids);
}

void set_member(Splice& edits, const json::value& object, const std::string& pointer,
                std::string_view name, const std::string& json) {
  if (member_of(object, name) != nullptr) {
    edits.replace(pointer_to(pointer, name), json);
  } else {
    edits.append(pointer, json_string(name) + ":" + json);
  }
}

bool is_opaque(std::string_view name, const json::object& parent) {
  if (name == "signature" || name == "fingerprint" || name.starts_with("encrypted_")) return true;
  if (name != "data") return false;
  const json::value* const type = parent.if_contains("type");
  return type != nullptr && (*type == "redacted_thinking" || *type == "base64");
}

CheckedLeaves check_leaves(MessageDoor& door, const ChannelId& channel, const json::value& value,
                           const std::string& pointer, Leaves leaves) {
  CheckedLeaves checked;
  LeafWalk(door, channel, leaves, checked).look(value, pointer);
  return checked;
}

core::TextBlock block_instead(const core::PassedText& passed) {
  if (passed.block) return *passed.block;
  core::TextBlock block{.reason = "a redaction would change what cannot be changed in place"};
  for (const core::TextPiece& piece : passed.pieces) {
    if (piece.replaced && block.notice.empty()) block.notice = piece.text;
  }
  if (!passed.findings.empty()) {
    const json::value finding(passed.findings.front().body);
    block.check = text_in(finding, "check");
    block.reason_code = text_in(finding, "reason_code");
  }
  return block;
}

}  // namespace sallyport::llm
