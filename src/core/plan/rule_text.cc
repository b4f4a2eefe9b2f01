#include "core/plan/rule_text.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/visible_text.h"

namespace sallyport::core {

namespace {

constexpr std::size_t kMostEffects = 64;

std::string shown(std::string_view text) {
  return with_lookalikes(visible(text));
}

// Both forms of a path: as written, and as resolved on the disk.
std::string path_text(const json::value& path) {
  const json::object* const object = path.if_object();
  if (object == nullptr || object->contains("unknown")) return "a path that is not known";
  const std::string written = text_or_empty(*object, "written");
  const auto resolved = text_in(*object, "resolved");
  std::string text = fmt::format("`{}`", shown(written));
  if (!resolved) {
    text += ", not resolved";
  } else {
    text += fmt::format(", resolved `{}`", shown(*resolved));
  }
  return text;
}

std::string effect_text(const json::object& effect) {
  std::string text = shown(text_or_empty(effect, "class"));
  if (const json::value* const path = effect.if_contains("path")) text += " " + path_text(*path);
  if (const json::value* const host = effect.if_contains("host")) {
    text += host->is_string() ? fmt::format(" host `{}`", shown(host->get_string()))
                              : " a host that is not known";
  }
  if (bool_in(effect, "recursive").value_or(false)) text += ", recursively";
  if (bool_in(effect, "opaque").value_or(false)) text += ", opaque";
  if (const auto command = text_in(effect, "command")) {
    text += fmt::format(", by `{}`", shown(*command));
  }
  return text;
}

const json::array& list_in(const json::object& object, std::string_view name) {
  static const json::array kNone;
  const json::value* const list = object.if_contains(name);
  return list && list->is_array() ? list->get_array() : kNone;
}

}  // namespace

std::vector<RuleLine> rule_lines(const json::object& rules) {
  std::vector<RuleLine> lines;
  if (const auto rule = text_in(rules, "rule")) {
    lines.push_back(
        {"rule", fmt::format("`{}` at {}", shown(*rule), shown(text_or_empty(rules, "place")))});
  }
  if (const auto message = text_in(rules, "message"); message && !message->empty()) {
    lines.push_back({"message", shown(*message)});
  }
  const json::array& effects = list_in(rules, "effects");
  for (std::size_t i = 0; i < std::min(effects.size(), kMostEffects); ++i) {
    const json::object* const effect = effects[i].if_object();
    if (effect) lines.push_back({"effect", effect_text(*effect)});
  }
  if (effects.size() > kMostEffects) {
    lines.push_back({"effect", fmt::format("and {} more", effects.size() - kMostEffects)});
  }
  for (const json::value& span : list_in(rules, "opaque")) {
    const json::object* const members = span.if_object();
    if (members == nullptr) continue;
    lines.push_back({"opaque", fmt::format("bytes {} to {} of the command: {}",
                                           number_in(*members, "start").value_or(0),
                                           number_in(*members, "end").value_or(0),
                                           shown(text_or_empty(*members, "reason")))});
  }
  return lines;
}

json::object rules_in(const json::object* body) {
  const json::object* const rules = body ? object_in(*body, "rules") : nullptr;
  return rules ? *rules : json::object();
}

}  // namespace sallyport::core
