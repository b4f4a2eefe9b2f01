#include "core/approval/hidden_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/json_members.h"
#include "core/plan/command_names.h"

namespace sallyport::core {

namespace {

constexpr std::size_t kMostParts = 64;

bool runs_programs(const Classification& tool) {
  return tool.effect_class.starts_with("process.");
}

// True if a member of the path names a command. No such name has escapes of JSON Pointer.
bool in_command(std::string_view path) {
  while (!path.empty()) {
    path.remove_prefix(1);
    const std::string_view name = path.substr(0, path.find('/'));
    if (is_command_name(name)) return true;
    path.remove_prefix(name.size());
  }
  return false;
}

HiddenPart part_of(const Removal& removal, bool runs) {
  return {.path = removal.path,
          .detector = removal.detector.empty() ? removal.category : removal.detector,
          .bytes = removal.removed.size(),
          .of = std::max<std::uint64_t>(removal.of, removal.removed.size()),
          .at = removal.at,
          .command = runs || in_command(removal.path)};
}

// The rest of a long list as one.
void fold_rest(std::vector<HiddenPart>& parts) {
  if (parts.size() <= kMostParts) return;
  HiddenPart rest{.detector = fmt::format("{} more", parts.size() - kMostParts + 1)};
  for (std::size_t i = kMostParts - 1; i < parts.size(); ++i) {
    rest.bytes += parts[i].bytes;
    rest.of += parts[i].of;
    rest.command = rest.command || parts[i].command;
  }
  parts.resize(kMostParts - 1);
  parts.push_back(std::move(rest));
}

}  // namespace

std::string HiddenPart::text() const {
  const std::string place = path.empty() ? "input" : path.substr(1);
  const std::string byte = at ? fmt::format(" at byte {}", *at) : std::string();
  return fmt::format("`{}`: {} of {} bytes hidden{} ({})", place, bytes, of, byte, detector);
}

std::vector<HiddenPart> hidden_parts(const Redactor& redactor, const json::value& input,
                                     const Classification& tool) {
  std::vector<Removal> removals;
  try {
    json::value copy = input;
    removals = redactor.redact("input", copy);
  } catch (const std::exception&) {
    const std::string text = json::serialize(input);
    removals = {{.path = "", .category = "unreadable", .removed = text, .of = text.size()}};
  }
  std::vector<HiddenPart> parts;
  parts.reserve(removals.size());
  for (const Removal& removal : removals) parts.push_back(part_of(removal, runs_programs(tool)));
  fold_rest(parts);
  return parts;
}

json::array hidden_json(const std::vector<HiddenPart>& parts) {
  json::array all;
  for (const HiddenPart& part : parts) {
    json::object object{{"path", part.path},
                        {"detector", part.detector},
                        {"bytes", part.bytes},
                        {"of", part.of},
                        {"command", part.command}};
    if (part.at) object["at"] = *part.at;
    all.push_back(std::move(object));
  }
  return all;
}

std::vector<HiddenPart> hidden_in(const json::value* stored) {
  std::vector<HiddenPart> parts;
  if (stored == nullptr || !stored->is_array()) return parts;
  for (const json::value& value : stored->get_array()) {
    const json::object* const object = value.if_object();
    if (object == nullptr) continue;
    parts.push_back({.path = text_or_empty(*object, "path"),
                     .detector = text_or_empty(*object, "detector"),
                     .bytes = number_in(*object, "bytes").value_or(0),
                     .of = number_in(*object, "of").value_or(0),
                     .at = number_in(*object, "at"),
                     .command = bool_in(*object, "command").value_or(false)});
  }
  return parts;
}

bool may_hold_command(const json::value& input, const Classification& tool) {
  if (runs_programs(tool)) return true;
  const json::object* const object = input.if_object();
  return object != nullptr && std::ranges::any_of(*object, [](const auto& member) {
           return is_command_name(member.key());
         });
}

bool any_command(const std::vector<HiddenPart>& parts) {
  return std::ranges::any_of(parts, &HiddenPart::command);
}

std::vector<Finding> redacted_commands(const std::vector<HiddenPart>& parts) {
  std::vector<Finding> findings;
  for (const HiddenPart& part : parts) {
    if (!part.command) continue;
    findings.push_back({.body = {{"check", "redacted_command"},
                                 {"action", "log"},
                                 {"path", part.path},
                                 {"detector", part.detector},
                                 {"bytes", part.bytes},
                                 {"of", part.of},
                                 {"at", part.at ? json::value(*part.at) : json::value()}}});
  }
  return findings;
}

}  // namespace sallyport::core
